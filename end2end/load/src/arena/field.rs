//! A project with a commit, in which one battle is fought after the other.

use std::{path::Path, process::Command, time::Duration};

use anyhow::{Context as _, Result, bail};
use domain::id::{BattleId, SessionId};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use uuid::Uuid;

use crate::{
    boocode::{Browser, Home, PATIENCE},
    chaos::dice::Dice,
};

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// With a kill a second nobody would ever come to the end of a long one.
const NUMBERS_MAX: u64 = 40;
const STOP_AFTER_MAX_MS: u64 = 1_500;

pub struct Field {
    session: SessionId,
    /// Whether an agent's own program takes part now and then.
    has_agents: bool,
}

/// A battle that was launched, and what is due of it.
pub struct Asked {
    pub id: BattleId,
    pub prompt: String,
    pub due: Due,
    /// Whether the results are to be compared.
    pub is_judged: bool,
    /// Whether something of it was stopped: then some have no result.
    pub is_stopped: bool,
    /// How often each contestant is to have been tried.
    pub tries: Vec<usize>,
}

pub enum Due {
    /// Each contestant says the numbers up to this one.
    Numbers(u64),
    /// Each contestant adds this line, once.
    Line(String),
}

impl Field {
    pub async fn new(home: &Home, browser: &Browser) -> Result<Self> {
        let path = home.folder().join(Uuid::now_v7().to_string());
        git(&path, &["init", "--quiet"])?;
        std::fs::write(path.join("main.txt"), "one\n")?;
        git(&path, &["add", "."])?;
        git(
            &path,
            &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--message", "first"],
        )?;
        browser.call("add_project", &[("path", path.to_string_lossy().into_owned())]).await?;
        let sessions = browser.snapshot(None).await?.state.workspace.sessions;
        let newest = sessions.iter().map(|session| session.id).max().context("the project has no session")?;
        Ok(Self { session: newest, has_agents: home.has_agents() })
    }

    /// One battle after the other until it is told to stop. The last is fought to its end.
    pub async fn fight(
        self,
        browser: Browser,
        number: u64,
        mut dice: Dice,
        stopping: watch::Receiver<bool>,
    ) -> Result<Vec<Asked>> {
        let mut launched = Vec::new();
        while !*stopping.borrow() {
            let (mut asked, body) = self.battle(format!("f{number}b{}", launched.len()), &mut dice);
            launch(&browser, &body).await?;
            asked.interfere(&browser, &mut dice).await?;
            asked.until_over(&browser).await;
            if dice.below(3) == 0 {
                asked.retry(&browser, &mut dice).await?;
                asked.until_over(&browser).await;
            }
            launched.push(asked);
        }
        Ok(launched)
    }

    fn battle(&self, name: String, dice: &mut Dice) -> (Asked, Value) {
        let id = BattleId(Uuid::now_v7());
        let is_judged = dice.below(2) == 0;
        let (kind, prompt, due, contestants) = if dice.below(2) == 0 {
            let numbers = 5 + dice.below(NUMBERS_MAX);
            let prompt = format!("{name} [[count {numbers}]]");
            let three = vec![("", "narrow/small"), ("", "narrow/large"), ("", "wide/small")];
            ("qa", prompt, Due::Numbers(numbers), three)
        } else {
            // Whoever makes the same is not compared.
            let prompt = format!("{name} [[shell echo {name} >> made.txt; date +%N > own.txt]][[say done]]");
            let agent = if self.has_agents && dice.below(3) == 0 { "goose" } else { "native" };
            ("coding", prompt, Due::Line(name), vec![(agent, "narrow/small"), ("native", "wide/small")])
        };
        let mut body = self.body(id, kind, &prompt, &contestants);
        if kind == "coding" {
            body["check"] = json!("grep -q . made.txt");
        }
        if is_judged {
            body["judge"] = json!("wide/judge");
        }
        let tries = vec![1; contestants.len()];
        (Asked { id, prompt, due, is_judged, is_stopped: false, tries }, body)
    }

    pub fn body(&self, id: BattleId, kind: &str, prompt: &str, contestants: &[(&str, &str)]) -> Value {
        let line = |(identity, model): &(&str, &str)| json!({"identity": identity, "model": model});
        json!({
            "id": id,
            "session": self.session,
            "type": kind,
            "prompt": prompt,
            "contestants": contestants.iter().map(line).collect::<Vec<_>>(),
            "judge": "none",
        })
    }
}

impl Asked {
    /// A person stops a battle in its middle now and then, or one of those who take part.
    async fn interfere(&mut self, browser: &Browser, dice: &mut Dice) -> Result<()> {
        let what = dice.below(6);
        let (wait, place) = (dice.below(STOP_AFTER_MAX_MS), dice.below(self.tries.len() as u64) as usize);
        if what > 1 {
            return Ok(());
        }
        sleep(Duration::from_millis(wait)).await;
        self.is_stopped = true;
        let is_over = move |battle: &Value| {
            let status = battle["contestants"][place]["status"].as_str().unwrap_or_default();
            let contestant_is = matches!(status, "done" | "failed" | "cancelled" | "void");
            match what {
                0 => !battle["stopped"].is_null() || has_ended(battle),
                _ => contestant_is || has_ended(battle),
            }
        };
        let path = move |battle: &Value| match what {
            0 => "stop".to_owned(),
            _ => format!(
                "contestants/{}/stop",
                battle["contestants"][place]["id"].as_str().unwrap_or_default()
            ),
        };
        self.once(browser, path, is_over).await
    }

    /// One of them is tried again.
    async fn retry(&mut self, browser: &Browser, dice: &mut Dice) -> Result<()> {
        let place = dice.below(self.tries.len() as u64) as usize;
        let due = self.tries[place] + 1;
        let is_there = move |battle: &Value| {
            battle["contestants"][place]["tries"].as_array().is_some_and(|tries| tries.len() >= due)
        };
        let path = move |battle: &Value| {
            format!("contestants/{}/retry", battle["contestants"][place]["id"].as_str().unwrap_or_default())
        };
        self.once(browser, path, is_there).await?;
        self.tries[place] = due;
        Ok(())
    }

    /// Asks for it until it is so. An answer may be lost with the server, so what is so is looked at before asking.
    async fn once(
        &self,
        browser: &Browser,
        path: impl Fn(&Value) -> String,
        is_so: impl Fn(&Value) -> bool,
    ) -> Result<()> {
        let began = Instant::now();
        loop {
            if let Ok(battle) = browser.script(&format!("/api/battles/{}", self.id), None).await {
                if is_so(&battle) {
                    return Ok(());
                }
                // What is refused because it came too late is seen at the next look.
                let _ = browser
                    .script(&format!("/api/battles/{}/{}", self.id, path(&battle)), Some(&json!({})))
                    .await;
            }
            if began.elapsed() > 3 * PATIENCE {
                bail!("{}: what was asked for never came to be", self.prompt);
            }
            sleep(LOOK_EVERY).await;
        }
    }

    async fn until_over(&self, browser: &Browser) {
        while !is_over(browser, self.id).await {
            sleep(LOOK_EVERY).await;
        }
    }
}

/// Asks, and again while the server is not able to answer: the same battle, so it is launched once.
pub async fn launch(browser: &Browser, body: &Value) -> Result<()> {
    let began = Instant::now();
    loop {
        match browser.script("/api/battles", Some(body)).await {
            Ok(_) => return Ok(()),
            Err(error) if began.elapsed() > PATIENCE => return Err(error),
            Err(_) => sleep(LOOK_EVERY).await,
        }
    }
}

pub async fn is_over(browser: &Browser, id: BattleId) -> bool {
    let battle = browser.script(&format!("/api/battles/{id}"), None).await;
    battle.is_ok_and(|battle| has_ended(&battle))
}

fn has_ended(battle: &Value) -> bool {
    matches!(battle["status"].as_str(), Some("completed" | "cancelled"))
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let done = Command::new("git").arg("-C").arg(folder).args(arguments).status()?;
    if !done.success() {
        bail!("git {}: {done}", arguments.join(" "));
    }
    Ok(())
}

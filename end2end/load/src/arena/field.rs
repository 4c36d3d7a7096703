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

pub struct Field {
    session: SessionId,
}

/// A battle that was launched, and what is due of it.
pub struct Asked {
    pub id: BattleId,
    pub prompt: String,
    pub due: Due,
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
        Ok(Self { session: newest })
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
            let (asked, body) = self.battle(format!("f{number}b{}", launched.len()), &mut dice);
            launch(&browser, &body).await?;
            while !is_over(&browser, asked.id).await {
                sleep(LOOK_EVERY).await;
            }
            launched.push(asked);
        }
        Ok(launched)
    }

    fn battle(&self, name: String, dice: &mut Dice) -> (Asked, Value) {
        let id = BattleId(Uuid::now_v7());
        if dice.below(2) == 0 {
            let numbers = 5 + dice.below(NUMBERS_MAX);
            let prompt = format!("{name} [[count {numbers}]]");
            let body = self.body(
                id,
                "qa",
                &prompt,
                &[("", "narrow/small"), ("", "narrow/large"), ("", "wide/small")],
            );
            (Asked { id, prompt, due: Due::Numbers(numbers) }, body)
        } else {
            let prompt = format!("{name} [[shell echo {name} >> made.txt]][[say done]]");
            let mut body =
                self.body(id, "coding", &prompt, &[("native", "narrow/small"), ("native", "wide/small")]);
            body["check"] = json!("grep -q . made.txt");
            (Asked { id, prompt, due: Due::Line(name) }, body)
        }
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
    let battle = browser.script(&format!("/api/battles/{id}"), None).await.unwrap_or_default();
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

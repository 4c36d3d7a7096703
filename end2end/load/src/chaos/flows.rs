//! Runs go on while the server, its Postgres or both are killed again and again. At the end every run that was launched
//! is over and has its report, no step was done by two tasks, and nobody is left behind.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use domain::id::{RunId, SessionId};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};
use uuid::Uuid;

use super::{SETTLE_LIMIT, dice::Dice, orphans, strikes};
use crate::{
    Goal, Programs,
    boocode::{Browser, Home, ModelServer, PATIENCE, RETRY_EVERY},
    part::Part,
};

/// So many are under way at a time.
const SIDE_BY_SIDE: u64 = 3;
/// In turn, because each run has a tab of its own, and a session does not hold many.
const SESSIONS: usize = 12;
const FLOWS: [&str; 4] = ["code-review", "investigate", "research", "gap-analysis"];

pub async fn run(programs: &Programs, kills: u32, seed: u64) -> Result<Vec<Goal>> {
    let began = Instant::now();
    let model = Part::start(&["model"]).await?;
    let server = ModelServer { name: "wide", url: model.url.clone(), parallel: 6 };
    let mut home = Home::new(programs, &[server])?;
    home.set("FLOW_BACKEND", "native");
    home.set("FLOW_MODEL", "wide/analyst");
    let outcome = trial(&home, kills, seed).await.and_then(|verdict| {
        println!("{kills} kills · {} · {} s", verdict.summary(), began.elapsed().as_secs());
        if verdict.faults.is_empty() { Ok(Vec::new()) } else { bail!(verdict.faults.join("\n")) }
    });
    home.explain(outcome)
}

#[derive(Default)]
struct Verdict {
    runs: usize,
    /// Those in which a step was lost as often as it may be.
    given_up: usize,
    repeated: u64,
    faults: Vec<String>,
}

impl Verdict {
    fn summary(&self) -> String {
        let Self { runs, given_up, repeated, faults } = self;
        format!("{runs} runs, {repeated} attempts repeated, {given_up} given up, {} faults", faults.len())
    }

    /// Of what was always lost nothing is known.
    fn look_back(&mut self) {
        if self.given_up == self.runs {
            self.faults.push(format!("none of {} runs came to its end", self.runs));
        }
    }

    fn look_at(&mut self, id: RunId, run: &Value, has_report: bool) {
        self.runs += 1;
        let mut fault = |words: String| self.faults.push(format!("run {id}: {words}"));
        let steps = run["steps"].as_array().map_or(&[][..], Vec::as_slice);
        let went_away = |why: &str| why.contains("went away");
        // Nobody answered because everybody who was asked was lost too often.
        let all_lost = || {
            let mut failed = steps.iter().filter(|step| step["status"] == "failed").peekable();
            failed.peek().is_some() && failed.all(|step| step["reason"].as_str().is_some_and(went_away))
        };
        match (run["status"].as_str(), run["error"].as_str()) {
            (Some("done"), _) => {}
            (Some("failed"), Some(why)) if went_away(why) => self.given_up += 1,
            (Some("failed"), Some(why)) if why.contains("nobody answered") && all_lost() => {
                self.given_up += 1
            }
            (status, why) => fault(format!("is {status:?}: {why:?}")),
        }
        if !has_report {
            fault("has no report".to_owned());
        }
        let mut tasks = BTreeSet::new();
        for step in steps {
            let attempts = step["attempts"].as_u64().unwrap_or_default();
            self.repeated += attempts.saturating_sub(1);
            let task = step["stream"].as_str().and_then(|stream| stream.split('.').next());
            if task.is_some_and(|task| !tasks.insert(task.to_owned())) {
                self.faults.push(format!("run {id}: {} shares its task", step["id"]));
            }
        }
    }
}

async fn trial(home: &Home, kills: u32, seed: u64) -> Result<Verdict> {
    let (server, browser) = home.start().await?;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(home.new_project(&browser).await?);
    }
    let (stop, stopping) = watch::channel(false);
    let launching: Vec<_> = (0..SIDE_BY_SIDE)
        .map(|number| {
            let dice = Dice::new(seed + 1 + number);
            tokio::spawn(keep_launching(browser.clone(), sessions.clone(), dice, stopping.clone()))
        })
        .collect();
    let server = strikes::run(home, server, kills, &mut Dice::new(seed)).await?;
    stop.send_replace(true);
    let mut verdict = Verdict::default();
    for launched in launching {
        for id in timeout(SETTLE_LIMIT, launched).await.context("the runs do not come to rest")??? {
            let run = browser.script(&format!("/api/runs/{id}"), None).await?;
            let has_report = browser.script(&format!("/api/runs/{id}/report"), None).await.is_ok();
            verdict.look_at(id, &run, has_report);
        }
    }
    verdict.look_back();
    server.stop().await?;
    verdict.faults.extend(orphans(home).await.into_iter().map(|left| format!("left behind: {left}")));
    Ok(verdict)
}

/// One after the other, each until it is over.
async fn keep_launching(
    browser: Browser,
    sessions: Vec<SessionId>,
    mut dice: Dice,
    stopping: watch::Receiver<bool>,
) -> Result<Vec<RunId>> {
    let mut launched = Vec::new();
    while !*stopping.borrow() {
        let id = RunId(Uuid::now_v7());
        let flow = FLOWS[dice.below(FLOWS.len() as u64) as usize];
        let session = sessions[launched.len() % sessions.len()];
        let run = json!({"id": id, "session": session, "flow": flow, "focus": "Why? [[finding a.txt:1 a]]"});
        insist(&browser, "/api/runs", Some(&run), |_| true).await?;
        launched.push(id);
        let is_over = |run: &Value| matches!(run["status"].as_str(), Some("done" | "failed" | "cancelled"));
        insist(&browser, &format!("/api/runs/{id}"), None, is_over).await?;
    }
    Ok(launched)
}

/// Asks, and again while the server is not able to answer: the same question, so it counts once.
async fn insist(
    browser: &Browser,
    path: &str,
    body: Option<&Value>,
    fits: impl Fn(&Value) -> bool,
) -> Result<()> {
    let mut answered = Instant::now();
    loop {
        match browser.script(path, body).await {
            Ok(answer) if fits(&answer) => return Ok(()),
            Ok(_) => answered = Instant::now(),
            Err(error) if answered.elapsed() > 3 * PATIENCE => return Err(error),
            Err(_) => {}
        }
        sleep(5 * RETRY_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The judge of this chaos, with faults made by hand.
    #[test]
    fn what_is_wrong_is_found() {
        let check = |run: Value, has_report: bool, faults: usize| {
            let mut verdict = Verdict::default();
            verdict.look_at(RunId(Uuid::nil()), &run, has_report);
            assert_eq!(verdict.faults.len(), faults, "{run}: {:?}", verdict.faults);
        };
        let step = |stream: &str| json!({"id": "a", "attempts": 2, "stream": stream});
        check(json!({"status": "done", "steps": [step("x.1"), step("y.2")]}), true, 0);
        check(json!({"status": "done", "steps": [step("x.1"), step("x.2")]}), true, 1);
        check(json!({"status": "running", "steps": []}), false, 2);
        check(json!({"status": "failed", "error": "Gate failed: no", "steps": []}), true, 1);
        let gone = "Gate failed: whoever carried it out, or the database, went away each time";
        check(json!({"status": "failed", "error": gone, "steps": []}), true, 0);
        let failed = |reason: &str| json!({"id": "a", "status": "failed", "reason": reason, "attempts": 3});
        let nobody = |reason: &str| {
            let steps =
                [failed("whoever carried it out, or the database, went away each time"), failed(reason)];
            json!({"status": "failed", "error": "Gate was skipped: nobody answered", "steps": steps})
        };
        check(nobody("whoever carried it out, or the database, went away each time"), true, 0);
        check(nobody("the model said no"), true, 1);
        let silent = json!({"status": "failed", "error": "Gate was skipped: nobody answered", "steps": []});
        check(silent, true, 1);
    }

    #[test]
    fn a_trial_in_which_nothing_came_to_its_end_shows_nothing() {
        let check = |runs, given_up, faults: usize| {
            let mut verdict = Verdict { runs, given_up, ..Verdict::default() };
            verdict.look_back();
            assert_eq!(verdict.faults.len(), faults, "{given_up} of {runs}: {:?}", verdict.faults);
        };
        check(3, 2, 0);
        check(3, 3, 1);
        check(0, 0, 1);
    }
}

//! Runs go on while the server, its Postgres or both are killed again and again. At the end every run that was launched
//! is over and has its report, no step was asked more often than it was tried, and nobody is left behind.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use domain::{
    flow::Role,
    id::{RunId, SessionId},
};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};
use uuid::Uuid;

use super::{
    SETTLE_LIMIT,
    dice::Dice,
    journal::{Journal, Record},
    orphans, strikes,
};
use crate::{
    Goal, Programs,
    boocode::{Browser, Home, ModelServer, PATIENCE, RETRY_EVERY},
    part::Part,
};

/// So many are under way at a time.
const SIDE_BY_SIDE: u64 = 3;
/// In turn, because each run has a tab of its own, and a session does not hold many.
const SESSIONS: usize = 12;
const ASKED_BY: &str = "Why? This is asked by the run ";
const FLOWS: [&str; 4] = ["code-review", "investigate", "research", "gap-analysis"];

pub async fn run(programs: &Programs, kills: u32, seed: u64) -> Result<Vec<Goal>> {
    let began = Instant::now();
    let model = Part::start(&["model"]).await?;
    let server = ModelServer { name: "wide", url: model.url.clone(), parallel: 6 };
    let mut home = Home::new(programs, &[server])?;
    home.set("FLOW_BACKEND", "native");
    home.set("FLOW_MODEL", "wide/analyst");
    let outcome = trial(&home, &model.url, kills, seed).await.and_then(|verdict| {
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
    repeated: usize,
    faults: Vec<String>,
    /// By run and role, because that is what a question tells of itself.
    steps: BTreeMap<(RunId, Role), Steps>,
}

/// Those of one role in a run.
#[derive(Clone, Copy, Default)]
struct Steps {
    attempts: usize,
    done: usize,
}

impl Verdict {
    fn summary(&self) -> String {
        let Self { runs, given_up, repeated, faults, .. } = self;
        format!("{runs} runs, {repeated} attempts repeated, {given_up} given up, {} faults", faults.len())
    }

    /// A run is given up once a step without which it fails was lost as often as it may be: three times in a row. Strikes
    /// come every half a second, which is as long as many steps take, so that happens to a third of the runs and more. A
    /// trial in which most went that way shows little.
    fn look_back(&mut self) {
        let Self { runs, given_up, .. } = *self;
        if runs == 0 || 2 * given_up > runs {
            self.faults.push(format!("{given_up} of {runs} runs were given up"));
        }
    }

    /// No step may have been put to a model more often than there are attempts to show for it, and each that is done was
    /// answered to its end.
    fn compare(&mut self, records: &[Record]) -> Result<()> {
        let mut openings = Vec::new();
        for role in Role::ALL {
            openings.push((role, role.instructions()?.prompt));
        }
        let mut requests: BTreeMap<(RunId, Role), (usize, usize)> = BTreeMap::new();
        for record in records {
            let words = &record.last_user_message;
            // All else is no question of a flow.
            let Some((role, _)) = openings.iter().find(|(_, opening)| words.starts_with(opening)) else {
                continue;
            };
            let Some(run) = run_in(words) else {
                self.faults.push(format!("asked for no run: {words}"));
                continue;
            };
            let (count, whole) = requests.entry((run, *role)).or_default();
            *count += 1;
            *whole += usize::from(!record.disconnected);
            if record.finished_unix_ms.is_none() {
                self.faults.push(format!("run {run}: {role} is still being answered"));
            }
        }
        for key in requests.keys().chain(self.steps.keys()).copied().collect::<BTreeSet<_>>() {
            let (run, role) = key;
            let (count, whole) = requests.get(&key).copied().unwrap_or_default();
            let Steps { attempts, done } = self.steps.get(&key).copied().unwrap_or_default();
            if count > attempts {
                self.faults.push(format!("run {run}: {role} was asked {count} times in {attempts} attempts"));
            }
            if whole < done {
                self.faults
                    .push(format!("run {run}: {role} is done {done} times and answered {whole} times"));
            }
        }
        Ok(())
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
        for step in steps {
            let attempts = step["attempts"].as_u64().unwrap_or_default() as usize;
            self.repeated += attempts.saturating_sub(1);
            let role = Role::ALL.into_iter().find(|role| step["role"] == role.name());
            if let Some(role) = role {
                let of = self.steps.entry((id, role)).or_default();
                of.attempts += attempts;
                of.done += usize::from(step["status"] == "done");
            }
        }
    }
}

/// What a run is asked about, with whose question it is.
fn focus(run: RunId) -> String {
    format!("{ASKED_BY}{run} [[finding a.txt:1 a]]")
}

fn run_in(question: &str) -> Option<RunId> {
    let (_, rest) = question.split_once(ASKED_BY)?;
    rest.split_whitespace().next()?.parse().ok().map(RunId)
}

async fn trial(home: &Home, model: &str, kills: u32, seed: u64) -> Result<Verdict> {
    let (server, browser) = home.start().await?;
    let journal = Journal::follow(model.to_owned());
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
    verdict.compare(&journal.close().await?)?;
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
        let run = json!({"id": id, "session": session, "flow": flow, "focus": focus(id)});
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
        check(json!({"status": "done", "steps": []}), true, 0);
        check(json!({"status": "done", "steps": []}), false, 1);
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
    fn what_was_asked_is_held_against_what_was_tried() {
        let id = RunId(Uuid::now_v7());
        let opening = |role: Role| role.instructions().unwrap().prompt;
        let question = |role: Role| format!("{}\n\n# What the person asked\n> {}", opening(role), focus(id));
        let [one, other] = [Role::Investigator, Role::AdversarialValidator];
        let step = |role: Role, attempts: u64, status: &str| json!({"id": "a", "role": role.name(), "attempts": attempts, "status": status});
        let check = |steps: &[Value], asked: &[&str], faults: usize| {
            let mut verdict = Verdict::default();
            verdict.look_at(id, &json!({"status": "done", "steps": steps}), true);
            let records: Vec<_> = asked.iter().zip(0..).map(|(it, at)| Record::answered(at, it)).collect();
            verdict.compare(&records).unwrap();
            assert_eq!(verdict.faults.len(), faults, "{:?}", verdict.faults);
        };
        let (asks, attacks) = (question(one), question(other));
        let done = |attempts| [step(one, attempts, "done")];
        check(&done(1), &[&asks], 0);
        check(&done(2), &[&asks], 0);
        check(&done(2), &[&asks, &asks], 0);
        check(&done(1), &[&asks, &asks], 1);
        check(&done(1), &[], 1);
        check(&done(1), &[&attacks], 2);
        check(&[step(one, 1, "failed")], &[], 0);
        check(&[step(one, 1, "done"), step(one, 1, "done")], &[&asks, &asks], 0);
        check(&done(1), &[&asks, "Name this."], 0);
        check(&done(1), &[&asks, &opening(other)], 1);
    }

    #[test]
    fn a_trial_in_which_most_was_given_up_is_a_fault() {
        let check = |runs, given_up, faults: usize| {
            let mut verdict = Verdict { runs, given_up, ..Verdict::default() };
            verdict.look_back();
            assert_eq!(verdict.faults.len(), faults, "{given_up} of {runs}: {:?}", verdict.faults);
        };
        check(100, 50, 0);
        check(100, 51, 1);
        check(3, 1, 0);
        check(1, 1, 1);
        check(0, 0, 1);
    }
}

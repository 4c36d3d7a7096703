//! What is said about a turn, in words.

use domain::{
    catalogue::Hindrance,
    output::{Measured, Outcome, Phase},
    task::{Status, Task, Work},
};

use super::api::Waiting;
use crate::ui::Tone;

/// What a turn is doing or waiting for, with the look of its dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub tone: Tone,
    pub words: String,
}

/// `now_ms`, and how many tasks are ahead, are known in the browser only. A turn that is done needs no line, unless
/// its answer was cut off; one that failed says so in its own place.
pub fn line(task: &Task, waiting: Waiting, now_ms: Option<i64>) -> Option<Line> {
    let line = |tone, words: String| Some(Line { tone, words });
    match &task.status {
        Status::Queued => {
            let again = if task.lost.is_empty() { "Queued" } else { "Queued again after an interruption" };
            let server = &task.model.server;
            let reason = match waiting {
                Waiting { hindrance: Some(Hindrance::Gone), .. } => format!(
                    ": the model server {server} is no longer configured or found here; stop this turn or \
                     bring it back"
                ),
                Waiting { hindrance: Some(Hindrance::Starting), .. } => {
                    format!(" until the model server {server} is up")
                }
                Waiting { hindrance: None, ahead: 0 } => String::new(),
                Waiting { hindrance: None, ahead } => format!(", {ahead} ahead"),
            };
            line(Tone::Waiting, format!("{again}{reason}"))
        }
        Status::Running { cancelling: true, .. } => line(Tone::Waiting, "Stopping…".into()),
        Status::Running { phase, started_at_ms, .. } => {
            let elapsed = now_ms.map(|now_ms| seconds((now_ms - started_at_ms).max(0) / 1_000));
            let with_elapsed = |words: &str| match &elapsed {
                Some(elapsed) => format!("{words} {elapsed}"),
                None => words.to_owned(),
            };
            match phase {
                Phase::Starting => line(Tone::Running, with_elapsed("Waiting for the first word…")),
                Phase::Loading => {
                    line(Tone::Running, with_elapsed(&format!("Loading model {}…", task.model.model)))
                }
                Phase::Waiting { seconds: wait } => line(
                    Tone::Waiting,
                    format!("The model server asked to wait {}", seconds(i64::from(*wait))),
                ),
                Phase::Generating => line(Tone::Running, with_elapsed(at_work(task))),
                // Whoever only reads has no worktree.
                Phase::Preparing if task.work == Work::Step => {
                    line(Tone::Running, with_elapsed("Getting ready…"))
                }
                Phase::Preparing => line(Tone::Running, with_elapsed("Making the worktree ready…")),
                Phase::Asking(_) => line(Tone::Needed, "Waits for your answer".into()),
            }
        }
        Status::Settled { outcome: Outcome::Cancelled, .. } => line(Tone::Waiting, "Stopped".into()),
        Status::Settled { outcome: Outcome::Done { measured }, .. } => line(Tone::Waiting, measured.cut()?),
        Status::Settled { .. } => None,
    }
}

fn at_work(task: &Task) -> &'static str {
    match task.work {
        Work::CoderTurn | Work::Contestant | Work::Step => "Working…",
        Work::Check => "Checking…",
        Work::ChatTurn | Work::Title | Work::Digest | Work::Judgement | Work::Examination => "Writing…",
    }
}

/// What is worth telling somebody who does not look.
pub fn news(task: &Task) -> Option<&'static str> {
    match &task.status {
        Status::Queued => None,
        Status::Running { .. } => Some("Answer started"),
        Status::Settled { outcome, .. } => Some(match outcome {
            Outcome::Done { measured } if measured.cut_short => "Answer cut off",
            Outcome::Done { .. } => "Answer finished",
            Outcome::Cancelled => "Answer stopped",
            Outcome::Failed { .. } | Outcome::Void { .. } | Outcome::Lost => "Answer failed",
        }),
    }
}

/// Why there is no whole answer, and whether that is the model's doing.
pub fn fault(task: &Task) -> Option<(&'static str, String)> {
    let Status::Settled { outcome, .. } = &task.status else { return None };
    outcome.fault().map(|(title, reason)| (title, reason.to_owned()))
}

/// What was measured; what is not known is left out.
pub fn facts(task: &Task) -> Option<String> {
    let Status::Settled { outcome: Outcome::Done { measured }, .. } = &task.status else { return None };
    let Measured { duration_ms, usage, timings, .. } = measured;
    let mut facts = Vec::new();
    if let Some(timings) = timings.filter(|timings| timings.predicted_per_second > 0.0) {
        facts.push(format!("{} tokens/s", tenths(timings.predicted_per_second)));
    }
    if let Some(tokens) = usage.and_then(|usage| usage.completion_tokens) {
        facts.push(if tokens == 1 { "1 token".to_owned() } else { format!("{tokens} tokens") });
    }
    if *duration_ms > 0 {
        facts.push(if *duration_ms < 10_000 {
            format!("{} s", tenths(*duration_ms as f64 / 1_000.0))
        } else {
            seconds((*duration_ms / 1_000) as i64)
        });
    }
    (!facts.is_empty()).then(|| facts.join(" · "))
}

fn seconds(seconds: i64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

/// One decimal by whole numbers: printing floats would cost the page more bytes than it tells.
fn tenths(value: f64) -> String {
    let tenths = (value * 10.0 + 0.5) as u64;
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use domain::{
        catalogue::ModelRef,
        id::{Attempt, ChatId, TaskId},
        output::{Timings, Usage},
    };
    use uuid::Uuid;

    use super::*;

    fn task(status: Status) -> Task {
        let model = ModelRef { server: "local".into(), model: "small".into() };
        let owner = domain::task::Owner::Chat(ChatId(Uuid::nil()));
        Task { status, ..Task::new(TaskId(Uuid::nil()), owner, Work::ChatTurn, model, 0) }
    }

    fn running(phase: Phase, cancelling: bool) -> Task {
        task(Status::Running { attempt: Attempt(1), phase, cancelling, started_at_ms: 1_000 })
    }

    fn settled(outcome: Outcome) -> Task {
        task(Status::Settled { attempt: Some(Attempt(1)), outcome, stream_len: 0 })
    }

    #[test]
    fn a_turn_says_what_it_waits_for() {
        let queued = |task: &Task, ahead, hindrance, expected: &str| {
            let line = line(task, Waiting { ahead, hindrance }, None);
            assert_eq!(line.map_or(String::new(), |line| line.words), expected);
        };
        let first = task(Status::Queued);
        queued(&first, 0, None, "Queued");
        queued(&first, 2, None, "Queued, 2 ahead");
        queued(&first, 2, Some(Hindrance::Starting), "Queued until the model server local is up");
        let again = Task { lost: vec![(Attempt(1), 3)], ..task(Status::Queued) };
        queued(&again, 1, None, "Queued again after an interruption, 1 ahead");
        queued(
            &again,
            1,
            Some(Hindrance::Gone),
            "Queued again after an interruption: the model server local is no longer configured or found here; \
             stop this turn or bring it back",
        );
        let check = |task: Task, now_ms, expected: &str| {
            let line = line(&task, Waiting::default(), now_ms);
            assert_eq!(line.map_or(String::new(), |line| line.words), expected);
        };
        check(running(Phase::Starting, false), Some(4_000), "Waiting for the first word… 3 s");
        check(running(Phase::Loading, false), Some(66_000), "Loading model small… 1 min 5 s");
        check(running(Phase::Waiting { seconds: 7 }, false), None, "The model server asked to wait 7 s");
        check(running(Phase::Generating, false), None, "Writing…");
        // The browser's clock may be behind the server's.
        check(running(Phase::Generating, false), Some(0), "Writing… 0 s");
        check(running(Phase::Generating, true), Some(9_000), "Stopping…");
        check(settled(Outcome::Cancelled), None, "Stopped");
        check(settled(Outcome::Done { measured: Measured::default() }), None, "");
        let cut = |tokens_max| Outcome::Done {
            measured: Measured { cut_short: true, tokens_max, ..Measured::default() },
        };
        check(settled(cut(Some(512))), None, "Cut off at its limit of 512 tokens");
        check(settled(cut(None)), None, "Cut off: the model is at its own limit, or its context is full");
        let measured = Measured { cut_short: true, out_of_steps: true, ..Measured::default() };
        check(settled(Outcome::Done { measured }), None, "Ended at its limit of steps");
    }

    #[test]
    fn what_went_wrong_is_said_and_whose_doing_it_was() {
        let check = |outcome, expected: Option<&str>| {
            assert_eq!(fault(&settled(outcome)).map(|(title, _)| title), expected);
        };
        check(Outcome::Failed { reason: "too long".into() }, Some("The answer failed"));
        check(Outcome::Void { reason: "down".into() }, Some("No whole answer came"));
        check(Outcome::Lost, Some("The answer was interrupted"));
        check(Outcome::Cancelled, None);
    }

    #[test]
    fn facts_are_what_is_known() {
        let check = |measured, expected: Option<&str>| {
            assert_eq!(facts(&settled(Outcome::Done { measured })).as_deref(), expected);
        };
        check(Measured::default(), None);
        check(Measured { duration_ms: 1_240, ..Default::default() }, Some("1.2 s"));
        let timings = Some(Timings { predicted_per_second: 41.96, ..Default::default() });
        let usage = Some(Usage { completion_tokens: Some(512), prompt_tokens: None });
        check(
            Measured { duration_ms: 75_000, timings, usage, ..Default::default() },
            Some("42.0 tokens/s · 512 tokens · 1 min 15 s"),
        );
    }
}

//! A battle by words: what happens to it, and what then stands there.

use super::{super::decide::Input, *};
use crate::{
    output::{Part, Usage},
    worktree::{Changed, Changes},
};

pub fn judge() -> Judge {
    Judge { model: ModelRef { server: "local".into(), model: "judge".into() }, paid: false }
}

pub struct Story {
    pub battle: Battle,
    pub ids: u128,
}

impl Story {
    pub fn new(battle: Battle) -> Self {
        let mut story = Self { battle: battle.clone(), ids: 1_000 };
        let fresh = story.fresh();
        story.feed(battle.begin(fresh, 1));
        story
    }

    pub fn fresh(&mut self) -> Fresh {
        self.ids += 1_000;
        Fresh::new(id(self.ids))
    }

    pub fn feed(&mut self, events: Vec<Event>) {
        events.iter().for_each(|event| self.battle.apply(event));
    }

    pub fn contestant(&self, letter: &str) -> ContestantId {
        let place = letter.bytes().next().unwrap() - b'A';
        self.battle.contestants[usize::from(place)].id
    }

    /// The task that a word means: a contestant's by its letter, or the first open one of a kind of work.
    pub fn task(&self, word: &str) -> TaskId {
        let work = match word {
            "check" => Work::Check,
            "digest" => Work::Digest,
            "judgement" => Work::Judgement,
            "examination" => Work::Examination,
            letter => return *self.battle.contestant(self.contestant(letter)).unwrap().tries.last().unwrap(),
        };
        let open = |task: &&Task| task.work == work && !task.is_settled();
        self.battle.tasks.values().find(open).unwrap_or_else(|| panic!("no open {word}")).id
    }

    pub fn claim(&mut self, task: TaskId) {
        let known = &self.battle.tasks[&task];
        if known.status == task::Status::Queued {
            let events = known.decide(task::Input::Claim { at_ms: 2 }).unwrap();
            self.feed(events);
        }
    }

    /// `A.silent` ends with nothing said, `A.says:x` with these words, and `A.patch:x` with this change and no word.
    ///
    /// One word a step: `A+` claims A's task, `A>` generates, `A.done`, `A.fail`, `A.void`, `A.lost`, `A.stopped`
    /// end it, `A.done:50` measured so many tokens, `A.used:50` tells of tokens, `A.stop` and `A.retry` ask. `check.0` and `check.1` end a check with
    /// that code, `digest.text` and `judgement.text` say something, `judge:A` answers every judgement in A's favour,
    /// `prefers:P` for whoever is called P.
    pub fn step(&mut self, word: &str) -> Result<(), Rejected> {
        if let Some(letter) = word.strip_prefix("judge:") {
            return self.judge_all(letter);
        }
        if let Some(letter) = word.strip_prefix("prefers:").and_then(|word| word.chars().next()) {
            // Whoever likes this letter best, and of two others the one that comes first in the alphabet.
            return self.answer_all(|judgement, _| {
                judgement.letters().into_iter().min_by_key(|other| (*other != letter, *other))
            });
        }
        if let Some(who) = word.strip_suffix('+') {
            let task = self.task(who);
            self.claim(task);
            return Ok(());
        }
        let input = match word {
            "stop" => Input::Stop { fresh: self.fresh(), at_ms: 9 },
            "analyse" => Input::Analyse { judge: judge(), fresh: self.fresh(), at_ms: 9 },
            "unanalyse" => Input::StopAnalysis { fresh: self.fresh(), at_ms: 9 },
            "examine" | "examine-by-agent" => {
                let agent = Identity::Backend(Backend::native());
                let identity = if word == "examine" { Identity::Plain } else { agent };
                let examiner = Examiner { identity, model: judge().model, paid: false };
                Input::Examine { examiner, question: Some(" why ".into()), fresh: self.fresh(), at_ms: 9 }
            }
            "unwin" => Input::SetWinner { winner: None },
            word => match word.split_once(['.', '>']) {
                Some((who, "")) => {
                    let task = self.task(who);
                    self.claim(task);
                    Input::Phase { task, attempt: self.attempt(task), phase: Phase::Generating, at_ms: 4 }
                }
                Some((who, "stop")) => {
                    Input::StopContestant { contestant: self.contestant(who), fresh: self.fresh(), at_ms: 9 }
                }
                Some((who, "retry")) => {
                    Input::Retry { contestant: self.contestant(who), fresh: self.fresh(), at_ms: 9 }
                }
                Some((who, "wins")) => Input::SetWinner { winner: Some(self.contestant(who)) },
                Some((who, what)) => self.told(who, what),
                None => panic!("unknown word {word}"),
            },
        };
        let events = self.battle.decide(input)?;
        self.feed(events);
        Ok(())
    }

    pub fn attempt(&self, task: TaskId) -> Attempt {
        self.battle.tasks[&task].attempts().last().map_or(Attempt(0), |last| last.0)
    }

    pub fn told(&mut self, who: &str, what: &str) -> Input {
        let task = self.task(who);
        self.claim(task);
        let attempt = self.attempt(task);
        if let Some(tokens) = what.strip_prefix("used:") {
            let tokens = tokens.parse().unwrap();
            return Input::Used { task, attempt, tokens, fresh: self.fresh(), at_ms: 9 };
        }
        let done = || Outcome::Done { measured: Measured { duration_ms: 5, ..Measured::default() } };
        let mut report = Report {
            task,
            attempt,
            outcome: done(),
            stream_len: 3,
            said: None,
            marks: Marks::default(),
            changes: None,
            unkept: None,
            checked: None,
            fresh: self.fresh(),
            at_ms: 9,
        };
        match what {
            "done" => {}
            what if what.starts_with("done:") => {
                let usage = Usage { prompt_tokens: Some(0), completion_tokens: what[5..].parse().ok() };
                report.outcome =
                    Outcome::Done { measured: Measured { usage: Some(usage), ..Measured::default() } };
            }
            "fail" => report.outcome = Outcome::Failed { reason: "no".into() },
            "void" => report.outcome = Outcome::Void { reason: "down".into() },
            "lost" => report.outcome = Outcome::Lost,
            "stopped" => report.outcome = Outcome::Cancelled,
            "silent" => report.said = Some(" \n".into()),
            what if what.starts_with("says:") => {
                report.said = Some(what[5..].to_owned());
                report.marks.said = report.said.clone();
            }
            // The patch, told by its name; nothing is an empty one.
            what if what.starts_with("patch:") => {
                let patch = &what[6..];
                let file = Changed {
                    path: "a".into(),
                    moved_from: None,
                    status: crate::worktree::Status::Added,
                    added: 1,
                    deleted: 0,
                    is_binary: false,
                };
                let files = if patch.is_empty() { Vec::new() } else { vec![file] };
                report.changes = Some(Changes { files, ..Changes::default() });
                report.marks.patch = Some(patch.to_owned()).filter(|patch| !patch.is_empty());
                report.said = Some(String::new());
            }
            // A digest of the first bytes of a result of so many.
            what if what.starts_with("read:") => {
                let read = what[5..].split_once('/').unwrap();
                let read = Part { bytes: read.0.parse().unwrap(), of: read.1.parse().unwrap() };
                report.outcome = Outcome::Done {
                    measured: Measured { read: Some(Box::new(read)), ..Measured::default() },
                };
                report.said = Some("It is long.".into());
            }
            "0" => report.checked = Some(Checked::new(Some(0), 1, "")),
            "1" => report.checked = Some(Checked::new(Some(1), 1, "")),
            said => report.said = Some(said.to_owned()),
        }
        Input::Report(Box::new(report))
    }

    pub fn judge_all(&mut self, letter: &str) -> Result<(), Rejected> {
        let favourite = self.contestant(letter);
        self.answer_all(|judgement, analysis| {
            let places = [judgement.first, judgement.second].map(|place| analysis.entrants[place].contestant);
            places.iter().position(|who| *who == favourite).map(|place| judgement.letters()[place])
        })
    }

    /// Answers every judgement by a letter, or with neither.
    fn answer_all(
        &mut self,
        choose: impl Fn(&analysis::Judgement, &Analysis) -> Option<char>,
    ) -> Result<(), Rejected> {
        while let Some(place) = self
            .battle
            .newest_analysis()
            .and_then(|analysis| analysis.judgements.iter().position(|judgement| judgement.answer.is_none()))
        {
            let analysis = self.battle.newest_analysis().unwrap();
            let judgement = &analysis.judgements[place];
            let better =
                choose(judgement, analysis).map_or("neither".to_owned(), |letter| letter.to_string());
            let task = judgement.task;
            self.claim(task);
            let report = Report {
                task,
                attempt: self.attempt(task),
                outcome: Outcome::Done { measured: Measured::default() },
                stream_len: 3,
                said: Some(format!("{{\"better\": \"{better}\", \"reason\": \"so\"}}")),
                marks: Marks::default(),
                changes: None,
                unkept: None,
                checked: None,
                fresh: self.fresh(),
                at_ms: 9,
            };
            let events = self.battle.decide(Input::Report(Box::new(report)))?;
            self.feed(events);
        }
        Ok(())
    }

    /// Each contestant with how it stands, `-` where it waits for its turn, then the battle.
    pub fn shown(&self) -> String {
        let stands = |contestant: &Contestant| {
            let wait = if self.battle.waits_for_turn(contestant) { "-" } else { "" };
            format!("{wait}{}", self.battle.standing(contestant).word())
        };
        let contestants: Vec<_> = self.battle.contestants.iter().map(stands).collect();
        format!("{} | {}", contestants.join(" "), self.battle.course.status.label().to_lowercase())
    }
}

pub fn play(battle: Battle, script: &str) -> Story {
    let mut story = Story::new(battle);
    for word in script.split_whitespace() {
        story.step(word).unwrap_or_else(|no| panic!("{script}: {word}: {no}"));
    }
    story
}

pub fn check(roster: &str, script: &str, expected: &str) {
    let story = play(battle(Kind::Coding, roster, |_| {}), script);
    assert_eq!(story.shown(), expected, "{roster}: {script}");
}

pub fn refuses(roster: &str, script: &str, expected: &str) {
    let (before, last) = script.rsplit_once(' ').unwrap_or(("", script));
    let mut story = play(battle(Kind::Coding, roster, |_| {}), before);
    let untouched = story.battle.clone();
    assert_eq!(story.step(last).unwrap_err().to_string(), expected, "{roster}: {script}");
    assert_eq!(story.battle, untouched);
}

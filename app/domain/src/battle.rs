//! A battle: one prompt to two to six contestants, what each of them made of it, and who won.
//!
//! Each contestant is a task like any other. The battle decides which task comes when, what its end means for the
//! contestant, and when there is enough to compare.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Rejected,
    catalogue::ModelRef,
    feed::Event,
    id::{BattleId, ContestantId, ProjectId, SessionId, TaskId},
    setup::Setup,
    task::{Owner, Task},
};

pub mod analysis;
pub mod benchmark;
pub mod blind;
pub mod check;
mod contestant;
mod decide;
pub mod digest;
mod draft;
pub mod examination;
pub mod export;
mod fresh;
pub mod judge;
pub mod lanes;
pub mod names;
pub mod results;
pub mod room;
mod roster;
#[cfg(test)]
mod sim;
mod streams;
#[cfg(test)]
pub(crate) mod tests;
mod told;
pub mod verdict;

pub use analysis::Analysis;
pub use benchmark::Benchmark;
pub use check::{CheckState, Checked};
pub use contestant::{Contestant, Identity, Standing};
pub use decide::{Input, Marks, OPINION_LIMIT_S, Report};
pub use draft::{Draft, ExaminerDraft, Line};
pub use examination::{Examination, Examiner};
pub use fresh::Fresh;
pub use roster::{
    CONTESTANTS_MAX, CONTESTANTS_MIN, Entry, Launch, Roster, check_count, check_each_once, check_limit,
    check_prompt, check_tokens,
};
pub use told::Told;

pub const PROMPT_BYTES_MAX: usize = 256 * 1024;
pub const QUESTION_BYTES_MAX: usize = 16 * 1024;
/// The deadline of a contestant, where nobody chose one, and what may be chosen.
pub const LIMIT_S: u32 = 30 * 60;
pub const LIMIT_S_MIN: u32 = 10;
pub const LIMIT_S_MAX: u32 = 2 * 60 * 60;
/// More cross-examinations are no longer read by anybody.
pub const EXAMINATIONS_MAX: usize = 50;
pub const ANALYSES_MAX: usize = 50;
pub const TRIES_MAX: usize = 20;

/// What the contestants do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Agents change code, each in a worktree of its own.
    Coding,
    /// Models answer, each as a persona.
    Qa,
}

impl Kind {
    pub fn label(self) -> &'static str {
        match self {
            Self::Coding => "Coding",
            Self::Qa => "Q&A",
        }
    }

    /// In addresses, folders and the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Coding => "coding",
            Self::Qa => "qa",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A contestant, or a check of what it made, is not over.
    Running,
    Analysing,
    Completed,
    /// A person stopped it, or it had spent what it may.
    Cancelled,
}

impl Status {
    pub fn label(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Analysing => "Analysing",
            Self::Completed => "Completed",
            Self::Cancelled => "Cancelled",
        }
    }

    /// In tables, manifests and the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Analysing => "analysing",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }
}

/// What was agreed before it began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The longest that a contestant may take.
    pub limit_s: u32,
    /// Its contestants, and whoever compares or examines them, may use so many tokens together. What a person asks for
    /// is not ended by it, and counts all the same: there is no other try then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
    /// Whether worktrees begin with what is not committed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carry: bool,
    /// What tells whether a result works: a command of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// What every folder begins with besides the project's files, as that was agreed when the battle began. None: as
    /// the project asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Setup>,
    /// Who judges when all are over. None: nobody does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<Judge>,
    /// Where the project's folder is: only a server there does the work.
    pub host: String,
    /// Model servers that are a machine's own, with that machine: another may have one of the same name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machines: BTreeMap<String, String>,
}

/// The model of an analysis. A paid one is not repeated as often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judge {
    pub model: ModelRef,
    pub paid: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Battle {
    pub id: BattleId,
    pub session: SessionId,
    pub project: ProjectId,
    pub kind: Kind,
    pub prompt: String,
    pub terms: Terms,
    pub created_at_ms: i64,
    #[serde(flatten)]
    pub course: Course,
    /// In roster order: the first is A.
    pub contestants: Vec<Contestant>,
    pub analyses: Vec<Analysis>,
    pub examinations: Vec<Examination>,
    pub tasks: BTreeMap<TaskId, Task>,
}

/// How the battle as a whole stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    pub status: Status,
    /// Why it goes no further, while what runs is being ended and ever after.
    #[serde(default)]
    pub stopped: Option<Stopped>,
    #[serde(default)]
    pub finished_at_ms: Option<i64>,
    /// The person's own choice. The judge's stands in its analysis.
    #[serde(default, rename = "winner_contestant_id")]
    pub winner: Option<ContestantId>,
    /// Whom the verdict on the results that are there now names.
    #[serde(default, rename = "judged_contestant_id", skip_serializing_if = "Option::is_none")]
    pub judged: Option<ContestantId>,
    /// What the project itself gives, before anybody changed it.
    #[serde(default)]
    pub base_check: CheckState,
    /// What digests, judgements and cross-examinations have used.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub opinion_tokens: u64,
    /// Why its results folder does not tell what is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwritten: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    ByPerson,
    /// It had used as many tokens as it may.
    Spent,
}

impl Stopped {
    pub fn words(self) -> &'static str {
        match self {
            Self::ByPerson => "The battle was stopped.",
            Self::Spent => "The battle had used all the tokens that it may.",
        }
    }
}

impl Battle {
    /// Total: an event of another battle, or about something unknown, changes nothing.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::ContestantUpdated { battle, contestant, .. } if *battle == self.id => {
                if let Some(known) = self.contestants.iter_mut().find(|known| known.id == contestant.id) {
                    *known = (**contestant).clone();
                }
            }
            Event::BattleUpdated { battle, course } if *battle == self.id => self.course = (**course).clone(),
            Event::AnalysisUpdated { battle, analysis } if *battle == self.id => {
                match self.analyses.iter_mut().find(|known| known.number == analysis.number) {
                    Some(known) => *known = (**analysis).clone(),
                    None => self.analyses.push((**analysis).clone()),
                }
            }
            Event::JudgementMade { battle, analysis, place, judgement } if *battle == self.id => {
                let analysis = self.analyses.iter_mut().find(|known| known.number == *analysis);
                if let Some(known) = analysis.and_then(|known| known.judgements.get_mut(*place as usize)) {
                    *known = judgement.clone();
                }
            }
            Event::ExaminationAdded { battle, examination } if *battle == self.id => {
                self.examinations.push(examination.clone());
            }
            Event::TaskQueued { owner, task } if *owner == Owner::Battle(self.id) => {
                self.tasks.insert(task.id, task.clone());
            }
            _ => {
                for task in self.tasks.values_mut() {
                    task.apply(event);
                }
            }
        }
    }

    pub fn contestant(&self, id: ContestantId) -> Result<&Contestant, Rejected> {
        let found = self.contestants.iter().find(|contestant| contestant.id == id);
        found.ok_or_else(|| Rejected::missing("contestant of this battle"))
    }

    /// A to F.
    pub fn letter(&self, id: ContestantId) -> char {
        let place = self.contestants.iter().position(|contestant| contestant.id == id).unwrap_or_default();
        letter(place)
    }

    /// Those with a result to compare.
    pub fn survivors(&self) -> impl Iterator<Item = &Contestant> {
        self.contestants.iter().filter(|contestant| contestant.standing == Standing::Done)
    }

    /// How a contestant stands now. While it is under way, its task tells.
    pub fn standing(&self, contestant: &Contestant) -> Standing {
        match self.task_of(contestant).filter(|task| !task.is_settled()) {
            Some(task) => Standing::of(task),
            None => contestant.standing.clone(),
        }
    }

    /// The task of the contestant's newest try.
    pub fn task_of(&self, contestant: &Contestant) -> Option<&Task> {
        self.tasks.get(contestant.tries.last()?)
    }

    pub fn newest_analysis(&self) -> Option<&Analysis> {
        self.analyses.last()
    }

    /// How many tokens were used for it by anybody, as far as that is known.
    pub fn spent(&self) -> u64 {
        let contestants = self.contestants.iter().filter_map(|contestant| contestant.tokens);
        contestants.sum::<u64>() + self.course.opinion_tokens
    }

    pub fn title(&self) -> String {
        crate::chat::title::from_prompt(&self.prompt)
    }
}

pub fn letter(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
}

//! What agents answer, in a form that code can check. Asked for as JSON, and read with patience: a weak model forgets a
//! bracket, and what cannot be read is kept as it was said.

mod entry;
pub mod form;
mod kept;
mod lenient;
mod read;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::cited::{ClaimId, Place};
pub use kept::{ANSWER_BYTES_MAX, Kept, kept};
pub use read::Reading;

/// What a worker or whoever puts together says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub summary: String,
    pub findings: Vec<Finding>,
    /// The numbered entries of the report itself.
    pub items: Vec<Finding>,
    pub sections: Vec<Said>,
    pub deferred: Vec<Deferred>,
    pub questions: Vec<Question>,
    pub good: Vec<String>,
    pub next_step: String,
    /// What has no place here, by the name it came under.
    pub extra: Vec<Named>,
}

/// One claim with what it rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// As it was given. Read with [`Finding::claim_id`].
    pub id: String,
    pub title: String,
    pub claim: String,
    /// As it was given: what it means depends on the flow.
    pub level: String,
    pub kind: String,
    pub trust: Option<Trust>,
    pub places: Vec<Quoted>,
    pub sources: Vec<Source>,
    /// Ids of other findings that it rests on.
    pub cites: Vec<String>,
    pub single_source: bool,
    /// What the flow asks for besides, and whatever else came.
    pub fields: Vec<Named>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    Codebase,
    Web,
    Provided,
    Reasoning,
}

/// A line of the project, as the agent says it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    pub place: Place,
    pub quote: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Source {
    pub title: String,
    pub url: String,
    pub date: String,
}

/// A section of the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub title: String,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deferred {
    pub what: String,
    pub why: String,
    pub reopen_when: String,
    pub source: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    pub question: String,
    pub recommended: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    pub name: String,
    pub text: String,
}

/// What the gate, or the validator of one dimension, says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts {
    pub items: Vec<Attempt>,
    /// Ids of findings that are false.
    pub drops: Vec<String>,
    pub recommendation: Option<Stand>,
    /// What would settle it, where the recommendation does not stand.
    pub settle: String,
    pub confidence: Option<Confidence>,
    pub reason: String,
    pub risks: Vec<String>,
    pub extra: Vec<Named>,
}

/// One attempt to prove something wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attempt {
    pub id: String,
    pub about: Vec<String>,
    pub hypothesis: String,
    pub checked: String,
    pub verdict: Option<Verdict>,
    pub impact: String,
    pub fields: Vec<Named>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Confirmed,
    PartiallyRefuted,
    Refuted,
}

/// What became of a conclusion, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stand {
    Stands,
    Weakened,
    Refuted,
}

/// The lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

/// Reads what a worker said.
pub fn read_answer(text: &str) -> Reading<'_, Answer> {
    read::answer(text)
}

/// Reads what a gate said.
pub fn read_verdicts(text: &str) -> Reading<'_, Verdicts> {
    read::verdicts(text)
}

/// The same words, whatever stands between them: `single_source`, `singleSource` and `Single source`.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    one == other || plain(one).eq(plain(other))
}

/// The letters and digits of a text, small.
pub(super) fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

impl Finding {
    pub fn claim_id(&self) -> Option<ClaimId> {
        ClaimId::read(&self.id)
    }

    /// The id as everybody writes it, or as it was given where it is none.
    pub fn shown_id(&self) -> String {
        self.claim_id().map_or_else(|| self.id.trim().to_owned(), |id| id.to_string())
    }

    /// All that it says in words, and that may name places and ids.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter().map(|field| field.text.as_str());
        [self.title.as_str(), self.claim.as_str()].into_iter().chain(fields)
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        found.map(|field| field.text.trim()).filter(|text| !text.is_empty())
    }

    /// Whether a field says yes.
    pub fn says_yes(&self, name: &str) -> bool {
        let word = self.field(name).and_then(|text| text.split(|c: char| !c.is_ascii_alphanumeric()).next());
        word.is_some_and(|word| ["yes", "true", "y", "1"].iter().any(|yes| word.eq_ignore_ascii_case(yes)))
    }
}

impl Attempt {
    /// As of a finding.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter().map(|field| field.text.as_str());
        [&self.hypothesis, &self.checked, &self.impact].into_iter().map(String::as_str).chain(fields)
    }
}

impl Trust {
    pub fn name(self) -> &'static str {
        match self {
            Self::Codebase => "codebase",
            Self::Web => "web",
            Self::Provided => "provided",
            Self::Reasoning => "reasoning",
        }
    }
}

impl Verdict {
    pub fn words(self) -> &'static str {
        match self {
            Self::Confirmed => "Confirmed",
            Self::PartiallyRefuted => "Partially refuted",
            Self::Refuted => "Refuted",
        }
    }
}

impl Confidence {
    pub fn words(self) -> &'static str {
        match self {
            Self::Low => "Low",
            Self::Medium => "Medium",
            Self::High => "High",
        }
    }
}

impl Verdicts {
    /// What it makes of the conclusion with this title: said of all that is concluded, or by an attempt on it.
    pub fn stand_of(&self, title: &str) -> Option<Stand> {
        let on_it = self.items.iter().filter(|tried| tried.about.iter().any(|about| means(about, title)));
        let tried = on_it.filter_map(|attempt| attempt.verdict).map(|verdict| match verdict {
            Verdict::Confirmed => Stand::Stands,
            Verdict::PartiallyRefuted => Stand::Weakened,
            Verdict::Refuted => Stand::Refuted,
        });
        tried.chain(self.recommendation).max()
    }
}

/// Whether a gate that says this means the conclusion with this title.
fn means(about: &str, title: &str) -> bool {
    let (about, title): (String, String) = (plain(about).collect(), plain(title).collect());
    let is_it = |part: &str, whole: &str| part.len() >= 4 && whole.contains(part);
    about.contains("recommendation") || is_it(&title, &about) || (is_it(&about, &title))
}

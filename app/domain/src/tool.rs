//! What an agent does besides talking: calls of tools, a plan, and what it asks a person before it goes on.
//!
//! A call is told in updates, because its input is known before its output is. Each update says only what is
//! new, so a long output travels once.

mod change;
mod shell;

use serde::{Deserialize, Serialize};

use crate::transcript::{self, Transcript};

/// More of one input or output is cut: it is there to be read, and the tree shows what was done.
pub const SHOWN_BYTES_MAX: usize = 32 * 1024;

/// Something new about one call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Update {
    /// Which call, within its attempt.
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// One call as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    pub title: String,
    pub kind: Kind,
    pub status: Status,
    pub input: String,
    pub output: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    #[default]
    Other,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Pending,
    Running,
    Done,
    /// As the agent tells it, which is no proof: only the tree shows what was done.
    Failed,
}

impl Call {
    /// Reads the updates of one call, a line each. One that has not arrived whole is left for later.
    pub fn read(lines: &str) -> Self {
        let mut call = Self::default();
        for line in lines.lines() {
            if let Ok(update) = crate::json::read::<Update>(line) {
                call.apply(update);
            }
        }
        call
    }

    /// Whether it meant to change files. Of a command its words tell, or what it was refused; that it failed does not,
    /// nor that it did not.
    pub fn tries_to_change(&self) -> bool {
        match self.kind {
            Kind::Edit | Kind::Delete | Kind::Move => true,
            Kind::Execute => change::is_meant(&self.input) || change::is_refused(&self.output),
            // One that the agent's own read-only mode refuses says nothing of what it was.
            Kind::Other => change::is_refused_by_mode(&self.output),
            Kind::Read | Kind::Search | Kind::Think | Kind::Fetch => false,
        }
    }

    fn apply(&mut self, update: Update) {
        let Update { id: _, title, kind, status, input, output } = update;
        self.title = title.unwrap_or_else(|| std::mem::take(&mut self.title));
        self.kind = kind.unwrap_or(self.kind);
        self.status = status.unwrap_or(self.status);
        self.input = input.unwrap_or_else(|| std::mem::take(&mut self.input));
        self.output = output.unwrap_or_else(|| std::mem::take(&mut self.output));
    }
}

/// How many of the calls in it meant to change files.
pub fn tries_to_change(transcript: &Transcript) -> u32 {
    let calls = transcript.segments.iter().filter(|segment| segment.kind == transcript::Kind::Tool);
    calls.filter(|call| Call::read(&call.text).tries_to_change()).count() as u32
}

/// Those of `paths` that a call in it names which meant to change files. A path of another folder that ends the same
/// counts too: who wonders what was changed rather looks once too often.
pub fn meant_to_change<'a>(transcript: &Transcript, paths: &'a [String]) -> Vec<&'a str> {
    let calls = transcript.segments.iter().filter(|segment| segment.kind == transcript::Kind::Tool);
    let calls = calls.map(|call| Call::read(&call.text)).filter(Call::tries_to_change);
    let inputs: Vec<String> = calls.map(|call| call.input).collect();
    let is_named = |path: &&str| inputs.iter().any(|input| names(input, path));
    paths.iter().map(String::as_str).filter(is_named).collect()
}

fn names(input: &str, path: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    input.match_indices(path).any(|(at, _)| {
        let (before, after) = (input[..at].chars().next_back(), input[at + path.len()..].chars().next());
        !before.is_some_and(goes_on) && !after.is_some_and(|c| goes_on(c) || c == '/')
    })
}

/// What an agent means to do, all of it each time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan(pub Vec<Item>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub text: String,
    pub status: ItemStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    Pending,
    Running,
    Done,
}

impl Plan {
    /// The newest of several, a line each.
    pub fn read(lines: &str) -> Option<Self> {
        lines.lines().rev().find_map(|line| crate::json::read(line).ok())
    }
}

/// What an agent wants to be allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Which question, within its attempt.
    pub number: u32,
    pub title: String,
    pub kind: Kind,
    /// What it is about to do, in its own words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    pub options: Vec<Permit>,
}

/// How long a person may take for an answer.
pub const ANSWER_SECONDS_MAX: u32 = 24 * 60 * 60;

/// How a request may be answered. An agent's own options are told apart by what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permit {
    Once,
    Always,
    Reject,
    RejectAlways,
}

impl Permit {
    pub fn words(self) -> &'static str {
        match self {
            Self::Once => "Allow",
            Self::Always => "Always allow",
            Self::Reject => "Refuse",
            Self::RejectAlways => "Always refuse",
        }
    }
}

/// As much of a text as is shown of one input or output.
pub fn shortened(text: &str) -> String {
    beginning(text, SHOWN_BYTES_MAX)
}

/// The beginning of a long text, cut between letters, with a word about the rest.
pub fn beginning(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes_max);
    format!("{}\n… {} KB more", &text[..end], (text.len() - end).div_ceil(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_of_a_call_add_up_and_half_a_line_waits() {
        let lines = concat!(
            r#"{"id":"1","title":"Read main.rs","kind":"read","status":"running","input":"main.rs"}"#,
            "\n",
            r#"{"id":"1","status":"done","output":"fn main() {}"}"#,
            "\n",
            r#"{"id":"1","status":"fai"#,
        );
        let call = Call {
            title: "Read main.rs".into(),
            kind: Kind::Read,
            status: Status::Done,
            input: "main.rs".into(),
            output: "fn main() {}".into(),
        };
        assert_eq!(Call::read(lines), call);
    }

    #[test]
    fn what_a_call_meant_to_change_is_known_by_name() {
        let check =
            |input: &str, path: &str, expected: bool| assert_eq!(names(input, path), expected, "{input}");
        check(r#"{"path": "src/a.rs", "content": "x"}"#, "src/a.rs", true);
        check(r#"{"file_path":"/home/me/shop/src/a.rs"}"#, "src/a.rs", true);
        check(r#"{"command":"echo x > a.rs\nrm b.rs"}"#, "a.rs", true);
        check("rm -f ./My App/a.rs; ls", "My App/a.rs", true);
        check("rm src/a.rs.old", "src/a.rs", false);
        check("rm src/ba.rs", "a.rs", false);
        check("rm src/a", "src/a.rs", false);
        check("rm src/a/b", "src/a", false);
    }

    #[test]
    fn the_newest_whole_plan_counts() {
        let lines =
            "[{\"text\":\"a\",\"status\":\"pending\"}]\n[{\"text\":\"a\",\"status\":\"done\"}]\n[{\"te";
        let item = Item { text: "a".into(), status: ItemStatus::Done };
        assert_eq!(Plan::read(lines), Some(Plan(vec![item])));
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        let long = "é".repeat(SHOWN_BYTES_MAX);
        let cut = shortened(&long);
        assert!(cut.ends_with("… 32 KB more") && cut.starts_with("éé"), "{}", &cut[cut.len() - 40..]);
        assert_eq!(shortened("short"), "short");
    }
}

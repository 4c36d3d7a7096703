//! A diff as people read it: the files of a patch, and their rows in the order of the screen.
//!
//! The server reads the patch, lays it out and writes windows of rows; the browser asks for the windows that it
//! shows. So a million lines cost it no more than a thousand.

pub mod hidden;
pub mod patch;
mod row;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod view;
mod wire;
mod words;
mod wrap;

use serde::{Deserialize, Serialize};

use crate::id::{ChatId, ContestantId, RunId, TaskId};
pub use row::{Kind, LineId, Row};
pub use wire::{Colour, RowText, Span, Spans, line_row};

/// What was changed, and against what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Of {
    /// What a Coder's tab changed since its base.
    Chat(ChatId),
    /// What a contestant's result changed since its base.
    Contestant(ContestantId),
    /// The same of one of its tries, whichever is the newest.
    Try(ContestantId, TaskId),
    /// From the first one's result to the second one's.
    Between(ContestantId, ContestantId),
    /// From the project's files as they are now to a Coder's.
    Project(ChatId),
    /// From the first Coder's files to the second one's, as they are now.
    Chats(ChatId, ChatId),
    /// What a run looked at.
    Run(RunId),
    /// Something to look at; only a debug build has it.
    Sample(Sample),
}

/// What a Coder's changes can be compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Against {
    pub of: Of,
    pub title: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Sample {
    /// A change of several files, with everything that a patch may hold.
    Files,
    /// A thousand files with a hundred thousand lines.
    Many,
    /// One file with ten thousand changed lines.
    Long,
    /// A million lines.
    Huge,
}

/// How it is looked at. Rows are counted in a view, so every window is asked for with the same options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Options {
    pub is_split: bool,
    /// What differs in whitespace alone is shown as unchanged.
    pub ignores_whitespace: bool,
    /// How many columns a line may have before it goes on in a row of its own; 0 is as many as it likes.
    pub columns: u16,
    #[serde(default)]
    pub expanded: Vec<Expanded>,
}

/// How much of a gap between two hunks is shown. Gaps of a file are counted from the one before its first hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expanded {
    pub file: u32,
    pub gap: u32,
    /// Lines at its top, which follow the hunk above.
    pub top: u32,
    /// Lines at its bottom, which lead to the hunk below.
    pub bottom: u32,
}

/// More is not asked for by hand.
pub const EXPANDED_MAX: usize = 1_000;
/// Rows of one window.
pub const WINDOW_ROWS_MAX: u32 = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub start: u32,
    pub count: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Another stamp is another patch: whatever was known of its rows no longer holds.
    pub stamp: String,
    pub files: Vec<FileOutline>,
    /// Columns of the longest row.
    pub columns: u32,
    /// The largest line number that may be shown.
    pub lines: u32,
    /// What is there and cannot be part of a patch, each with the reason.
    #[serde(default)]
    pub left_out: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOutline {
    /// As it may be shown.
    pub path: String,
    /// Where it was, if that is elsewhere.
    pub old_path: Option<String>,
    pub status: Status,
    pub added: u32,
    pub removed: u32,
    pub is_binary: bool,
    /// As git writes them, where they differ.
    pub modes: Option<(String, String)>,
    /// With the one that names the file.
    pub rows: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    Added,
    Deleted,
    Modified,
    Renamed,
    Copied,
}

/// Rows of a window, one a line, as [`RowText::read`] reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    pub stamp: String,
    pub start: u32,
    pub text: String,
}

/// Where a text occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The rows, in order, as many as are told.
    pub rows: Vec<u32>,
    pub total: u32,
}

/// What is looked for from a row on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Seek {
    NextChange,
    PreviousChange,
    /// Wherever that is: the row of a line, or of its file's name where the line is not shown.
    Line {
        file: u32,
        side: Side,
        line: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    Old,
    New,
}

/// What a person says about a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    pub path: String,
    pub side: Side,
    pub line: u32,
    pub text: String,
    /// The line itself, so that it is found when it has moved.
    pub quoted: String,
}

impl Comment {
    pub fn is_on_the_line_of(&self, other: &Self) -> bool {
        (&self.path, self.side, self.line) == (&other.path, other.side, other.line)
    }

    /// As an agent is told of it.
    pub fn words(&self) -> String {
        let side = match self.side {
            Side::Old => " (as it was)",
            Side::New => "",
        };
        format!("{}:{}{side}\n> {}\n\n{}", self.path, self.line, self.quoted.trim_end(), self.text.trim())
    }

    /// Several of them in one message.
    pub fn all_words(comments: &[Self]) -> String {
        comments.iter().map(Self::words).collect::<Vec<_>>().join("\n\n")
    }
}

impl Outline {
    pub fn rows(&self) -> u32 {
        self.files.iter().map(|file| file.rows).sum()
    }

    pub fn added(&self) -> u32 {
        self.files.iter().map(|file| file.added).sum()
    }

    pub fn removed(&self) -> u32 {
        self.files.iter().map(|file| file.removed).sum()
    }

    /// The first row of each file.
    pub fn starts(&self) -> Vec<u32> {
        let mut next = 0;
        let start = |file: &FileOutline| {
            let start = next;
            next += file.rows;
            start
        };
        self.files.iter().map(start).collect()
    }
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Modified => "modified",
            Self::Renamed => "renamed",
            Self::Copied => "copied",
        }
    }

    /// As git says it in short.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Added => "A",
            Self::Deleted => "D",
            Self::Modified => "M",
            Self::Renamed => "R",
            Self::Copied => "C",
        }
    }
}

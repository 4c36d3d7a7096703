//! Signs in a project that a specialist is worth asking. Found by code, never by a model, so what a file says about
//! itself can bring one agent more at most.

mod paths;
mod words;

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Async code, locks, channels, queues.
    Concurrency,
    /// Logins, tokens, cryptography, data about people, SQL built from input.
    Security,
    /// Migrations, object mappers, SQL.
    Data,
    /// Containers, infrastructure as code, pipelines, observability.
    Devops,
    /// Calls that leave the process, retries, queues.
    Resilience,
    /// Remote calls, brokers, a database that others share.
    Seam,
}

/// More files than this are not looked at.
pub const FILES_MAX: usize = 20_000;
/// Of one file, no more is read.
pub const FILE_BYTES_MAX: usize = 512 * 1024;
/// Of all files together.
pub const BYTES_MAX: usize = 64 * 1024 * 1024;
/// What was found is shown, not kept whole.
const SHOWN_CHARS_MAX: usize = 120;

/// What a search has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signals {
    pub found: BTreeMap<Signal, Found>,
    /// How many files were looked at.
    pub files: usize,
    /// Whether there was more than may be looked at. Then what is not found may still be there.
    pub is_partial: bool,
}

/// The first place that shows a signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub path: String,
    /// From 1; a path that speaks for itself has none.
    pub line: Option<u32>,
    pub text: String,
}

/// Collects signals file by file. Walking and reading are somebody else's work.
#[derive(Clone, Debug, Default)]
pub struct SignalSearch {
    signals: Signals,
    bytes: usize,
}

impl SignalSearch {
    /// Whether the text of such a file tells something. Prose talks about everything, and answers of old battles are
    /// no evidence.
    pub fn wants_text(&self, path: &str) -> bool {
        !self.is_over() && !paths::is_left_out(path) && paths::is_code(path)
    }

    /// Takes one file into account, its path and as much of its text as was read.
    pub fn look(&mut self, path: &str, text: &str) {
        if self.is_over() || paths::is_left_out(path) {
            return;
        }
        if self.signals.files == FILES_MAX || self.bytes >= BYTES_MAX {
            self.signals.is_partial = true;
            return;
        }
        self.signals.files += 1;
        for signal in paths::signals(path) {
            self.note(*signal, path, None, path);
        }
        if !paths::is_code(path) {
            return;
        }
        let text = if text.len() > FILE_BYTES_MAX {
            self.signals.is_partial = true;
            &text[..text.floor_char_boundary(FILE_BYTES_MAX)]
        } else {
            text
        };
        self.bytes += text.len();
        for (number, line) in (1..).zip(text.lines()) {
            words::each_signal(line, |signal| self.note(signal, path, Some(number), line));
        }
    }

    /// Takes one file into account that is too long to be read or is no text: its path may tell, and what it says
    /// stays unknown.
    pub fn pass_over(&mut self, path: &str) {
        self.look(path, "");
        self.signals.is_partial |= !paths::is_left_out(path);
    }

    /// Whether nothing can be added any more: all is found, or the limits are reached and that is noted.
    pub fn is_over(&self) -> bool {
        self.signals.found.len() == Signal::ALL.len() || self.is_full()
    }

    pub fn finish(self) -> Signals {
        self.signals
    }

    fn is_full(&self) -> bool {
        self.signals.is_partial && (self.signals.files == FILES_MAX || self.bytes >= BYTES_MAX)
    }

    fn note(&mut self, signal: Signal, path: &str, line: Option<u32>, text: &str) {
        self.signals.found.entry(signal).or_insert_with(|| Found {
            path: path.to_owned(),
            line,
            text: text.trim().chars().take(SHOWN_CHARS_MAX).collect(),
        });
    }
}

impl Signal {
    pub const ALL: [Self; 6] =
        [Self::Concurrency, Self::Security, Self::Data, Self::Devops, Self::Resilience, Self::Seam];

    /// Fits after "no sign of".
    pub fn words(self) -> &'static str {
        match self {
            Self::Concurrency => "things that run at the same time",
            Self::Security => "logins, secrets or data about people",
            Self::Data => "a database",
            Self::Devops => "deployment or pipelines",
            Self::Resilience => "calls to other systems",
            Self::Seam => "a border between programs",
        }
    }
}

impl Signals {
    pub fn has(&self, signal: Signal) -> bool {
        self.found.contains_key(&signal)
    }

    /// Why an angle that waits for this signal is not worth its time.
    pub fn absence(&self, signal: Signal) -> String {
        let within = if self.is_partial { "in the part that was searched" } else { "there" };
        let files = match self.files {
            1 => "1 file".to_owned(),
            files => format!("{files} files"),
        };
        format!("no sign of {} {within} ({files})", signal.words())
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

#[cfg(test)]
mod tests;

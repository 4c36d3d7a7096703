//! What a model asks a tool to do. Models write arguments by hand, so what is wrong with them is said in words that
//! help to write them again.

use domain::tool::Kind;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use thiserror::Error;

/// One call, as it travels to the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub name: String,
    pub arguments: Value,
}

/// Said to the model, which may try again.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Wrong(pub String);

impl Wrong {
    pub fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

impl Call {
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Wrong> {
        serde_json::from_value(self.arguments.clone())
            .map_err(|error| Wrong(format!("The arguments of {} are wrong: {error}.", self.name)))
    }

    /// What people see of it: what it does to what.
    pub fn title(&self) -> String {
        let word = |key: &str| self.arguments[key].as_str().unwrap_or_default().trim();
        let of = |verb: &str, what: &str| match what {
            "" => verb.to_owned(),
            what => format!("{verb} {}", one_line(what)),
        };
        match self.name.as_str() {
            "list" => of("List", if word("path").is_empty() { "the folder" } else { word("path") }),
            "read" => of("Read", word("path")),
            "grep" => of("Search for", word("pattern")),
            "find" => of("Find files", word("pattern")),
            "edit" => of("Edit", word("path")),
            "write" => of("Write", word("path")),
            "run" => of("Run", word("command")),
            "git" => of("git", word("command")),
            "web_fetch" => of("Fetch", word("url")),
            "web_search" => of("Search the web for", word("query")),
            other => one_line(other),
        }
    }

    pub fn kind(&self) -> Kind {
        match self.name.as_str() {
            "list" | "read" | "git" => Kind::Read,
            "grep" | "find" => Kind::Search,
            "edit" | "write" => Kind::Edit,
            "run" => Kind::Execute,
            "web_fetch" | "web_search" => Kind::Fetch,
            _ => Kind::Other,
        }
    }
}

const TITLE_CHARS_MAX: usize = 120;

fn one_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(TITLE_CHARS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

//! Reads the file of a role: settings between two lines of dashes, then what the model is told.

use std::fmt;

/// What a role is told, and what it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instructions {
    pub title: String,
    pub letters: String,
    pub tools: Vec<Tool>,
    pub prompt: String,
}

/// What an agent of a flow may use: nothing here changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    List,
    Read,
    Grep,
    Find,
    Git,
    WebFetch,
    WebSearch,
}

/// Why a file cannot be used, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    pub words: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.words)
    }
}

impl std::error::Error for Problem {}

impl Tool {
    pub const ALL: [Self; 7] =
        [Self::List, Self::Read, Self::Grep, Self::Find, Self::Git, Self::WebFetch, Self::WebSearch];

    /// As BooCode's own agent calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Read => "read",
            Self::Grep => "grep",
            Self::Find => "find",
            Self::Git => "git",
            Self::WebFetch => "web_fetch",
            Self::WebSearch => "web_search",
        }
    }

    pub fn is_web(self) -> bool {
        matches!(self, Self::WebFetch | Self::WebSearch)
    }
}

pub(super) fn parse(text: &str) -> Result<Instructions, Problem> {
    let at = |line: usize, words: &str| Err(Problem { line, words: words.to_owned() });
    let lines: Vec<&str> = text.lines().collect();
    if lines.first() != Some(&"---") {
        return at(1, "The settings stand between two lines of ---, the first of them on top.");
    }
    let Some(end) = lines.iter().skip(1).position(|line| *line == "---").map(|at| at + 1) else {
        return at(1, "The settings have no end: a second line of --- is missing.");
    };
    let (mut title, mut letters, mut tools) = (None, None, None);
    for (number, line) in lines.iter().enumerate().take(end).skip(1) {
        let problem = |words: String| Problem { line: number + 1, words };
        let (key, value) = line
            .split_once(':')
            .map(|(key, value)| (key.trim(), value.trim()))
            .ok_or_else(|| problem(format!("\"{line}\" is no setting; one is written as key: value.")))?;
        let twice = match key {
            "title" => title.replace(value.to_owned()).is_some(),
            "letters" => letters.replace(capitals(value).map_err(problem)?).is_some(),
            "tools" => tools.replace(list(value).map_err(problem)?).is_some(),
            _ => {
                let words = format!("there is no setting {key}; there are title, letters and tools.");
                return Err(problem(words));
            }
        };
        if twice {
            return Err(problem(format!("{key} is given twice.")));
        }
    }
    let prompt = lines[end + 1..].join("\n").trim().to_owned();
    match (title.filter(|title| !title.is_empty()), letters, tools) {
        (Some(_), Some(_), Some(_)) if prompt.is_empty() => {
            at(end + 1, "There are no words for the model after the settings.")
        }
        (Some(title), Some(letters), Some(tools)) => Ok(Instructions { title, letters, tools, prompt }),
        _ => at(1, "A role has a title, letters and tools."),
    }
}

fn capitals(value: &str) -> Result<String, String> {
    let fits = (1..=3).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_uppercase());
    fits.then(|| value.to_owned())
        .ok_or_else(|| format!("letters are one to three capitals, not \"{value}\"."))
}

fn list(value: &str) -> Result<Vec<Tool>, String> {
    let known = |name: &str| Tool::ALL.into_iter().find(|tool| tool.name() == name);
    let tool = |name: &str| known(name).ok_or_else(|| format!("there is no tool {name} that only reads."));
    value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(tool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_read_whole() {
        let text = "---\ntitle: Poet\nletters: P\ntools: read, grep\n---\n\nYou rhyme.\n\n---\n\nAlways.\n";
        let expected = Instructions {
            title: "Poet".into(),
            letters: "P".into(),
            tools: vec![Tool::Read, Tool::Grep],
            prompt: "You rhyme.\n\n---\n\nAlways.".into(),
        };
        assert_eq!(parse(text), Ok(expected));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let check = |text: &str, words: &str| {
            assert_eq!(parse(text).unwrap_err().to_string(), words, "{text}");
        };
        let ends = "---\nYou rhyme.";
        check("", "line 1: The settings stand between two lines of ---, the first of them on top.");
        check("---\ntitle: Poet\n", "line 1: The settings have no end: a second line of --- is missing.");
        check(&format!("---\n{ends}"), "line 1: A role has a title, letters and tools.");
        check(
            &format!("---\ntitle:\nletters: P\ntools: read\n{ends}"),
            "line 1: A role has a title, letters and tools.",
        );
        check(
            &format!("---\nrhymes\n{ends}"),
            "line 2: \"rhymes\" is no setting; one is written as key: value.",
        );
        check(
            &format!("---\nsteps: 3\n{ends}"),
            "line 2: there is no setting steps; there are title, letters and tools.",
        );
        check(
            &format!("---\nletters: poet\n{ends}"),
            "line 2: letters are one to three capitals, not \"poet\".",
        );
        check(&format!("---\ntools: read, write\n{ends}"), "line 2: there is no tool write that only reads.");
        check(&format!("---\ntitle: A\ntitle: B\n{ends}"), "line 3: title is given twice.");
        let mute = "---\ntitle: Poet\nletters: P\ntools: read\n---\n\n";
        check(mute, "line 5: There are no words for the model after the settings.");
    }
}

//! What somebody asks a flow for. Checked here once; whoever holds a request need not ask again.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Band, Diff, FlowId, Focus};
use crate::Rejected;

pub const FOCUS_BYTES_MAX: usize = 64 * 1024;
const TARGET_BYTES_MAX: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub flow: FlowId,
    pub band: Band,
    /// Each worker looks less deep, within limits that are enforced.
    pub fast: bool,
    pub target: Target,
    pub focus: String,
}

/// A file or folder of the project, or all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Target(String);

impl Request {
    /// `has_diff`: whether something was changed that the flow could work on.
    pub fn new(
        flow: FlowId,
        band: Band,
        fast: bool,
        target: &str,
        focus: &str,
        has_diff: bool,
    ) -> Result<Self, Rejected> {
        let no = |words: String| Err(Rejected::Invalid(words));
        let card = flow.flow();
        let focus = focus.trim();
        if focus.is_empty() && card.focus.is_needed() {
            let word = match card.focus {
                Focus::Trigger(_) => "a trigger",
                _ => "a focus",
            };
            return no(format!("{} needs {word}. {}", card.title, card.focus.asks()));
        }
        if focus.len() > FOCUS_BYTES_MAX {
            let kilobytes = |bytes: usize| bytes.div_ceil(1024);
            return Err(Rejected::TooLong { got: kilobytes(focus.len()), max: kilobytes(FOCUS_BYTES_MAX) });
        }
        if card.diff == Diff::Needed && !has_diff {
            return no(format!("{} works on a change, and nothing is changed here.", card.title));
        }
        Ok(Self { flow, band, fast, target: Target::new(target)?, focus: focus.to_owned() })
    }
}

impl Target {
    pub fn new(path: &str) -> Result<Self, Rejected> {
        let no = |words: String| Err(Rejected::Invalid(words));
        let path = path.trim();
        if path.len() > TARGET_BYTES_MAX || path.contains(|c: char| c.is_control()) {
            return no("The target is a path in the project.".to_owned());
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if path.starts_with(['/', '\\', '~']) || parts.contains(&"..") {
            return no(format!("{path} is not a path in the project's folder."));
        }
        if parts.first().is_some_and(|part| *part == "Arena") {
            return no(
                "Arena/ holds old answers, and they are no evidence. Choose another target.".to_owned()
            );
        }
        Ok(Self(parts.join("/")))
    }

    /// Empty for the whole project.
    pub fn path(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("the whole project") } else { f.write_str(&self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(flow: FlowId, target: &str, focus: &str, has_diff: bool) -> Result<Request, String> {
        Request::new(flow, Band::Small, false, target, focus, has_diff).map_err(|no| no.to_string())
    }

    #[test]
    fn what_is_missing_is_asked_for() {
        let check = |flow, focus: &str, diff, words: Option<&str>| {
            assert_eq!(ask(flow, "", focus, diff).err().as_deref(), words);
        };
        check(FlowId::Research, "why", false, None);
        check(FlowId::Research, " \n", false, Some("Research needs a focus. What do you want to know?"));
        let trigger = "Runbook needs a trigger. What happens? Name the alert, the message or the symptom.";
        check(FlowId::Runbook, "", false, Some(trigger));
        check(FlowId::CodeReview, "", false, None);
        let change = "Update a pull request's description works on a change, and nothing is changed here.";
        check(FlowId::UpdatePrDescription, "", false, Some(change));
        check(FlowId::UpdatePrDescription, "", true, None);
        let long = "x".repeat(FOCUS_BYTES_MAX + 1);
        check(FlowId::Research, &long, false, Some("That is too long: at most 64 KB, this is 65 KB."));
    }

    #[test]
    fn a_target_is_a_path_in_the_project() {
        let check = |path: &str, expected: Result<&str, &str>| {
            let target = ask(FlowId::CodeReview, path, "", false).map(|request| request.target);
            let found = target.as_ref().map(|target| target.path()).map_err(String::as_str);
            assert_eq!(found, expected, "{path:?}");
        };
        check("", Ok(""));
        check(".", Ok(""));
        check(" ./src//a.rs/ ", Ok("src/a.rs"));
        check("src/Arena", Ok("src/Arena"));
        check("../other", Err("../other is not a path in the project's folder."));
        check("src/../../x", Err("src/../../x is not a path in the project's folder."));
        check("/etc/passwd", Err("/etc/passwd is not a path in the project's folder."));
        check("~/x", Err("~/x is not a path in the project's folder."));
        check("a\0b", Err("The target is a path in the project."));
        check("Arena/x", Err("Arena/ holds old answers, and they are no evidence. Choose another target."));
        check(&"a".repeat(2000), Err("The target is a path in the project."));
    }
}

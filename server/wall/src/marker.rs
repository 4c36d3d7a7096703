//! How a process says whose it is, wherever it has gone.

use std::fmt;

/// The environment variable that every process of a task inherits.
pub const VARIABLE: &str = "BOOCODE_TASK";

/// Which attempt at which task, and whose: `owner/task.attempt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    owner: String,
    task: String,
    attempt: u32,
}

impl Marker {
    /// `owner` is one data directory's or one instance's own name; a task's has no slash.
    pub fn new(owner: impl Into<String>, task: impl fmt::Display, attempt: u32) -> Self {
        Self { owner: owner.into(), task: task.to_string(), attempt }
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}.{}", self.owner, self.task, self.attempt)
    }
}

/// Whose processes are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whose<'a> {
    Owner(&'a str),
    Task(&'a Marker),
}

impl Whose<'_> {
    /// `environ` is as the kernel shows it: assignments, each ended by a zero.
    pub(crate) fn is_in(self, environ: &[u8]) -> bool {
        let value = |entry: &[u8]| -> Option<String> {
            let value = entry.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"=")?;
            Some(String::from_utf8_lossy(value).into_owned())
        };
        environ.split(|byte| *byte == 0).filter_map(value).any(|value| match self {
            Whose::Owner(owner) => value.rsplit_once('/').is_some_and(|(of, _)| of == owner),
            Whose::Task(marker) => value == marker.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_whole() {
        let check = |environ: &str, task: bool, owner: bool| {
            let marker = Marker::new("box", "t1", 2);
            let environ = environ.as_bytes();
            assert_eq!(
                (Whose::Task(&marker).is_in(environ), Whose::Owner("box").is_in(environ)),
                (task, owner)
            );
        };
        check("BOOCODE_TASK=box/t1.2\0", true, true);
        check("A=b\0BOOCODE_TASK=box/t1.2\0C=d\0", true, true);
        check("BOOCODE_TASK=box/t1.22\0", false, true);
        check("BOOCODE_TASK=box/t1.1\0", false, true);
        check("BOOCODE_TASK=boxes/t1.2\0", false, false);
        check("BOOCODE_TASK=box/two/t1.2\0", false, false);
        check("BOOCODE_TASK=box\0", false, false);
        check("XBOOCODE_TASK=box/t1.2\0", false, false);
        check("A=BOOCODE_TASK=box/t1.2\0", false, false);
        check("", false, false);
    }
}

//! What a project's worktrees begin with besides its files: what is copied into them, what is run there first, and
//! how work in them is checked.

use serde::{Deserialize, Serialize};

use crate::Rejected;

const PATHS_MAX: usize = 50;
const PATH_BYTES_MAX: usize = 1_024;
pub const COMMAND_BYTES_MAX: usize = 8 * 1_024;
/// How long the setup command may take.
pub const SECONDS_MAX: u64 = 600;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// Files that git does not have, such as `.env`: paths in the project.
    pub copy: Vec<String>,
    /// For a shell, in every new worktree. Empty: none.
    pub command: String,
    /// For a shell: ends well where the work is good. Empty: none.
    pub check: String,
}

/// As a person typed it: one path a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Typed {
    pub copy: String,
    pub command: String,
    pub check: String,
}

impl Setup {
    pub fn parse(typed: &Typed) -> Result<Self, Rejected> {
        let mut copy: Vec<String> = Vec::new();
        for line in typed.copy.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let path = path(line)?;
            if !copy.contains(&path) {
                copy.push(path);
            }
        }
        if copy.len() > PATHS_MAX {
            return Err(invalid(format!("At most {PATHS_MAX} files are copied; these are {}.", copy.len())));
        }
        Ok(Self {
            copy,
            command: command("setup command", &typed.command)?,
            check: command("check command", &typed.check)?,
        })
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What there is of it, for a list.
    pub fn words(&self) -> String {
        let copies = match self.copy.len() {
            0 => None,
            1 => Some(format!("copies {}", self.copy[0])),
            count => Some(format!("copies {count} files")),
        };
        let command = (!self.command.is_empty()).then(|| "runs a command".to_owned());
        let check = (!self.check.is_empty()).then(|| "has a check".to_owned());
        let all: Vec<_> = [copies, command, check].into_iter().flatten().collect();
        if all.is_empty() { "nothing set up".to_owned() } else { all.join(", ") }
    }
}

impl From<&Setup> for Typed {
    fn from(setup: &Setup) -> Self {
        Self { copy: setup.copy.join("\n"), command: setup.command.clone(), check: setup.check.clone() }
    }
}

/// A path that stays in the project, whatever its files are.
fn path(line: &str) -> Result<String, Rejected> {
    let shown: String = line.chars().take(80).collect();
    if line.len() > PATH_BYTES_MAX {
        return Err(invalid(format!("The path {shown}… is too long.")));
    }
    if line.starts_with('/') || line.starts_with('~') {
        return Err(invalid(format!(
            "{shown} is not a path in the project: write it from the project's folder on, such as .env."
        )));
    }
    if line.chars().any(char::is_control) {
        return Err(invalid(format!(
            "The path {} holds a character that cannot be seen.",
            shown.escape_debug()
        )));
    }
    let parts: Vec<_> = line.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(invalid(format!("{shown} leads out of the project.")));
    }
    if parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return Err(invalid(format!("{shown} is git's own: a worktree has its own.")));
    }
    if parts.is_empty() || line.ends_with('/') {
        return Err(invalid(format!("{shown} is a folder: name the files in it.")));
    }
    Ok(parts.join("/"))
}

fn command(what: &str, typed: &str) -> Result<String, Rejected> {
    let command = typed.replace("\r\n", "\n").trim().to_owned();
    if command.len() > COMMAND_BYTES_MAX {
        return Err(invalid(format!("The {what} is too long: at most {} KB.", COMMAND_BYTES_MAX / 1_024)));
    }
    if command.contains('\0') {
        return Err(invalid(format!("The {what} holds a character with the code zero: take it out.")));
    }
    Ok(command)
}

fn invalid(words: String) -> Rejected {
    Rejected::Invalid(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_project() {
        let check = |typed: &str, expected: Result<&[&str], &str>| {
            let typed = Typed { copy: typed.into(), ..Typed::default() };
            match (Setup::parse(&typed), expected) {
                (Ok(setup), Ok(paths)) => assert_eq!(setup.copy, paths, "{typed:?}"),
                (Err(no), Err(words)) => assert!(no.to_string().contains(words), "{typed:?}: {no}"),
                (got, _) => panic!("{typed:?}: {got:?}"),
            }
        };
        check("", Ok(&[]));
        check(" .env \r\n\n./conf//local.toml\n.env\n", Ok(&[".env", "conf/local.toml"]));
        check("my notes.txt", Ok(&["my notes.txt"]));
        check("...", Ok(&["..."]));
        check("/etc/passwd", Err("not a path in the project"));
        check("~/.ssh/id", Err("not a path in the project"));
        check("a/../../b", Err("leads out"));
        check("..", Err("leads out"));
        check("conf/", Err("is a folder"));
        check(".", Err("is a folder"));
        check("sub/.GIT/config", Err("git's own"));
        check("a\u{7}b", Err("cannot be seen"));
        check(&"x".repeat(PATH_BYTES_MAX + 1), Err("too long"));
        let many: Vec<_> = (0..=PATHS_MAX).map(|n| format!("f{n}")).collect();
        check(&many.join("\n"), Err("At most 50 files"));
    }

    #[test]
    fn commands_are_kept_as_they_are_and_bounded() {
        let typed =
            Typed { command: "  npm ci\r\nmake\n".into(), check: "make test".into(), ..Typed::default() };
        let setup = Setup::parse(&typed).unwrap();
        assert_eq!((setup.command.as_str(), setup.check.as_str()), ("npm ci\nmake", "make test"));
        assert_eq!(Setup::parse(&Typed::from(&setup)).unwrap(), setup, "what is shown can be saved again");
        let check = |typed: Typed, words: &str| {
            let no = Setup::parse(&typed).unwrap_err().to_string();
            assert!(no.contains(words), "{no}");
        };
        let long = "x".repeat(COMMAND_BYTES_MAX + 1);
        check(Typed { command: long.clone(), ..Typed::default() }, "The setup command is too long");
        check(Typed { check: long, ..Typed::default() }, "The check command is too long");
        check(Typed { command: "a\0b".into(), ..Typed::default() }, "code zero");
    }

    #[test]
    fn a_list_tells_what_there_is() {
        let check = |setup: Setup, words: &str| assert_eq!(setup.words(), words);
        check(Setup::default(), "nothing set up");
        let copy = vec![".env".to_owned()];
        check(Setup { copy: copy.clone(), ..Setup::default() }, "copies .env");
        let all = Setup { copy: [copy.clone(), copy].concat(), command: "a".into(), check: "b".into() };
        check(all, "copies 2 files, runs a command, has a check");
    }
}

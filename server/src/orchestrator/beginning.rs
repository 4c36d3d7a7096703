//! What is looked up before the first step, all of it in what was recorded.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use domain::{
    Rejected,
    flow::{
        Diff, FlowId, SignalSearch, Signals, brief::find_template, request::Target, signal::FILE_BYTES_MAX,
    },
};

/// What is not found until then counts as not there, and that is said.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(5);

/// What is longer is passed over as a whole: it would have to be read whole to know its beginning.
const READ_BYTES_MAX: u64 = 4 * FILE_BYTES_MAX as u64;

/// A project as it is now, as far as a plan needs it.
pub(super) struct Beginning {
    /// The project's commit.
    pub base: String,
    /// The commit since which something was changed.
    pub since: Option<String>,
    pub template: Option<String>,
    pub signals: Signals,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum NoBeginning {
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

impl Beginning {
    /// Records the project in `folder` and looks through what was recorded.
    pub fn of(
        project: &Path,
        folder: &Path,
        id: &str,
        flow: FlowId,
        target: &Target,
    ) -> Result<Self, NoBeginning> {
        let snapshot = git::Snapshot::take(folder, id, project, true, &git::Limits::default())?;
        let paths = snapshot.paths()?;
        // What battles left is no evidence, even where git has it.
        let old = tools::old_answers(project);
        let is_old = |path: &&str| old.iter().any(|old| Path::new(path).starts_with(old));
        let paths = paths.iter().filter_map(|path| std::str::from_utf8(path).ok());
        let paths: Vec<&str> = paths.filter(|path| !is_old(path)).collect();
        let within: Vec<&str> = paths.iter().copied().filter(|path| is_in(path, target.path())).collect();
        if within.is_empty() && !target.path().is_empty() {
            return Err(Rejected::Invalid(format!("There is no {} in the project.", target.path())).into());
        }
        let since = match flow.flow().diff {
            Diff::Unused => None,
            Diff::Used | Diff::Needed => snapshot.since(target.path())?,
        };
        // Only a description of a change has a template.
        let template = (flow.flow().diff == Diff::Needed).then(|| find_template(&paths)).flatten();
        Ok(Self {
            base: snapshot.base().to_owned(),
            since,
            template: template.map(str::to_owned),
            signals: search(&snapshot.reader()?, &within)?,
        })
    }
}

fn is_in(path: &str, target: &str) -> bool {
    let below = path.strip_prefix(target);
    target.is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn search(reader: &git::Reader, paths: &[&str]) -> Result<Signals, git::Error> {
    let (began, mut search) = (Instant::now(), SignalSearch::default());
    for path in paths {
        if search.is_over() {
            break;
        }
        if began.elapsed() > SEARCH_TIME_MAX {
            let mut signals = search.finish();
            signals.is_partial = true;
            return Ok(signals);
        }
        if !search.wants_text(path) {
            search.look(path, "");
            continue;
        }
        match reader.text(path.as_bytes(), READ_BYTES_MAX)? {
            // What holds a zero is no text, and no line of it could be kept.
            Some(text) if !text.contains(&0) => search.look(path, &String::from_utf8_lossy(&text)),
            _ => search.pass_over(path),
        }
    }
    Ok(search.finish())
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    /// Of a project with one file.
    fn signals(text: &[u8]) -> Signals {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        fs::write(project.join("a.rs"), text).unwrap();
        for arguments in [
            &["init", "-q"][..],
            &["add", "."],
            &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "first"],
        ] {
            let done = Command::new("git").args(arguments).current_dir(&project).status().unwrap();
            assert!(done.success(), "{arguments:?}");
        }
        let at = folder.path().join("recorded");
        let target = Target::new("").unwrap();
        Beginning::of(&project, &at, "one", FlowId::CodeReview, &target).unwrap().signals
    }

    /// What a file says that nobody can read is not known to be absent.
    #[test]
    fn a_file_that_is_too_long_to_be_searched_is_told() {
        let check = |bytes: usize, is_partial: bool| {
            assert_eq!(signals("x".repeat(bytes).as_bytes()).is_partial, is_partial, "{bytes} bytes");
        };
        check(1_000, false);
        check(READ_BYTES_MAX as usize, true);
        check(READ_BYTES_MAX as usize + 1, true);
    }

    /// A database keeps no text with a zero in it, so a run with such a signal could not be launched.
    #[test]
    fn of_a_file_that_is_no_text_no_line_is_kept() {
        let check = |text: &str, found: usize| {
            let signals = signals(text.as_bytes());
            assert_eq!((signals.found.len(), signals.is_partial), (found, found == 0), "{text:?}");
        };
        check("let mutex = 1;", 1);
        check("let mutex = 1;\0", 0);
        check("let mutex = 1;\nlet x = '\0';", 0);
    }

    #[test]
    fn a_target_is_a_file_or_a_folder() {
        let check = |path: &str, target: &str, expected: bool| {
            assert_eq!(is_in(path, target), expected, "{path} in {target}");
        };
        check("src/a.rs", "", true);
        check("src/a.rs", "src", true);
        check("src/a.rs", "src/a.rs", true);
        check("src-old/a.rs", "src", false);
        check("a.rs", "src/a.rs", false);
    }
}

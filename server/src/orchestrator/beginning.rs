//! What is looked up before the first step, all of it in what was recorded.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use domain::{
    Rejected,
    flow::{Diff, FlowId, SignalSearch, Signals, brief::TEMPLATES, request::Target, signal::FILE_BYTES_MAX},
};

/// What is not found until then counts as not there, and that is said.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(5);

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
        let paths: Vec<&str> = paths.iter().filter_map(|path| std::str::from_utf8(path).ok()).collect();
        let within: Vec<&str> = paths.iter().copied().filter(|path| is_in(path, target.path())).collect();
        if within.is_empty() && !target.path().is_empty() {
            return Err(Rejected::Invalid(format!("There is no {} in the project.", target.path())).into());
        }
        let since = match flow.flow().diff {
            Diff::Unused => None,
            Diff::Used | Diff::Needed => snapshot.since()?,
        };
        // Only a description of a change has a template.
        let template = (flow.flow().diff == Diff::Needed)
            .then(|| TEMPLATES.into_iter().find(|template| paths.contains(template)))
            .flatten();
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
        let text = match search.wants_text(path) {
            // A little more, so that it is known that there is more.
            true => reader.text(path.as_bytes(), 4 * FILE_BYTES_MAX as u64)?.unwrap_or_default(),
            false => Vec::new(),
        };
        search.look(path, &String::from_utf8_lossy(&text));
    }
    Ok(search.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

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

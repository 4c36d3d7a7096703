//! What battles left in a project: answers that somebody gave before, which must not become evidence.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use domain::battle::names::is_results_folder;

/// Where battles leave their results. A project may have a folder of its own that is called so.
const FOLDER: &str = "Arena";
/// A prompt is part of it.
const MANIFEST_BYTES_MAX: u64 = 1024 * 1024;

/// The folders of a project that hold the results of battles and nothing else, from the project's own folder on.
pub fn old_answers(project: &Path) -> Vec<PathBuf> {
    let arena = project.join(FOLDER);
    if !is_folder(&arena) {
        return Vec::new();
    }
    let (mut found, mut is_all_of_it) = (Vec::new(), true);
    for entry in fs::read_dir(&arena).into_iter().flatten().flatten() {
        match entry.file_name() {
            name if is_results(&entry.path()) => found.push(Path::new(FOLDER).join(name)),
            name => is_all_of_it &= name == ".gitignore",
        }
    }
    if is_all_of_it { vec![FOLDER.into()] } else { found }
}

fn is_results(folder: &Path) -> bool {
    let manifest = folder.join("manifest.json");
    let is_file = fs::symlink_metadata(&manifest).is_ok_and(|known| known.is_file());
    if !is_folder(folder) || !is_file {
        return false;
    }
    let mut text = Vec::new();
    let read = File::open(manifest).and_then(|file| file.take(MANIFEST_BYTES_MAX).read_to_end(&mut text));
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    read.is_ok() && is_results_folder(&name, &text)
}

/// A link to one is none: what it leads to is somebody else's.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|known| known.is_dir())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const RESULTS: &str = "2026-07-30-qa-aabbccdd";
    const MANIFEST: &str = r#"{"id": "00000000-0000-4000-8000-0000aabbccdd", "battle_type": "qa"}"#;

    #[test]
    fn only_what_battles_left_is_found() {
        let check = |paths: &[&str], expected: &[&str]| {
            let project = tempfile::tempdir().unwrap();
            for path in paths {
                let place = project.path().join(path);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                fs::write(place, MANIFEST).unwrap();
            }
            let found = old_answers(project.path());
            assert_eq!(found, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{paths:?}");
        };
        let manifest = format!("Arena/{RESULTS}/manifest.json");
        let results = format!("Arena/{RESULTS}");
        check(&["src/a.rs"], &[]);
        check(&[&manifest, "Arena/.gitignore"], &["Arena"]);
        check(&[&manifest, "Arena/stage.rs"], &[&results]);
        check(&["Arena/stage.rs", "Arena/doors/manifest.json"], &[]);
        check(&[&format!("src/Arena/{RESULTS}/manifest.json")], &[]);
    }

    #[test]
    fn what_a_link_leads_to_is_not_taken_for_it() {
        let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(outside.path().join("Arena")).unwrap();
        symlink(outside.path().join("Arena"), project.path().join("Arena")).unwrap();
        assert_eq!(old_answers(project.path()), [] as [PathBuf; 0]);
        // The control.
        assert_eq!(old_answers(outside.path()), [PathBuf::from("Arena")]);
    }
}

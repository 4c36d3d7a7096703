use std::{fs, os::unix::fs::symlink, path::PathBuf, process::Command};

use git2::Repository;
use rustix::fs::{CWD, Mode, mkfifoat};
use tempfile::TempDir;

use super::*;
use crate::test_program::write_program;

struct Project {
    folder: TempDir,
    repository: Repository,
}

fn project(files: &[&str]) -> Project {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::init(folder.path().join("repo")).unwrap();
    let project = Project { folder, repository };
    files.iter().for_each(|file| project.write(file, "x"));
    project
}

impl Project {
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join("repo").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn track(&self, path: &str) {
        let mut index = self.repository.index().unwrap();
        index.add_path(Path::new(path)).unwrap();
        index.write().unwrap();
    }

    fn roots(&self) -> AllowedRoots {
        AllowedRoots::new(&[self.folder.path().to_owned()]).unwrap()
    }

    fn path(&self) -> String {
        self.at("").canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    fn listed(&self) -> Listing {
        list_files(&self.path(), &self.roots()).unwrap()
    }

    fn expect(&self, expected: &[&str]) {
        let mut found: Vec<_> =
            self.listed().find("", usize::MAX).files.into_iter().map(|file| file.path).collect();
        found.sort();
        assert_eq!(found, expected);
    }
}

#[test]
fn what_git_tracks_and_what_it_does_not_ignore() {
    let project = project(&["src/main.rs", "target/out.o", "target/kept.txt", "notes.log", "docs/ä b.md"]);
    project.write(".gitignore", "target/\n*.log\n!a.log\n");
    project.write("docs/.gitignore", "*.tmp\n");
    project.write("docs/a.log", "");
    project.write("docs/a.tmp", "");
    project.track("target/kept.txt");
    project.write("gone.txt", "");
    project.track("gone.txt");
    fs::remove_file(project.at("gone.txt")).unwrap();
    project.expect(&[
        ".gitignore",
        "docs/.gitignore",
        "docs/a.log",
        "docs/ä b.md",
        "src/main.rs",
        "target/kept.txt",
    ]);
}

#[test]
fn results_and_other_repositories_are_not_the_projects_files() {
    let results = "Arena/2026-07-30-qa-aabbccdd";
    let project = project(&[&format!("{results}/result.md"), "src/Arena/ok.rs", "vendor/other/lib.c"]);
    let manifest = r#"{"id": "00000000-0000-4000-8000-0000aabbccdd", "battle_type": "qa"}"#;
    project.write(&format!("{results}/manifest.json"), manifest);
    Repository::init(project.at("vendor/other")).unwrap();
    project.expect(&["src/Arena/ok.rs"]);
    // The folder may be the project's own.
    project.write("Arena/stage.rs", "");
    project.expect(&["Arena/stage.rs", "src/Arena/ok.rs"]);
}

/// The control is the plain file and folder beside each.
#[test]
fn links_pipes_and_what_they_lead_to_are_left_out() {
    let project = project(&["file", "folder/in", "piped/in"]);
    fs::create_dir(project.folder.path().join("outside")).unwrap();
    fs::write(project.folder.path().join("outside/secret"), "").unwrap();
    symlink(project.folder.path().join("outside"), project.at("link")).unwrap();
    symlink("file", project.at("link_to_file")).unwrap();
    symlink("/", project.at("folder/root")).unwrap();
    mkfifoat(CWD, project.at("pipe"), Mode::RWXU).unwrap();
    // Rules that are a pipe: reading them would never end.
    mkfifoat(CWD, project.at("piped/.gitignore"), Mode::RWXU).unwrap();
    project.track("piped/in");
    project.write("piped/untracked", "");
    project.expect(&["file", "folder/in", "piped/in"]);
}

/// Nothing that a repository names is started; the control is git itself, which starts it.
#[test]
fn a_hostile_repository_starts_nothing() {
    let project = project(&["a.txt", "b.txt"]);
    project.track("a.txt");
    let (script, mark) = (project.folder.path().join("evil.sh"), project.folder.path().join("started"));
    write_program(&script, &format!("touch {}", mark.display()));
    let mut config = project.repository.config().unwrap();
    let script = script.to_str().unwrap();
    for name in ["core.fsmonitor", "filter.evil.clean", "filter.evil.process", "core.askpass"] {
        config.set_str(name, script).unwrap();
    }
    project.write(".gitattributes", "* filter=evil\n");
    fs::copy(script, project.at(".git/hooks/post-index-change")).unwrap();
    project.write("a.txt", "changed");

    project.expect(&[".gitattributes", "a.txt", "b.txt"]);
    assert!(!mark.exists());
    Command::new("git").arg("-C").arg(project.at("")).arg("status").output().unwrap();
    assert!(mark.exists(), "the control: git starts what the repository names");
}

#[test]
fn a_project_that_became_something_else_is_not_listed() {
    let project = project(&["file"]);
    let path = project.path();
    assert!(list_files(&path, &project.roots()).is_ok(), "the control");
    fs::rename(&path, project.folder.path().join("moved")).unwrap();
    assert!(list_files(&path, &project.roots()).is_err());
    symlink(project.folder.path().join("moved"), &path).unwrap();
    assert!(list_files(&path, &project.roots()).unwrap_err().contains("no longer"));
}

#[test]
fn a_search_tells_the_best_and_how_many_there_are() {
    let paths: Vec<String> = (0..50).map(|n| format!("src/file_{n:02}.rs")).collect();
    let found = Listing::new(&paths, true).find("f 07", 3);
    assert_eq!((found.total, found.is_cut), (1, true));
    assert_eq!(found.files, [app::files::Found { path: "src/file_07.rs".into(), positions: vec![4, 9, 10] }]);
    let found = Listing::new(&paths, false).find("file", 3);
    assert_eq!((found.total, found.files.len(), found.is_cut), (50, 3, false));
}

#[tokio::test]
async fn a_list_is_kept_made_anew_and_forgotten() {
    let project = project(&["one"]);
    let files = ProjectFiles::new(project.roots());
    let find = async || files.find(project.path(), "o".into(), 9).await.unwrap().total;
    assert_eq!(find().await, 1);
    project.write("other", "");
    assert_eq!(find().await, 1, "the list is young");
    if let Some(kept) = guard(&files.lists).get_mut(&project.path()) {
        kept.stale = Some(Instant::now());
    }
    let mut tries = 0;
    while find().await != 2 {
        tries += 1;
        assert!(tries < 1_000, "it is not made anew");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let missing = files.find("/nowhere".into(), String::new(), 9).await.unwrap_err();
    assert!(missing.to_string().contains("/nowhere"), "{missing}");
    assert!(guard(&files.lists).len() == 2);
    for n in 0..LISTS_MAX + 3 {
        let _ = files.find(format!("/nowhere/{n}"), String::new(), 9).await;
    }
    let lists = guard(&files.lists);
    assert!(lists.len() <= LISTS_MAX && !lists.contains_key("/nowhere"), "{:?}", lists.keys());
}

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Command, Output, Stdio},
    time::{Duration, SystemTime},
};

use tempfile::TempDir;

use super::{super::Git, *};
use crate::Answer;

fn check(command: &str, expected: Result<&str, &str>) {
    let words = arguments(command).map(|words| words[SETTINGS.len()..].join(" "));
    let expected = expected.map(str::to_owned).map_err(Wrong::new);
    assert_eq!(words, expected, "{command}");
}

#[test]
fn only_looks_are_let_through() {
    let safe = "--no-ext-diff --no-textconv --ignore-submodules=dirty";
    check("git status --short", Ok("status --ignore-submodules=dirty --short"));
    check("diff HEAD~1 -- --output", Ok(&format!("diff {safe} HEAD~1 -- --output")));
    check("log -3 -p --format=%h", Ok(&format!("log {safe} -3 -p --format=%h")));
    check("blame -L1,5 a", Ok("blame --no-textconv -L1,5 a"));
    for option in ["-v", "-sv", "-vv"] {
        let words = format!("git status cannot be asked with {option} here.");
        check(&format!("status {option}"), Err(&words));
    }
    let verbs = "Only status, diff, log, show, blame can be asked here.";
    check("push origin", Err(verbs));
    check("-c alias.status=!touch status", Err(verbs));
    check("", Err(verbs));
    for option in ["--output=x", "--outp=x", "--ext-diff", "--textconv", "--no-index", "-Ox"] {
        let words = format!("git diff cannot be asked with {option} here.");
        check(&format!("diff {option}"), Err(&words));
    }
}

/// By this name it is a hook too.
const TRAP: &str = "hooks/post-index-change";

/// A repository with a signed merge, a submodule and changed files. What is set in it to its trap leaves a trace when
/// it is started.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let made = Self(tempfile::tempdir().unwrap());
        let trace = made.at("sprung");
        made.write(TRAP, &format!("#!/bin/sh\ntouch {}\n", trace.display()));
        fs::set_permissions(made.at(TRAP), fs::Permissions::from_mode(0o755)).unwrap();
        let attributes = "*.rs diff=evil filter=e=v.il merge=evil\n";
        made.write("sub/.gitattributes", attributes);
        made.write("sub/a.rs", "sub\n");
        made.commit("sub");
        made.write(".gitattributes", attributes);
        made.write("lib.rs", "one\ntwo\n");
        made.write("kept.rs", "kept\n");
        made.write("kept.txt", "kept\n");
        made.commit(".");
        made.merge();
        made.sign();
        made.write("lib.rs", "three\ntwo\n");
        made.write("sub/a.rs", "bus\n");
        made
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn commit(&self, folder: &str) {
        self.git(&["init", "-q", folder]);
        for arguments in [&["add", "."][..], &["commit", "-qm", "first"]] {
            self.git(&[&["-C", folder][..], arguments].concat());
        }
    }

    /// Both sides change one line.
    fn merge(&self) {
        self.git(&["checkout", "-qb", "side"]);
        self.write("lib.rs", "there\ntwo\n");
        self.git(&["commit", "-qam", "there"]);
        self.git(&["checkout", "-qb", "main", "HEAD~1"]);
        self.write("lib.rs", "here\ntwo\n");
        self.git(&["commit", "-qam", "here"]);
        self.git(&["merge", "-q", "-s", "ours", "-m", "merged", "side"]);
    }

    /// Makes the last commit one that somebody signed.
    fn sign(&self) {
        let commit = self.git(&["cat-file", "commit", "HEAD"]);
        let (head, message) = commit.split_once("\n\n").unwrap();
        let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEz\n -----END PGP SIGNATURE-----";
        self.write(".git/signed", &format!("{head}\n{signature}\n\n{message}"));
        let signed = self.git(&["hash-object", "-t", "commit", "-w", ".git/signed"]);
        self.git(&["update-ref", "HEAD", signed.trim()]);
    }

    /// As anybody calls it.
    fn plain(&self, arguments: &[&str]) -> Output {
        let mut git = Command::new("git");
        git.current_dir(self.0.path()).args(["-c", "user.name=A", "-c", "user.email=a@b"]);
        git.args(arguments).stdin(Stdio::null()).output().unwrap()
    }

    fn git(&self, arguments: &[&str]) -> String {
        let done = self.plain(arguments);
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn asked(&self, command: &str) -> Answer {
        super::super::git(self.0.path(), &Git { command: command.into() })
    }

    fn is_sprung(&self) -> bool {
        fs::remove_file(self.at("sprung")).is_ok()
    }

    /// Sets `settings`, where `@` is the trap. Whoever asks for `command` here does not spring it, anybody else does.
    fn check(&self, settings: &[&str], command: &str) {
        let trap = self.at(TRAP);
        for setting in settings {
            let (name, value) = setting.split_once(' ').unwrap();
            let (folder, name) = name.split_once(':').unwrap_or((".", name));
            self.git(&["-C", folder, "config", name, &value.replace('@', trap.to_str().unwrap())]);
        }
        // A file that looks changed is read again.
        for file in ["kept.rs", "kept.txt", "lib.rs", "sub/a.rs"] {
            let file = fs::File::options().write(true).open(self.at(file)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
        }
        let index = || fs::read(self.at(".git/index")).unwrap();
        let before = index();
        let answer = self.asked(command);
        assert!(!self.is_sprung(), "{settings:?} {command}: {}", answer.text);
        assert_eq!(index(), before, "{command}: a look leaves no trace");
        self.plain(&command.split(' ').collect::<Vec<_>>());
        assert!(self.is_sprung(), "the control: {settings:?} {command}");
    }
}

#[test]
fn nothing_is_started_that_a_repository_names() {
    let check = |settings: &[&str], command| Repository::new().check(settings, command);
    check(&["core.fsmonitor @"], "status");
    check(&["diff.external @"], "diff");
    check(&["diff.evil.textconv @"], "status -vv");
    for command in ["diff", "show HEAD~1", "log -p", "blame lib.rs"] {
        check(&["diff.evil.textconv @"], command);
    }
    for command in ["diff", "status", "blame lib.rs"] {
        check(&["filter.e=v.il.clean @", "filter.e=v.il.required true"], command);
        check(&["filter.e=v.il.process @"], command);
    }
    check(&["gpg.program @"], "log --format=%G?");
    check(&["gpg.openpgp.program @"], "show --format=%G?");
    check(&["gpg.program @", "log.showSignature true"], "log");
    check(&["merge.evil.driver @", "log.diffMerges remerge"], "show -m");
    for command in ["status", "diff"] {
        check(&["sub:filter.e=v.il.clean @"], command);
    }
    check(&["sub:diff.evil.textconv @", "diff.submodule diff"], "diff");
}

/// They come when the index is written.
#[test]
fn no_hook_is_started() {
    for command in ["status", "diff kept.txt"] {
        Repository::new().check(&["core.hooksPath hooks"], command);
    }
}

#[test]
fn no_object_is_fetched() {
    let repository = Repository::new();
    let missing = repository.git(&["rev-parse", "HEAD~1:lib.rs"]);
    let (folder, name) = missing.trim().split_at(2);
    fs::remove_file(repository.at(".git/objects").join(folder).join(name)).unwrap();
    let lazily = [
        "core.repositoryformatversion 1",
        "extensions.partialClone evil",
        "remote.evil.promisor true",
        "remote.evil.url .",
        "remote.evil.uploadpack @",
    ];
    repository.check(&lazily, "show HEAD~1:lib.rs");
}

#[test]
fn what_is_there_is_told() {
    let repository = Repository::new();
    repository.git(&["config", "filter.e=v.il.clean", "tr a-z A-Z"]);
    let diff = repository.asked("diff");
    assert!(!diff.failed && diff.text.contains("+three"), "{}", diff.text);
    assert!(repository.asked("diff --output=stolen HEAD").failed && !repository.at("stolen").exists());
    repository.git(&["diff", "--output=stolen", "HEAD"]);
    assert!(repository.at("stolen").exists(), "the control");
}

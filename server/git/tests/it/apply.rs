//! Onto the project's files: all or nothing, and nothing of the user's is lost.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use git::{Applied, Author, Error, Limits, Reason, Refused, Worktree};
use proptest::prelude::*;

use crate::harness::{Files, Ground, config, files, fill, write};

fn apply(ground: &Ground, worktree: &Worktree) -> Result<Applied, Error> {
    worktree.apply_to_working_tree(&ground.project(), || true, &Limits::default())
}

/// The conflicts, after a look that nothing changed.
#[track_caller]
fn conflicts(ground: &Ground, worktree: &Worktree) -> Vec<(String, Reason)> {
    let before = files(&ground.project());
    let Err(Error::Conflicts(all)) = apply(ground, worktree) else { panic!("it was applied") };
    assert_eq!(files(&ground.project()), before, "nothing changes");
    all.into_iter().map(|one| (git::display(&one.path), one.reason)).collect()
}

#[test]
fn every_kind_of_change_goes_in_and_the_index_stays() {
    let ground = Ground::new(&[
        ("edited", "one\n"),
        ("gone/x", "x\n"),
        ("moved", &"line\n".repeat(20)),
        ("program", "p\n"),
        ("folder/x", "x\n"),
        ("file", "f\n"),
        ("mine", "m\n"),
    ]);
    ground.write("mine", "staged\n");
    ground.git(&["add", "mine"]);
    ground.write("mine", "mine\n");
    let index = fs::read(ground.at(".git/index")).unwrap();
    let worktree = ground.worktree("w");
    let at = |name: &str| worktree.tree().join(name);
    fs::write(at("edited"), "two\n").unwrap();
    fs::remove_dir_all(at("gone")).unwrap();
    fs::create_dir(at("to")).unwrap();
    fs::rename(at("moved"), at("to/here")).unwrap();
    fs::set_permissions(at("program"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(at("folder")).unwrap();
    fs::write(at("folder"), b"\0now a file\n").unwrap();
    fs::remove_file(at("file")).unwrap();
    write(&worktree.tree(), b"file/now/a", b"folder\n");
    symlink("edited", at("link")).unwrap();

    let mut expected = files(&worktree.tree());
    expected.insert(b"mine".to_vec(), (0o100644, b"mine\n".to_vec()));
    let applied = apply(&ground, &worktree).unwrap();
    assert_eq!(applied.changed.len(), 10);
    assert_eq!(files(&ground.project()), expected);
    assert!(!ground.at("gone").exists(), "an emptied folder goes too");
    assert_eq!(fs::read(ground.at(".git/index")).unwrap(), index);

    let again = apply(&ground, &worktree).unwrap();
    assert_eq!((again.changed.len(), again.unchanged.len()), (0, 10));
}

#[test]
fn changes_of_both_are_put_together_where_they_can() {
    let ground = Ground::new(&[("a", "1\n2\n3\n4\n5\n6\n7\n8\n")]);
    let worktree = ground.worktree("w");
    fs::write(worktree.tree().join("a"), "1\n2\n3\n4\n5\n6\n7\nagent\n").unwrap();
    ground.write("a", "mine\n2\n3\n4\n5\n6\n7\n8\n");
    fs::set_permissions(ground.at("a"), fs::Permissions::from_mode(0o755)).unwrap();
    apply(&ground, &worktree).unwrap();
    assert_eq!(files(&ground.project())[&b"a"[..]], (0o100755, b"mine\n2\n3\n4\n5\n6\n7\nagent\n".to_vec()));
}

/// `*.bat text eol=crlf`: git ends lines in CR LF where it checks a file out, and commits them without.
#[test]
fn lines_that_git_ends_otherwise_are_no_change_of_the_users() {
    let ground = Ground::new(&[
        (".gitattributes", "*.bat text eol=crlf\n"),
        ("edited.bat", "1\n2\n3\n4\n5\n"),
        ("merged.bat", "1\n2\n3\n4\n5\n"),
        ("gone.bat", "1\n"),
        ("same.bat", "1\n"),
        ("mixed.bat", "1\n2\n"),
    ]);
    for name in ["edited", "merged", "gone", "same", "mixed"] {
        fs::remove_file(ground.at(&format!("{name}.bat"))).unwrap();
    }
    ground.git(&["checkout", "-q", "--", "."]);
    assert_eq!(fs::read(ground.at("edited.bat")).unwrap(), b"1\r\n2\r\n3\r\n4\r\n5\r\n", "as git does");
    let worktree = ground.worktree("w");
    for name in ["edited.bat", "merged.bat"] {
        fs::write(worktree.tree().join(name), "1\n2\n3\n4\nagent\n").unwrap();
    }
    fs::remove_file(worktree.tree().join("gone.bat")).unwrap();
    fs::write(worktree.tree().join("same.bat"), "agent\n").unwrap();
    ground.write("merged.bat", "mine\r\n2\r\n3\r\n4\r\n5\r\n");
    ground.write("same.bat", "agent\r\n");
    let applied = apply(&ground, &worktree).unwrap();
    assert_eq!((applied.changed.len(), applied.unchanged.len()), (3, 1));
    let there = files(&ground.project());
    assert_eq!(there[&b"edited.bat"[..]].1, b"1\r\n2\r\n3\r\n4\r\nagent\r\n");
    assert_eq!(there[&b"merged.bat"[..]].1, b"mine\r\n2\r\n3\r\n4\r\nagent\r\n");
    assert!(!ground.at("gone.bat").exists());

    // Where only some lines end so, somebody wrote them.
    fs::write(worktree.tree().join("mixed.bat"), "agent\nagent\n").unwrap();
    ground.write("mixed.bat", "1\r\n2\n");
    let worktree = Worktree::open(worktree.folder()).unwrap();
    assert_eq!(conflicts(&ground, &worktree), [("mixed.bat".to_owned(), Reason::SameLines)]);
}

#[test]
fn each_conflict_has_its_reason_and_nothing_is_overwritten() {
    let names = ["lines", "binary", "deleted", "edited_there", "fine", "swapped"];
    let ground = Ground::new(&names.map(|name| (name, "1\n2\n")));
    let worktree = ground.worktree("w");
    for name in ["lines", "deleted", "fine", "swapped"] {
        fs::write(worktree.tree().join(name), "1\nagent\n").unwrap();
    }
    fs::write(worktree.tree().join("binary"), b"\0agent").unwrap();
    fs::remove_file(worktree.tree().join("edited_there")).unwrap();
    for name in ["new", "below/x", "where"] {
        write(&worktree.tree(), name.as_bytes(), b"agent\n");
    }

    ground.write("lines", "1\nmine\n");
    ground.write("binary", "\0mine");
    fs::remove_file(ground.at("deleted")).unwrap();
    ground.write("edited_there", "mine\n");
    ground.write("new", "mine\n");
    ground.write("below", "a file\n");
    ground.write("where/there", "is a folder\n");
    fs::remove_file(ground.at("swapped")).unwrap();
    fs::create_dir(ground.at("swapped")).unwrap();
    let mut found = conflicts(&ground, &worktree);
    found.sort();
    assert_eq!(
        found,
        [
            ("below/x", Reason::InTheWay),
            ("binary", Reason::NotText),
            ("deleted", Reason::GoneThere),
            ("edited_there", Reason::ChangedThere),
            ("lines", Reason::SameLines),
            ("new", Reason::AlreadyThere),
            ("swapped", Reason::InTheWay),
            ("where", Reason::InTheWay),
        ]
        .map(|(name, reason)| (name.to_owned(), reason))
    );
}

#[test]
fn an_unchanged_worktree_has_nothing_to_apply() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    let refused = apply(&ground, &worktree);
    assert!(matches!(refused, Err(Error::Refused(Refused::NothingToApply))), "{refused:?}");
}

/// What was looked at may be half of a change.
#[test]
fn nothing_goes_in_where_somebody_worked_meanwhile() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    fs::write(worktree.tree().join("a"), "agent\n").unwrap();
    let (project, limits) = (ground.project(), Limits::default());
    let by = Author { name: "A", email: "a@example.org" };
    let refused = worktree.apply_to_working_tree(&project, || false, &limits).map(drop);
    let branched = worktree.apply_as_commit(&project, "work", "m", by, || false, &limits).map(drop);
    for result in [refused, branched] {
        assert!(matches!(result, Err(Error::Refused(Refused::WorkedIn))), "{result:?}");
    }
    assert_eq!(fs::read_to_string(ground.at("a")).unwrap(), "one\n");
    assert!(ground.git(&["branch", "--list", "work"]).is_empty());
}

fn small() -> impl Strategy<Value = Files> {
    let file = prop_oneof![Just(b"1\n2\n3\n".to_vec()), Just(b"1\n".to_vec()), Just(b"\0".to_vec())];
    let name = prop_oneof![Just("a"), Just("b"), Just("a/b"), Just("a/c"), Just("c")];
    prop::collection::btree_map(name.prop_map(|name| name.as_bytes().to_vec()), file, 0..5).prop_map(|all| {
        let is_file_above = all.contains_key(&b"a"[..]);
        let fits = |path: &Vec<u8>| !(is_file_above && path.starts_with(b"a/"));
        all.into_iter().filter(|(path, _)| fits(path)).map(|(path, text)| (path, (0o100644, text))).collect()
    })
}

proptest! {
    #![proptest_config(config(32))]
    #[test]
    fn an_apply_is_whole_or_nothing(base in small(), agent in small(), mine in small()) {
        let ground = Ground::empty();
        fill(&ground.project(), &base);
        ground.commit("base");
        let worktree = ground.worktree("w");
        fill(&worktree.tree(), &agent);
        fill(&ground.project(), &mine);
        let result = apply(&ground, &worktree);
        let after = files(&ground.project());
        match result {
            Ok(_) => for path in base.keys().chain(agent.keys()).chain(mine.keys()) {
                let [was, wants, has] = [&base, &agent, &mine].map(|files| files.get(path));
                let merged = was != wants && was != has && wants != has;
                if !merged {
                    prop_assert_eq!(after.get(path), if was == wants { has } else { wants });
                }
            },
            Err(Error::Conflicts(_) | Error::Refused(Refused::NothingToApply)) => prop_assert_eq!(after, mine),
            Err(error) => prop_assert!(false, "{error}"),
        }
        prop_assert!(!ground.at(".boocode-apply-w").exists());
    }
}

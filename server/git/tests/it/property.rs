//! For random repositories and edits: git's own apply of our patch on the base gives the worktree exactly.

use git::{Author, Limits};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

use crate::harness::{Files, Ground, config, diff, files, fill};

/// Few names, so that files meet folders and links of the same name; some that git has to quote.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => Just(&b"a"[..]),
        4 => Just(&b"b"[..]),
        1 => Just(&b"with space"[..]),
        1 => Just(&b"end "[..]),
        1 => Just(&b"quo\"te\\"[..]),
        1 => Just(&b"t\tab"[..]),
        1 => Just("ümlaut".as_bytes()),
        1 => Just(&b"\xff\xfe"[..]),
        1 => Just(&b"new\nline"[..]),
        1 => Just(&b"-dash"[..]),
        1 => Just(&b"a.b"[..]),
    ];
    vec(part, 1..4).prop_map(|parts| parts.join(&b'/'))
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    const LINES: [&[u8]; 7] = [b"one", b"two", b"three\r", b"\xe9", b"", b"-- x", b"\\ y"];
    let line = select(&LINES[..]);
    let text = (vec(line, 0..30), any::<bool>()).prop_map(|(lines, ends)| {
        let mut text = lines.join(&b'\n');
        if ends && !text.is_empty() {
            text.push(b'\n');
        }
        text
    });
    prop_oneof![6 => text, 1 => vec(any::<u8>(), 0..300), 1 => Just(b"\0binary\n".to_vec())]
}

fn file() -> impl Strategy<Value = (u32, Vec<u8>)> {
    // None to itself: git, with its own patch too, cannot make such a link a folder.
    const TARGETS: [&[u8]; 5] = [b"nowhere", b"../x\xff", b".", b"/etc/passwd", b"c d/e"];
    let target = select(&TARGETS[..]).prop_map(<[u8]>::to_vec);
    prop_oneof![
        6 => content().prop_map(|content| (0o100644, content)),
        2 => content().prop_map(|content| (0o100755, content)),
        1 => target.prop_map(|target| (0o120000, target)),
    ]
}

/// What can lie in one folder: nothing beneath what is not a folder.
fn possible(all: impl IntoIterator<Item = (Vec<u8>, (u32, Vec<u8>))>) -> Files {
    let mut files = Files::new();
    for (path, file) in all {
        let is_above = |other: &Vec<u8>| {
            let (short, long) = if other.len() < path.len() { (other, &path) } else { (&path, other) };
            long.starts_with(short) && long.get(short.len()).is_none_or(|byte| *byte == b'/')
        };
        if !files.keys().any(is_above) {
            files.insert(path, file);
        }
    }
    files
}

fn tree() -> impl Strategy<Value = Files> {
    vec((name(), file()), 0..10).prop_map(possible)
}

#[derive(Clone, Debug)]
enum Edit {
    Append(Index, Vec<u8>),
    Move(Index, Vec<u8>),
    Remove(Index),
    Mode(Index),
    Put(Vec<u8>, (u32, Vec<u8>)),
}

fn edit() -> impl Strategy<Value = Edit> {
    let any = any::<Index>;
    prop_oneof![
        (any(), content()).prop_map(|(which, text)| Edit::Append(which, text)),
        (any(), name()).prop_map(|(which, to)| Edit::Move(which, to)),
        any().prop_map(Edit::Remove),
        any().prop_map(Edit::Mode),
        (name(), file()).prop_map(|(path, file)| Edit::Put(path, file)),
    ]
}

fn edited(before: &Files, edits: &[Edit]) -> Files {
    let mut all: Vec<_> = before.clone().into_iter().collect();
    for edit in edits {
        match edit {
            Edit::Put(path, file) => {
                all.retain(|(other, _)| other != path);
                all.insert(0, (path.clone(), file.clone()));
            }
            _ if all.is_empty() => {}
            Edit::Append(which, text) => {
                let at = which.index(all.len());
                // A link's target is short and without a zero.
                match all[at].1.0 {
                    0o120000 => all[at].1.1.push(b'x'),
                    _ => all[at].1.1.extend_from_slice(text),
                }
            }
            Edit::Move(which, to) => {
                let at = which.index(all.len());
                all[at].0 = to.clone();
            }
            Edit::Remove(which) => {
                all.remove(which.index(all.len()));
            }
            Edit::Mode(which) => {
                let at = which.index(all.len());
                all[at].1.0 = match all[at].1.0 {
                    0o100644 => 0o100755,
                    0o100755 => 0o100644,
                    other => other,
                };
            }
        }
    }
    possible(all)
}

proptest! {
    #![proptest_config(config(48))]
    #[test]
    fn our_patch_on_the_base_gives_the_worktree(before in tree(), edits in vec(edit(), 0..8)) {
        let ground = Ground::empty();
        fill(&ground.project(), &before);
        ground.commit("base");
        let worktree = ground.worktree("w");
        prop_assert_eq!(files(&worktree.tree()), before.clone(), "as it began");
        let after = edited(&before, &edits);
        fill(&worktree.tree(), &after);

        let diff = diff(&worktree);
        prop_assert_eq!(ground.applied(worktree.base(), &diff.patch), after.clone());
        let mut end = 0;
        for file in &diff.files {
            prop_assert_eq!(file.patch.start, end, "every byte of the patch is of one file");
            prop_assert!(diff.patch[file.patch.clone()].starts_with(b"diff --git "));
            end = file.patch.end;
        }
        prop_assert_eq!(end, diff.patch.len());
        prop_assert!(diff.left_out.is_empty());

        if !diff.files.is_empty() {
            let author = Author { name: "Ann", email: "ann@example.org" };
            let (project, limits) = (ground.project(), Limits::default());
            let commit = worktree.apply_as_commit(&project, "work", "m", author, || true, &limits).unwrap();
            prop_assert_eq!(ground.applied(&commit.id, b""), after.clone(), "as a commit");
            worktree.apply_to_working_tree(&project, || true, &limits).unwrap();
            prop_assert_eq!(files(&project), after, "onto the files");
        }
    }
}

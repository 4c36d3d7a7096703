//! What a patch may hold.

use super::patch;
use crate::diff::{
    Status,
    patch::{PATCH_BYTES_MAX, Patch, Unreadable},
};

fn check(text: &str, path: &str, old_path: Option<&str>, status: Status) {
    let patch = patch(text);
    let [file] = &patch.files[..] else { panic!("{} files in {text}", patch.files.len()) };
    assert_eq!(
        (file.path.as_str(), file.old_path.as_deref(), file.status),
        (path, old_path, status),
        "{text}"
    );
}

const HUNK: &str = "@@ -1 +1 @@\n-a\n+b\n";

#[test]
fn files_are_named_as_git_names_them() {
    let both = "--- a/x\n+++ b/x\n";
    check(&format!("diff --git a/x b/x\nindex 1..2 100644\n{both}{HUNK}"), "x", None, Status::Modified);
    check(&format!("{both}{HUNK}"), "x", None, Status::Modified);
    check(
        "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
        "y",
        Some("x"),
        Status::Renamed,
    );
    check("diff --git a/x b/y\ncopy from x\ncopy to y\n", "y", Some("x"), Status::Copied);
    check("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "x", None, Status::Modified);
    check("diff --git a/x b/x\nnew file mode 100644\nindex 0..e\n", "x", None, Status::Added);
    let added = "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n";
    check(added, "x", None, Status::Added);
    let deleted = "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n";
    check(deleted, "x", None, Status::Deleted);
    let blanks = format!("diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n{HUNK}");
    check(&blanks, "a b", None, Status::Modified);
    let quoted = "diff --git \"a/\\303\\244\\t\\\".rs\" \"b/\\303\\244\\t\\\".rs\"\n";
    check(&format!("{quoted}old mode 100644\nnew mode 100755\n"), "ä\t\".rs", None, Status::Modified);
    check("diff --git a/x b/x\r\nnew file mode 100644\r\n", "x", None, Status::Added);
    let invalid = b"diff --git \"a/\\377\" \"b/\\377\"\nnew file mode 100644\n".to_vec();
    assert_eq!(Patch::read(invalid).unwrap().files[0].path, "\u{fffd}");
}

#[test]
fn modes_binaries_and_counts_are_told() {
    let text = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nBinary files a/x and b/x differ\n\
        diff --git a/y b/y\nindex 1..2\nGIT binary patch\nliteral 3\nKc${Nk-Me}P\n\nliteral 0\nHcmV?d00001\n\n\
        diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -1,2 +1,3 @@ fn main()\n a\n-b\n+c\n+d\n";
    let patch = patch(text);
    assert_eq!(patch.files.len(), 3);
    assert_eq!(patch.files[0].modes, Some(("100644".to_owned(), "100755".to_owned())));
    assert!(patch.files[0].is_binary && patch.files[1].is_binary && !patch.files[2].is_binary);
    assert_eq!((patch.files[2].added, patch.files[2].removed), (2, 1));
    assert_eq!(patch.heading(&patch.hunks(&patch.files[2])[0]), "fn main()");
    // The patches of the files are the patch.
    let parts = patch.files.iter().flat_map(|file| patch.of_file(file)).copied().collect::<Vec<_>>();
    assert_eq!(String::from_utf8(parts).unwrap(), text);
}

#[test]
fn lines_that_look_like_headers_are_lines() {
    let text = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n--- a/y\n-diff --git a/z b/z\n+++ b/y\n+@@ -1 +1 @@\n \n";
    let patch = patch(text);
    assert_eq!((patch.files.len(), patch.files[0].added, patch.files[0].removed), (1, 2, 2));
}

#[test]
fn lines_without_a_newline_and_of_windows_are_told() {
    let text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n\\ No newline at end of file\n+a\n";
    let patch = patch(text);
    let hunk = &patch.hunks(&patch.files[0])[0];
    let [old, new] = patch.lines(hunk).map(|(line, _)| line).collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!((&*patch.text(old), patch.has_newline(old)), ("a\r", false));
    assert_eq!((&*patch.text(new), patch.has_newline(new)), ("a", true));
}

#[test]
fn what_is_no_patch_is_refused_in_words() {
    let check = |text: &str, words: &str| {
        let refused = Patch::read(text.as_bytes().to_vec()).unwrap_err();
        assert_eq!(refused.to_string(), words, "{text}");
    };
    check("hello\n", "Line 1 of the patch cannot be read: it is no patch.");
    check(
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n",
        "Line 4 of the patch cannot be read: the patch ends in the middle of a hunk.",
    );
    check(
        "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n+c\n",
        "Line 6 of the patch cannot be read: the hunk is longer than it says.",
    );
    check(
        "--- a/x\n+++ b/x\n@@ nothing\n",
        "Line 3 of the patch cannot be read: it does not begin a hunk as git does.",
    );
    assert!(Patch::read(Vec::new()).unwrap().files.is_empty());
    assert_eq!(
        Unreadable::TooLarge(PATCH_BYTES_MAX + 1).to_string(),
        "The patch has 256 MB; up to 256 MB can be shown."
    );
}

use git2::Repository;

use super::*;

/// The patch of these files, each before and after.
fn taken(files: &[(&str, Option<&str>, Option<&str>)], bounds: &Bounds) -> Diff {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::init(folder.path()).unwrap();
    let blob = |text: Option<&str>| {
        let id = text.map(|text| repository.blob(text.as_bytes()).unwrap());
        id.map(|id| Blob { mode: crate::entry::FILE, id })
    };
    let change = |(path, old, new): &(&str, Option<&str>, Option<&str>)| Change {
        path: path.as_bytes().to_vec(),
        old: blob(*old),
        new: blob(*new),
    };
    let changes = files.iter().map(change).collect();
    let start = repository.treebuilder(None).unwrap().write().unwrap();
    let look = Look { start, repository, changes, left_out: Vec::new() };
    take_within(&look, &Limits::default(), bounds).unwrap()
}

#[track_caller]
fn check(files: &[(&str, Option<&str>, Option<&str>)], bounds: Bounds, whole: &[&str]) {
    let diff = taken(files, &bounds);
    let paths = |is_binary| {
        let of = diff.files.iter().filter(move |file| file.is_binary == is_binary);
        of.map(FileChange::display).collect::<Vec<_>>()
    };
    assert_eq!(paths(true), whole);
    assert_eq!(diff.files.len(), files.len(), "nothing is left out");
    for file in &diff.files {
        let patch = String::from_utf8_lossy(&diff.patch[file.patch.clone()]).into_owned();
        assert_eq!(patch.contains("GIT binary patch"), file.is_binary, "{patch}");
        assert!(patch.starts_with(&format!("diff --git a/{0} b/{0}", file.display())), "{patch}");
    }
}

#[test]
fn what_is_too_long_to_be_compared_goes_along_whole() {
    let short = ("short", Some("1\n"), Some("2\n"));
    let many = "x\n".repeat(60);
    let files = [("long", Some("1\n"), Some(many.as_str())), short];
    let bounds = |file_bytes, file_lines, lines| Bounds { file_bytes, file_lines, lines };
    check(&files, bounds(1000, 1000, 1000), &[]);
    check(&files, bounds(119, 1000, 1000), &["long"]);
    check(&files, bounds(1000, 59, 1000), &["long"]);
    // It was long before.
    check(&[("long", Some(&many), Some("1\n")), short], bounds(1000, 59, 1000), &["long"]);
    check(&[("long", Some(&many), None), ("new", None, Some("1\n"))], bounds(119, 59, 1000), &["long"]);
    // All together are.
    let each = "y\n".repeat(40);
    let files =
        [("a", None, Some(each.as_str())), ("b", None, Some(many.as_str())), ("c", None, Some("z\n"))];
    check(&files, bounds(1000, 1000, 50), &["b"]);
}

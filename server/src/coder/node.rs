//! What of node an agent gets behind its wall: the program, and what came with it, but never what only lies beside it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::offers::is_system;

/// What an installation of node alone is made of.
const OWN: [&str; 9] =
    ["bin", "etc", "include", "lib", "share", "CHANGELOG.md", "LICENSE", "README.md", "package.json"];
const OWN_SHARE: [&str; 2] = ["doc", "man"];

/// How node is found behind the wall.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reached {
    /// Where it really lies: only that is there.
    pub bin: PathBuf,
    /// What has to be granted besides what the system has.
    pub programs: Vec<PathBuf>,
}

/// None where nothing called `node` is at the end of the links.
pub(super) fn reach(bin: &Path, home: Option<&Path>) -> Option<Reached> {
    let real = bin.join("node").canonicalize().ok()?;
    if is_system(&real) && is_system(bin) {
        return Some(Reached { bin: bin.to_owned(), programs: Vec::new() });
    }
    if real.file_name()? != "node" {
        return None;
    }
    let bin = real.parent()?.to_owned();
    let programs = match bin.parent() {
        _ if is_system(&real) => Vec::new(),
        // With npm, which lies in it.
        Some(root) if is_its_own(root, home) => vec![root.to_owned()],
        root => [real].into_iter().chain(root.map(libraries).unwrap_or_default()).collect(),
    };
    Some(Reached { bin, programs })
}

/// Whether a folder holds node and nothing else: `~/.local` holds a bin, a lib and a share too.
fn is_its_own(root: &Path, home: Option<&Path>) -> bool {
    let holds_only = |folder: &Path, names: &[&str]| {
        let mut entries = fs::read_dir(folder).into_iter().flatten();
        entries.all(|entry| entry.is_ok_and(|entry| names.iter().any(|name| entry.file_name() == *name)))
    };
    let is_persons = home.is_some_and(|home| home.starts_with(root) || root == home.join(".local"));
    !is_persons && holds_only(root, &OWN) && holds_only(&root.join("share"), &OWN_SHARE)
}

/// Those that a node is linked with which is not of one piece.
fn libraries(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join("lib")).into_iter().flatten().flatten();
    let own = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("libnode.so"));
    own.filter_map(|entry| entry.path().canonicalize().ok().filter(|real| real.starts_with(root))).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A home with these files in it.
    fn home(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("ada");
        for file in files {
            let path = home.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        (folder, home)
    }

    #[track_caller]
    fn check(files: &[&str], found: &str, bin: &str, programs: &[&str]) {
        let (_folder, home) = home(files);
        let programs = programs.iter().map(|path| home.join(path)).collect();
        let expected = Reached { bin: home.join(bin), programs };
        assert_eq!(reach(&home.join(found), Some(&home)), Some(expected), "{files:?}");
    }

    #[test]
    fn nothing_comes_along_that_only_lies_beside_it() {
        let private = [".local/bin/node", ".local/lib/python/x.py", ".local/share/keyrings/login"];
        check(&private, ".local/bin", ".local/bin", &[".local/bin/node"]);
        check(&["bin/node", "letters/one"], "bin", "bin", &["bin/node"]);
        // Even where nothing else is there yet.
        check(&["bin/node"], "bin", "bin", &["bin/node"]);
        check(&[".local/bin/node"], ".local/bin", ".local/bin", &[".local/bin/node"]);
        let linked =
            [".local/bin/node", ".local/lib/libnode.so.127", ".local/lib/other.so", ".local/share/x/y"];
        check(&linked, ".local/bin", ".local/bin", &[".local/bin/node", ".local/lib/libnode.so.127"]);
    }

    #[test]
    fn an_installation_of_its_own_comes_whole() {
        let own = [
            "v22/bin/node",
            "v22/bin/npm",
            "v22/lib/node_modules/npm/x.js",
            "v22/share/man/node.1",
            "v22/LICENSE",
        ];
        check(&own, "v22/bin", "v22/bin", &["v22"]);
    }

    #[test]
    fn a_node_behind_links_is_found_where_it_lies() {
        let (_folder, home) = home(&["versions/v22/bin/node", "shim/other"]);
        // As fnm does it: a folder of this shell's that leads to the version.
        fs::create_dir(home.join("shells")).unwrap();
        symlink(home.join("versions/v22"), home.join("shells/7")).unwrap();
        let bin = home.join("versions/v22/bin");
        let expected = Reached { bin, programs: vec![home.join("versions/v22")] };
        assert_eq!(reach(&home.join("shells/7/bin"), Some(&home)), Some(expected));
        // Something that only becomes node once it is called has a home that is not there.
        symlink(home.join("shim/other"), home.join("shim/node")).unwrap();
        assert_eq!(reach(&home.join("shim"), Some(&home)), None);
    }
}

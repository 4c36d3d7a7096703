//! Texts that are compared letter by letter. `BOOCODE_REWRITE_GOLDEN=1 cargo test -p domain` writes what is, to be read
//! as a diff.

use std::{env, fs, path::PathBuf};

pub fn check(name: &str, is: &str) {
    let path = folder().join(name);
    if env::var_os("BOOCODE_REWRITE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, is).unwrap();
    }
    let was = fs::read_to_string(&path).unwrap_or_default();
    assert!(is == was, "{}: is\n{is}\nand was\n{was}", path.display());
}

/// How many there are, so that none is left of what is gone.
pub fn count(folder: &str) -> usize {
    fs::read_dir(self::folder().join(folder)).unwrap().count()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

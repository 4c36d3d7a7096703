//! What `cargo xtask run` installed for this user because the system has none.

use std::path::{Path, PathBuf};

/// The folder that it keeps such tools in.
pub fn dir(env: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let folder = |variable: &str| env(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("BOOCODE_TOOLS_DIR")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("boocode")))
        .or_else(|| Some(folder("HOME")?.join(".cache/boocode")))
}

/// The Python that can run the small model, once all of that is there: the marker is written last.
pub fn small_model_python(dir: &Path) -> Option<PathBuf> {
    let venv = dir.join("small-model-venv");
    venv.join("boocode-packages").is_file().then(|| venv.join("bin/python"))
}

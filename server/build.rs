//! The browser's half is built before the server and lies in `dist`. A server alone, for its tests, needs only
//! the directory.

use std::{env, fs, io, path::PathBuf};

fn main() -> io::Result<()> {
    let dist = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../dist");
    fs::create_dir_all(&dist)?;
    // Files that come or go change what is embedded, without any source of this crate changing.
    println!("cargo::rerun-if-changed={}", dist.display());
    Ok(())
}

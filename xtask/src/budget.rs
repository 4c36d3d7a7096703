//! How many bytes a first visit may cost.

use anyhow::{Context, Result, bail};
use std::{fs, path::Path};

/// Where the first load should be; `bench load --check` holds it to this.
pub const FIRST_LOAD_BYTES_GOAL: u64 = 400_000;
/// What it must not grow past meanwhile.
const FIRST_LOAD_BYTES_MAX: u64 = 550_000;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct FirstLoad {
    pub wasm: u64,
    pub js: u64,
    pub css: u64,
}

impl FirstLoad {
    pub fn total(&self) -> u64 {
        self.wasm + self.js + self.css
    }

    pub fn words(&self) -> String {
        let kb = |bytes: u64| format!("{:.1}", bytes as f64 / 1000.0);
        format!(
            "{} KB brotli (wasm {}, js {}, css {})",
            kb(self.total()),
            kb(self.wasm),
            kb(self.js),
            kb(self.css)
        )
    }

    pub fn check(&self) -> Result<()> {
        if self.total() > FIRST_LOAD_BYTES_MAX {
            bail!(
                "the first load is {}, over its budget of {} KB: make a pane lazy, or take a dependency out",
                self.words(),
                FIRST_LOAD_BYTES_MAX / 1000
            );
        }
        Ok(())
    }
}

/// What a browser fetches before the page is alive: the main module, all scripts (the split loader and the
/// snippets are imported by the main one) and the stylesheet. Lazy chunks come later and do not count.
pub fn first_load(pkg: &Path) -> Result<FirstLoad> {
    let mut load = FirstLoad::default();
    add(pkg, &mut load)?;
    if load.wasm == 0 {
        bail!("{} holds no compressed module; cargo xtask build makes it", pkg.display());
    }
    Ok(load)
}

fn add(dir: &Path, load: &mut FirstLoad) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            add(&entry.path(), load)?;
            continue;
        }
        let (name, bytes) = (entry.file_name(), entry.metadata()?.len());
        match name.to_str() {
            Some(name) if name.ends_with("_bg.wasm.br") => load.wasm += bytes,
            Some(name) if name.ends_with(".js.br") => load.js += bytes,
            Some(name) if name.ends_with(".css.br") => load.css += bytes,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lazy_chunks_and_uncompressed_files_do_not_count() {
        let pkg = tempfile::tempdir().unwrap();
        fs::create_dir(pkg.path().join("snippets")).unwrap();
        for (name, bytes) in [
            ("boocode_bg.wasm", 1000),
            ("boocode_bg.wasm.br", 100),
            ("diff_chunk.wasm.br", 70),
            ("boocode.js.br", 10),
            ("snippets/inline.js.br", 5),
            ("boocode.css.br", 2),
        ] {
            fs::write(pkg.path().join(name), vec![0; bytes]).unwrap();
        }
        let load = first_load(pkg.path()).unwrap();
        assert_eq!(load, FirstLoad { wasm: 100, js: 15, css: 2 });
        load.check().unwrap();
        FirstLoad { wasm: FIRST_LOAD_BYTES_MAX, js: 1, css: 0 }.check().unwrap_err();
    }
}

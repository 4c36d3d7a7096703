//! How many bytes a first visit may cost.

use crate::build::wasm::MANIFEST;
use anyhow::{Context, Result, bail};
use std::{collections::BTreeMap, fs, path::Path};

/// What the start page may cost: `bench load --check` and the tests hold it to this.
pub const START_BYTES_MAX: u64 = 400_000;
/// The same for a page that shows a chat, which brings the chat's chunk and reads before that is there.
const CHAT_BYTES_MAX: u64 = 650_000;
/// As `app::chat::code` calls it.
const CHAT_CHUNK: &str = "chat";

/// Bytes with brotli.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FirstLoad {
    pub wasm: u64,
    pub js: u64,
    pub css: u64,
    /// What a page with a chat fetches on top.
    pub chat: u64,
}

impl FirstLoad {
    pub fn start(&self) -> u64 {
        self.wasm + self.js + self.css
    }

    pub fn words(&self) -> String {
        let kb = |bytes: u64| format!("{:.1}", bytes as f64 / 1000.0);
        format!(
            "{} KB brotli (wasm {}, js {}, css {}), with a chat {} KB",
            kb(self.start()),
            kb(self.wasm),
            kb(self.js),
            kb(self.css),
            kb(self.start() + self.chat)
        )
    }

    /// The goal, and how far a page with a chat is from it.
    pub fn goal(&self) -> String {
        let chat = self.start() + self.chat;
        let beyond = match chat.checked_sub(START_BYTES_MAX) {
            Some(over) if over > 0 => format!("{:.1} KB over that", over as f64 / 1000.0),
            _ => "within that too".to_owned(),
        };
        format!("at most {} KB for the start page; one with a chat is {beyond}", START_BYTES_MAX / 1000)
    }

    pub fn check(&self) -> Result<()> {
        if self.start() > START_BYTES_MAX || self.start() + self.chat > CHAT_BYTES_MAX {
            bail!(
                "the first load is {}, over its budget of {} and {} KB: make a pane lazy, or take a dependency out",
                self.words(),
                START_BYTES_MAX / 1000,
                CHAT_BYTES_MAX / 1000
            );
        }
        Ok(())
    }
}

/// What a browser fetches before the page is alive: the main module, all scripts (the split loader and the
/// snippets are imported by the main one) and the stylesheet. Other chunks, and the stylesheets of single pages, come
/// later and do not count.
pub fn first_load(pkg: &Path) -> Result<FirstLoad> {
    let mut load = FirstLoad::default();
    add(pkg, &mut load)?;
    if load.wasm == 0 {
        bail!("{} holds no compressed module; cargo xtask build makes it", pkg.display());
    }
    let chunks = pkg.join(MANIFEST);
    let chunks = fs::read_to_string(&chunks).with_context(|| format!("cannot read {}", chunks.display()))?;
    let chunks: BTreeMap<String, Vec<String>> = serde_json::from_str(&chunks)?;
    for chunk in chunks.get(CHAT_CHUNK).context("the chat is no chunk of its own")? {
        load.chat += fs::metadata(pkg.join(format!("{chunk}.wasm.br")))?.len();
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
            Some("boocode.css.br") => load.css += bytes,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_chunks_other_pages_and_uncompressed_files_do_not_count() {
        let pkg = tempfile::tempdir().unwrap();
        fs::create_dir(pkg.path().join("snippets")).unwrap();
        for (name, bytes) in [
            ("boocode_bg.wasm", 1000),
            ("boocode_bg.wasm.br", 100),
            ("split_diff.wasm.br", 70),
            ("split_chat.wasm.br", 30),
            ("chunk_1.wasm.br", 7),
            ("boocode.js.br", 10),
            ("snippets/inline.js.br", 5),
            ("boocode.css.br", 2),
            ("design.css.br", 3),
            ("history.css.br", 1),
        ] {
            fs::write(pkg.path().join(name), vec![0; bytes]).unwrap();
        }
        let chunks = r#"{"chat": ["chunk_1", "split_chat"], "diff": ["chunk_1", "split_diff"]}"#;
        fs::write(pkg.path().join(MANIFEST), chunks).unwrap();
        let load = first_load(pkg.path()).unwrap();
        assert_eq!(load, FirstLoad { wasm: 100, js: 15, css: 2, chat: 37 });
        load.check().unwrap();
        assert_eq!(load.goal(), "at most 400 KB for the start page; one with a chat is within that too");
        let large = FirstLoad { wasm: START_BYTES_MAX - 1_000, chat: 213_500, ..FirstLoad::default() };
        assert_eq!(large.goal(), "at most 400 KB for the start page; one with a chat is 212.5 KB over that");
        FirstLoad { wasm: START_BYTES_MAX, js: 1, ..FirstLoad::default() }.check().unwrap_err();
        FirstLoad { wasm: 1, chat: CHAT_BYTES_MAX, ..FirstLoad::default() }.check().unwrap_err();
    }
}

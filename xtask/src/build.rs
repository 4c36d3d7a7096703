//! The browser's assets into `dist`, then the server that embeds them.

mod order;
mod style;
pub mod wasm;

use crate::{
    budget,
    install::{self, Tools},
    parallel,
    process::{go_on, quietly},
    stage::{stage, stage_with},
    workspace::Workspace,
};
use anyhow::{Context, Result, anyhow};
use sha2::{Digest, Sha256};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

pub const COMPILE_LIMIT: Duration = Duration::from_secs(60 * 60);
/// Leptos asks for `/pkg/<this>.js`, `_bg.wasm` and `.css`.
pub const OUTPUT_NAME: &str = "boocode";
/// Browsers ask for these at the root, whatever the page says.
const ROOT_FILES: [&str; 2] = ["favicon.svg", "manifest.webmanifest"];

#[derive(clap::Args)]
pub struct Build {
    /// Unoptimised, quick to compile
    #[arg(long)]
    dev: bool,
}

impl Build {
    pub fn run(&self, workspace: &Workspace) -> Result<()> {
        let kind = Kind::dev_if(self.dev);
        install::wasm_target(workspace)?;
        assets(workspace, kind)?;
        let binary = server(workspace, kind)?;
        println!("{}", binary.display());
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Quick,
    Dev,
}

impl Kind {
    pub fn dev_if(dev: bool) -> Self {
        if dev { Self::Dev } else { Self::Quick }
    }

    fn wasm_profile(self) -> &'static str {
        match self {
            Self::Quick => "wasm-release",
            Self::Dev => "wasm-dev",
        }
    }

    /// The profile's name and the folder that cargo keeps it in.
    fn server_profile(self) -> (&'static str, &'static str) {
        match self {
            Self::Quick => ("quick", "quick"),
            Self::Dev => ("dev", "debug"),
        }
    }

    pub fn binary(self, workspace: &Workspace) -> PathBuf {
        workspace.target.join(self.server_profile().1).join("boocode")
    }

    fn brotli_quality(self) -> i32 {
        match self {
            Self::Quick => 11,
            Self::Dev => 5,
        }
    }
}

pub fn server(workspace: &Workspace, kind: Kind) -> Result<PathBuf> {
    let (profile, _) = kind.server_profile();
    stage("server", || {
        let mut cargo = workspace.cargo();
        cargo.args(["build", "--package", "server", "--bin", "boocode", "--profile", profile]);
        quietly(workspace, "server", COMPILE_LIMIT, &mut cargo)
    })?;
    let binary = kind.binary(workspace);
    if kind == Kind::Quick {
        check_embedded(&binary, &workspace.dist().join(format!("pkg/{OUTPUT_NAME}.css.br")))?;
    }
    Ok(binary)
}

/// A debug build reads the browser's half from the disk, so no test notices when another does not carry it.
fn check_embedded(binary: &Path, asset: &Path) -> Result<()> {
    const LOOKED_FOR: usize = 256;
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let (program, asset) = (read(binary)?, read(asset)?);
    let beginning = &asset[..asset.len().min(LOOKED_FOR)];
    match program.windows(beginning.len()).any(|part| part == beginning) {
        true => Ok(()),
        false => Err(anyhow!("{} does not carry the assets that were built for it", binary.display())),
    }
}

/// Fills `dist/pkg`. The old one stays until the new one is whole.
pub fn assets(workspace: &Workspace, kind: Kind) -> Result<()> {
    let module = stage("wasm", || wasm::compile(workspace, kind.wasm_profile()))?;
    let dist = workspace.dist();
    let stamp_file = workspace.scratch()?.join("dist.stamp");
    let stamp = stamp(workspace, kind, &module)?;
    if dist.join("pkg").is_dir() && fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
        return Ok(());
    }
    let next = dist.join(".next");
    remove_dir(&next)?;
    fs::create_dir_all(&next).with_context(|| format!("cannot create {}", next.display()))?;
    stage("bindgen", || wasm::split_and_bind(&module, &next, kind == Kind::Dev))?;
    if kind == Kind::Quick {
        stage_with("wasm-opt", || Ok(((), wasm::shrink(workspace, &Tools::locate()?, &next))))?;
        wasm::drop_notes(&next)?;
    }
    stage_with("style", || {
        let css = style::bundle(&workspace.root.join("style"))?;
        let css = if kind == Kind::Quick { style::squeeze(&css) } else { css };
        fs::write(next.join(format!("{OUTPUT_NAME}.css")), css)?;
        // What only one page needs, only that page loads.
        copy_tree(&workspace.root.join("style/pages"), &next)?;
        copy_tree(&workspace.root.join("style/public"), &next)?;
        precompress(&next, kind.brotli_quality())?;
        let first_load = budget::first_load(&next)?;
        Ok(((), format!("first load {}", first_load.words())))
    })?;
    swap_in(&dist, &next)?;
    fs::write(&stamp_file, stamp)?;
    Ok(())
}

/// Size and time of every input: cargo leaves a module alone that it did not have to build again.
fn stamp(workspace: &Workspace, kind: Kind, module: &Path) -> Result<String> {
    let mut inputs = vec![module.to_path_buf(), std::env::current_exe()?];
    files_under(&workspace.root.join("style"), &mut inputs)?;
    let mut digest = Sha256::new();
    digest.update(format!("{kind:?} {}", workspace.root.display()));
    for input in inputs {
        let meta = fs::metadata(&input).with_context(|| format!("cannot read {}", input.display()))?;
        digest.update(format!("{} {} {:?}\n", input.display(), meta.len(), meta.modified()?));
    }
    Ok(format!("{:x}", digest.finalize()))
}

fn swap_in(dist: &Path, next: &Path) -> Result<()> {
    let (current, old) = (dist.join("pkg"), dist.join(".old"));
    remove_dir(&old)?;
    if current.exists() {
        fs::rename(&current, &old)?;
    }
    fs::rename(next, &current)?;
    for name in ROOT_FILES.iter().flat_map(|name| [name.to_string(), format!("{name}.br")]) {
        if current.join(&name).is_file() {
            fs::copy(current.join(&name), dist.join(&name))?;
        }
    }
    remove_dir(&old)
}

/// A `.br` beside every file that gains from it.
fn precompress(dir: &Path, quality: i32) -> Result<()> {
    let mut files = Vec::new();
    files_under(dir, &mut files)?;
    let packed = |file: &PathBuf| {
        file.extension().is_some_and(|e| ["png", "jpg", "webp", "woff2"].iter().any(|packed| e == *packed))
    };
    files.retain(|file| !packed(file));
    parallel::for_each(&files, |file| {
        let compressed = compress(&fs::read(file)?, quality)
            .with_context(|| format!("compressing {} failed", file.display()))?;
        let mut beside = file.clone().into_os_string();
        beside.push(".br");
        Ok(fs::write(beside, compressed)?)
    })
    .map(drop)
}

fn compress(bytes: &[u8], quality: i32) -> io::Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams { quality, size_hint: bytes.len(), ..Default::default() };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut UntilAsked(bytes), &mut compressed, &params)?;
    Ok(compressed)
}

/// The best compression of a large module takes long, and Ctrl-C does not wait for it.
struct UntilAsked<'a>(&'a [u8]);

impl io::Read for UntilAsked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        go_on().map_err(io::Error::other)?;
        self.0.read(buffer)
    }
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let mut files = Vec::new();
    files_under(from, &mut files)?;
    for file in files {
        let target = to.join(file.strip_prefix(from)?);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(&file, &target).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(())
}

/// Every file beneath, in a fixed order; none when the folder is not there.
fn files_under(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    let mut entries = fs::read_dir(dir)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_type()?.is_dir() {
            files_under(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn remove_dir(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_dist_replaces_the_old_one_whole() {
        let dist = tempfile::tempdir().unwrap();
        for (dir, file) in [("pkg", "old.css"), (".next", "new.css"), (".next", "favicon.svg")] {
            fs::create_dir_all(dist.path().join(dir)).unwrap();
            fs::write(dist.path().join(dir).join(file), "").unwrap();
        }
        swap_in(dist.path(), &dist.path().join(".next")).unwrap();
        let mut left = Vec::new();
        files_under(dist.path(), &mut left).unwrap();
        let expected = ["favicon.svg", "pkg/favicon.svg", "pkg/new.css"];
        assert_eq!(left, expected.map(|name| dist.path().join(name)));
    }

    #[test]
    fn a_program_without_its_assets_is_found_out() {
        let dir = tempfile::tempdir().unwrap();
        let [asset, with, without] = ["asset", "with", "without"].map(|name| dir.path().join(name));
        fs::write(&asset, "the stylesheet").unwrap();
        fs::write(&with, "code, the stylesheet, and code").unwrap();
        fs::write(&without, "code and code").unwrap();
        check_embedded(&with, &asset).unwrap();
        assert!(check_embedded(&without, &asset).unwrap_err().to_string().contains("does not carry"));
    }

    #[test]
    fn compressed_files_lie_beside_their_originals() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.css", "b.png", "c"] {
            fs::write(dir.path().join(name), "text ".repeat(100)).unwrap();
        }
        precompress(dir.path(), 5).unwrap();
        let mut files = Vec::new();
        files_under(dir.path(), &mut files).unwrap();
        let names: Vec<_> = files.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["a.css", "a.css.br", "b.png", "c", "c.br"]);
        let mut back = Vec::new();
        brotli::BrotliDecompress(&mut fs::read(&files[1]).unwrap().as_slice(), &mut back).unwrap();
        assert_eq!(back, fs::read(&files[0]).unwrap());
    }
}

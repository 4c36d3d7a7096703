//! The browser's module: compiled, split at the lazy panes, bound to JavaScript.

use super::{COMPILE_LIMIT, OUTPUT_NAME};
use crate::{
    install::{self, Tools},
    process::{in_one_line, quietly},
    workspace::Workspace,
};
use anyhow::{Context, Result, anyhow};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// Which files each chunk is made of.
pub const MANIFEST: &str = "__wasm_split_manifest.json";
const SHRINK_LIMIT: Duration = Duration::from_secs(180);

pub fn compile(workspace: &Workspace, profile: &str) -> Result<PathBuf> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", "frontend", "--lib", "--target", "wasm32-unknown-unknown"]);
    quietly(workspace, "wasm", COMPILE_LIMIT, cargo.args(["--profile", profile]))?;
    Ok(workspace.target.join("wasm32-unknown-unknown").join(profile).join("frontend.wasm"))
}

pub fn split_and_bind(module: &Path, out: &Path, debug: bool) -> Result<()> {
    // The main module's file name becomes part of nothing, so it may lie in a folder of its own.
    let scratch = tempfile::tempdir()?;
    let main = scratch.path().join("main.wasm");
    let bytes = fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    let main_module = format!("./{OUTPUT_NAME}.js");
    let mut options = wasm_split_cli_support::Options::new(&bytes);
    options.output_dir = out;
    options.main_out_path = &main;
    options.main_module = &main_module;
    // Leptos looks for the loader and the manifest under these names.
    options.link_name = "./__wasm_split.______________________.js";
    let split =
        wasm_split_cli_support::transform(options).map_err(|error| anyhow!("splitting: {error:?}"))?;
    fs::write(out.join(MANIFEST), serde_json::to_string(&split.prefetch_map)?)?;
    wasm_bindgen_cli_support::Bindgen::new()
        .input_path(&main)
        .out_name(OUTPUT_NAME)
        .web(true)?
        // The chunks link against what the linker exported.
        .keep_lld_exports(true)
        .demangle(false)
        .typescript(false)
        .keep_debug(debug)
        .remove_name_section(!debug)
        .remove_producers_section(!debug)
        .generate(out)
        .context("wasm-bindgen")
}

/// Shrinks every module. It saves a third of a lazy chunk and little of the rest, so a machine where it
/// cannot be had goes without; the answer says which it was.
pub fn shrink(workspace: &Workspace, tools: &Tools, node: &Path, out: &Path) -> String {
    let attempt = || -> Result<String> {
        let wasm_opt = install::npm::BINARYEN.ensure(workspace, tools)?.join("bin/wasm-opt");
        let (mut before, mut after) = (0, 0);
        for entry in fs::read_dir(out)? {
            let file = entry?.path();
            if file.extension().is_none_or(|e| e != "wasm") {
                continue;
            }
            let smaller = file.with_extension("opt");
            let mut command = Command::new(node);
            command.arg(&wasm_opt).arg("-Oz").args(
                [
                    "bulk-memory",
                    "nontrapping-float-to-int",
                    "reference-types",
                    "multivalue",
                    "mutable-globals",
                    "sign-ext",
                ]
                .map(|feature| format!("--enable-{feature}")),
            );
            quietly(workspace, "wasm-opt", SHRINK_LIMIT, command.arg(&file).arg("-o").arg(&smaller))?;
            before += fs::metadata(&file)?.len();
            after += fs::metadata(&smaller)?.len();
            fs::rename(&smaller, &file)?;
        }
        Ok(format!("{} → {} KB", before / 1000, after / 1000))
    };
    attempt().unwrap_or_else(|error| format!("left out ({})", in_one_line(&error)))
}

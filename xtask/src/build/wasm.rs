//! The browser's module: compiled, split at the lazy panes, bound to JavaScript.

use super::{COMPILE_LIMIT, OUTPUT_NAME, order};
use crate::{
    install::{self, Tools},
    parallel,
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
const SHRINK_LIMIT: Duration = Duration::from_secs(600);
/// What the compiler emits; wasm-opt takes nothing for granted.
const FEATURES: [&str; 6] = [
    "bulk-memory",
    "nontrapping-float-to-int",
    "reference-types",
    "multivalue",
    "mutable-globals",
    "sign-ext",
];

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
    let mut bound = wasm_bindgen_cli_support::Bindgen::new()
        .input_path(&main)
        .out_name(OUTPUT_NAME)
        .web(true)?
        // The chunks link against what the linker exported.
        .keep_lld_exports(true)
        .demangle(false)
        .typescript(false)
        .keep_debug(debug)
        .generate_output()
        .context("wasm-bindgen")?;
    // Each is called by a hash, which no compression takes out of the module and of its script. Numbers do as well.
    let mut numbered = Vec::new();
    for import in bound.wasm_mut().imports.iter_mut().filter(|import| !debug && is_hashed(&import.name)) {
        let number = format!("_{}", numbered.len());
        numbered.push((std::mem::replace(&mut import.name, number.clone()), number));
    }
    bound.emit(out).context("wasm-bindgen")?;
    let script = out.join(format!("{OUTPUT_NAME}.js"));
    fs::write(&script, renamed(fs::read_to_string(&script)?, &numbered))?;
    Ok(())
}

fn is_hashed(name: &str) -> bool {
    let hash = name.rsplit_once('_').map_or("", |(_, hash)| hash);
    hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn renamed(script: String, names: &[(String, String)]) -> String {
    names.iter().fold(script, |script, (name, number)| script.replace(name, number))
}

/// Shrinks every module, and puts alike functions side by side. It saves a third of a lazy chunk and little of the
/// rest, so a machine where it cannot be had goes without; the answer says which it was.
pub fn shrink(workspace: &Workspace, tools: &Tools, out: &Path) -> String {
    let attempt = || -> Result<String> {
        let wasm_opt = install::npm::BINARYEN.ensure(workspace, tools)?.join("bin/wasm-opt");
        let path = install::node::path(workspace, tools)?;
        let sizes = parallel::for_each(&modules(out)?, |file| {
            let smaller = file.with_extension("opt");
            let before = fs::metadata(file)?.len();
            fs::write(file, order::named_by_likeness(&fs::read(file)?)?)?;
            let mut command = Command::new("node");
            command
                .env("PATH", &path)
                .arg(&wasm_opt)
                .args(["-Oz", "--reorder-functions-by-name"])
                .args(FEATURES.map(|it| format!("--enable-{it}")));
            let name = format!("wasm-opt {}", file.file_stem().unwrap_or_default().display());
            quietly(workspace, &name, SHRINK_LIMIT, command.arg(file).arg("-o").arg(&smaller))?;
            let after = fs::metadata(&smaller)?.len();
            fs::rename(&smaller, file)?;
            Ok((before, after))
        })?;
        let (before, after) = sizes.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Ok(format!("{} → {} KB", before / 1000, after / 1000))
    };
    attempt().unwrap_or_else(|error| format!("left out ({})", in_one_line(&error)))
}

/// Takes out of every module what no browser reads.
pub fn drop_notes(out: &Path) -> Result<()> {
    for file in modules(out)? {
        fs::write(&file, order::without_notes(&fs::read(&file)?)?)?;
    }
    Ok(())
}

/// The largest first: nobody waits for it alone at the end.
fn modules(out: &Path) -> Result<Vec<PathBuf>> {
    let mut modules = Vec::new();
    for entry in fs::read_dir(out)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "wasm") {
            modules.push((entry.metadata()?.len(), entry.path()));
        }
    }
    modules.sort();
    Ok(modules.into_iter().rev().map(|(_, file)| file).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_called_by_a_hash_gets_a_number() {
        assert!(is_hashed("__wbg_location_7320782274fc691b"));
        for name in ["__wbindgen_init_externref_table", "__wbg_ptr", "location_7320782274fc691", "memory"] {
            assert!(!is_hashed(name), "{name}");
        }
        let names = [("__wbg_a_7320782274fc691b".to_owned(), "_0".to_owned())];
        let script = "{ __wbg_a_7320782274fc691b: (a) => a, __wbg_ptr }".to_owned();
        assert_eq!(renamed(script, &names), "{ _0: (a) => a, __wbg_ptr }");
    }
}

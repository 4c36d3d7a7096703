//! How far a judge is swayed by results that tell it whom to name. The judge is the small real model.

use super::wired;
use crate::{
    install::{self, Tools},
    workspace::Workspace,
};
use anyhow::{Context, Result};

/// Prints what it found; there is no goal.
pub fn run(workspace: &Workspace) -> Result<bool> {
    let python = install::model::ensure_or_go_without(workspace, &Tools::locate()?)?;
    let python = python.context("without the small model there is nobody to judge")?;
    wired::run(workspace, "judge", &["--python".to_owned(), python.to_string_lossy().into_owned()])
}

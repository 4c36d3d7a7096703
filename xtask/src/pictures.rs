//! The README's pictures, taken anew of the product as it is.

use crate::{bench::browser, workspace::Workspace};
use anyhow::Result;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(5 * 60);

#[derive(clap::Args)]
pub struct Pictures;

impl Pictures {
    pub fn run(&self, workspace: &Workspace) -> Result<()> {
        browser::play(workspace, "pictures", &["--config", "pictures.config.ts"], LIMIT, &[])
    }
}

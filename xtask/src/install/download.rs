//! Files from public registries, each known by its digest: who delivers it does not matter.

use super::{Apt, INSTALL_LIMIT};
use crate::{
    process::{find_program, quietly},
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::{fs, path::Path, process::Command};

const FIX: &str = "neither curl nor wget is here: apt-get install curl ca-certificates";

pub struct Pinned {
    pub url: String,
    pub sha256: &'static str,
}

impl Pinned {
    pub fn fetch(&self, workspace: &Workspace, file: &Path) -> Result<()> {
        let mut command = downloader(workspace)?;
        command.arg(file).arg(&self.url);
        quietly(workspace, "download", INSTALL_LIMIT, &mut command)
            .with_context(|| format!("cannot fetch {}", self.url))?;
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let found = format!("{:x}", Sha256::digest(&bytes));
        if found != self.sha256 {
            bail!("{} is not the expected file: its sha256 is {found}, not {}", self.url, self.sha256);
        }
        Ok(())
    }
}

/// Rustup came by one of these, so nearly every machine has one. The arguments end where the file's name is
/// due, and the address follows it.
fn downloader(workspace: &Workspace) -> Result<Command> {
    if find_program("curl").is_none() {
        if let Some(wget) = find_program("wget") {
            let mut command = Command::new(wget);
            command.args(["--no-verbose", "--tries=3", "--timeout=30", "--output-document"]);
            return Ok(command);
        }
        Apt::find().context(FIX)?.install(workspace, &["curl", "ca-certificates"]).context(FIX)?;
    }
    let mut command = Command::new("curl");
    command.args(["--fail", "--location", "--silent", "--show-error", "--retry", "2"]);
    // A connection that stands still is given up.
    command.args(["--connect-timeout", "30", "--speed-limit", "1", "--speed-time", "60", "--output"]);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_expected_file_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let workspace =
            Workspace { root: dir.path().into(), target: dir.path().join("target"), packages: Vec::new() };
        fs::write(dir.path().join("served"), "hello\n").unwrap();
        let url = format!("file://{}", dir.path().join("served").display());
        let check = |sha256, refused: Option<&str>| {
            let error = Pinned { url: url.clone(), sha256 }.fetch(&workspace, &dir.path().join("got")).err();
            let said = error.map(|error| error.to_string());
            assert_eq!(said.is_some(), refused.is_some(), "{said:?}");
            assert!(said.unwrap_or_default().contains(refused.unwrap_or_default()));
        };
        check("5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03", None);
        check("00", Some("is not the expected file"));
    }
}

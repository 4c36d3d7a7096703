//! What is granted to a task.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Error;

/// What a task may reach. All paths are real ones: absolute, without a symbolic link on the way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wall {
    pub access: Access,
    pub home: PathBuf,
    pub tmp: PathBuf,
    /// Read and executed: where the agent is installed.
    pub programs: Vec<PathBuf>,
    /// Files from elsewhere that are seen, and written, at a place in the task's own folders.
    pub shared: Vec<Shared>,
    /// Folders that are never seen, also where they lie in something granted; what is granted inside them is.
    pub hidden: Vec<PathBuf>,
    /// The TCP port at which it asks for what lies outside. Where there are namespaces it is one of its own network,
    /// which holds nothing else, and is answered at [`crate::Process::door`].
    pub door: Option<u16>,
    /// The TCP port that it listens on, and talks to itself by.
    pub own_port: Option<u16>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shared {
    pub file: PathBuf,
    /// A file that is there only to be covered.
    pub place: PathBuf,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Access {
    /// Writes its own tree, and reads the objects that the tree's repository borrows.
    Write { tree: PathBuf, objects: Vec<PathBuf> },
    /// Reads the project and changes nothing of it.
    Read { project: PathBuf },
}

/// What runs inside.
#[derive(Clone, Debug)]
pub struct Program {
    /// An absolute path, or a name that is found on the `PATH` of `env`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// All of it: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    pub folder: PathBuf,
}

/// Each includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Right {
    Read,
    Run,
    Write,
}

/// What every program needs of a system. Those that do not exist are left out.
pub(crate) const SYSTEM: [(&str, Right); 6] = [
    ("/usr", Right::Run),
    ("/bin", Right::Run),
    ("/sbin", Right::Run),
    ("/lib", Right::Run),
    ("/lib64", Right::Run),
    ("/etc", Right::Read),
];

impl Wall {
    pub(crate) fn grants(&self) -> Vec<(&Path, Right)> {
        let mut grants = vec![(self.home.as_path(), Right::Write), (self.tmp.as_path(), Right::Write)];
        match &self.access {
            Access::Write { tree, objects } => {
                grants.push((tree, Right::Write));
                grants.extend(objects.iter().map(|objects| (objects.as_path(), Right::Read)));
            }
            Access::Read { project } => grants.push((project, Right::Read)),
        }
        grants.extend(self.programs.iter().map(|path| (path.as_path(), Right::Run)));
        grants
    }

    /// A path that only a mount can take out of the granted one around it; rules for files only ever add.
    pub(crate) fn needs_mounts(&self) -> Option<&Path> {
        let grants = self.grants();
        let system = SYSTEM.iter().map(|(path, right)| (Path::new(path), *right));
        let around: Vec<_> = grants.iter().copied().chain(system).collect();
        let hidden = self.hidden.iter().map(PathBuf::as_path);
        let hidden = hidden.filter(|path| around.iter().any(|(outer, _)| path.starts_with(outer)));
        let kept = grants.iter().filter(|(_, right)| *right != Right::Write).map(|(path, _)| *path);
        let kept = kept.filter(|path| {
            around.iter().any(|(outer, right)| *right == Right::Write && path.starts_with(outer))
        });
        hidden.chain(kept).next()
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.grants().into_iter().try_for_each(|(path, _)| check_real(path))?;
        for path in self.shared.iter().flat_map(|shared| [&shared.file, &shared.place]) {
            check_real(path)?;
            if !path.is_file() {
                let why = "only a file can be shared".to_owned();
                return Err(Error::NotReal { path: path.to_owned(), why });
            }
        }
        for path in &self.hidden {
            check_real(path)?;
            if !path.is_dir() {
                let why = "only a folder can be hidden".to_owned();
                return Err(Error::NotReal { path: path.to_owned(), why });
            }
        }
        Ok(())
    }
}

impl Program {
    /// The helper has this environment too, before there is any wall.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let acts = |name: &str| name.starts_with("LD_") || name == "GLIBC_TUNABLES";
        match self.env.iter().map(|(name, _)| name.to_string_lossy()).find(|name| acts(name)) {
            Some(name) => Err(Error::Environment(name.into_owned())),
            None => Ok(()),
        }
    }
}

/// A link on the way would be missing inside, or lead elsewhere by the time it is followed.
fn check_real(path: &Path) -> Result<(), Error> {
    let not_real = |why: String| Error::NotReal { path: path.to_owned(), why };
    let real = path.canonicalize().map_err(|error| not_real(error.to_string()))?;
    // Compared as text: paths are otherwise equal with a `.` or a slash too many.
    if real.as_os_str() == path.as_os_str() {
        Ok(())
    } else {
        Err(not_real(format!("it leads to {}", real.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(access: Access, hidden: &[&str]) -> Wall {
        Wall {
            access,
            home: "/data/home".into(),
            tmp: "/data/tmp".into(),
            programs: vec!["/opt/agent".into()],
            shared: vec![],
            hidden: hidden.iter().map(PathBuf::from).collect(),
            door: None,
            own_port: None,
        }
    }

    fn check(access: Access, hidden: &[&str], expected: Option<&str>) {
        let wall = wall(access, hidden);
        assert_eq!(wall.needs_mounts(), expected.map(Path::new), "{wall:?}");
    }

    #[test]
    fn what_only_mounts_can_hide_is_found() {
        let read = |project: &str| Access::Read { project: project.into() };
        let write =
            |tree: &str, objects: &str| Access::Write { tree: tree.into(), objects: vec![objects.into()] };
        check(read("/project"), &["/data", "/run/postgresql"], None);
        check(read("/project"), &["/project/.data"], Some("/project/.data"));
        check(read("/project"), &["/projects"], None);
        check(read("/project"), &["/opt/agent/secret"], Some("/opt/agent/secret"));
        check(read("/project"), &["/usr/lib/data"], Some("/usr/lib/data"));
        check(read("/data/home/project"), &[], Some("/data/home/project"));
        check(write("/data/tree", "/project/.git/objects"), &["/data"], None);
        check(write("/project", "/project/.git/objects"), &[], Some("/project/.git/objects"));
    }
}

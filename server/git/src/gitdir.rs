//! The repositories that we make: our own beside the tree, and the agent's in it. Both borrow the project's
//! objects.

use std::{
    env, fs,
    io::{ErrorKind, Read as _},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use git2::{Config, Index, Oid, Repository, RepositoryInitOptions, Tree};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};

use crate::{
    Error, Refused,
    beneath::{self, Folder},
    entry::{Blob, Entry, plain_mode},
    error::{from_io, io},
    scan::{Keep, Tracked},
};

/// Our own: bare, so that no file of the tree can configure it.
pub fn init_ours(at: &Path) -> Result<Repository, Error> {
    Ok(Repository::init_opts(at, options().bare(true))?)
}

/// The agent's, on the branch that the project is on, at `base`.
pub fn init_agents(tree: &Path, project: &Repository, base: Oid) -> Result<(), Error> {
    let repository = Repository::init_opts(tree, &options())?;
    borrow(&repository, project)?;
    // The object has to be found, so the borrowed ones must be known.
    let repository = Repository::open(tree)?;
    let head = project.head()?;
    match head.name() {
        Ok(branch) if head.is_branch() => {
            repository.reference(branch, base, true, "worktree")?;
            repository.set_head(branch)?;
        }
        _ => repository.set_head_detached(base)?,
    }
    let (mut config, theirs) = (repository.config()?, project.config()?.snapshot()?);
    // HOME is another one in there, and a commit needs somebody.
    for name in ["user.name", "user.email"] {
        if let Ok(value) = theirs.get_str(name) {
            config.set_str(name, value)?;
        }
    }
    // What is borrowed must not be packed away into a second copy.
    config.set_i32("gc.auto", 0)?;
    if let Some(list) = git_file(project, b"", "shallow")? {
        let shallow = repository.path().join("shallow");
        fs::write(&shallow, list).map_err(io(&shallow))?;
    }
    Ok(())
}

/// A file of git's own in the project, to be given to an agent. The project may be hostile, so a link is not
/// followed: it would hand over whatever it leads to.
fn git_file(project: &Repository, folder: &[u8], name: &str) -> Result<Option<Vec<u8>>, Error> {
    const BYTES_MAX: u64 = 1 << 20;
    let common = project.commondir();
    let path = common.join(beneath::to_path(folder)).join(name);
    let leads_elsewhere = || Error::from(Refused::GitLink(path.clone()));
    let top = Folder::open(common).map_err(io(common))?;
    let folder = match top.descend(folder) {
        Ok(folder) => folder,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(_) => return Err(leads_elsewhere()),
    };
    if folder.stat(name.as_bytes()).map_err(io(&path))?.is_none() {
        return Ok(None);
    }
    let (text, _) =
        folder.read(name.as_bytes(), BYTES_MAX).map_err(io(&path))?.ok_or_else(leads_elsewhere)?;
    if text.len() as u64 > BYTES_MAX {
        let limit = format!("{BYTES_MAX} bytes");
        return Err(Error::TooLarge { what: path.display().to_string(), limit });
    }
    Ok(Some(text))
}

/// Makes the project's objects those of `repository` too, from its next opening on.
pub fn borrow(repository: &Repository, project: &Repository) -> Result<(), Error> {
    let objects = objects(project)?;
    let list = repository.path().join("objects/info/alternates");
    fs::create_dir_all(repository.path().join("objects/info")).map_err(io(&list))?;
    fs::write(&list, [objects.as_os_str().as_bytes(), b"\n"].concat()).map_err(io(&list))
}

/// Behind its wall an agent reads the project's objects and nobody else's: what the project borrows itself would be
/// missing there, and a hostile one could name any folder for it.
pub fn check_own_objects(project: &Repository) -> Result<(), Error> {
    match git_file(project, b"objects/info", "alternates")?.filter(|list| !list.trim_ascii().is_empty()) {
        Some(_) => Err(Refused::Borrows(objects(project)?.join("info/alternates")).into()),
        None => Ok(()),
    }
}

/// The user's own rules, which no file of the tree holds: for all projects, and then for this one.
pub fn excludes(project: &Repository) -> Result<Vec<u8>, Error> {
    let mut rules = users_excludes();
    if !rules.is_empty() {
        rules.push(b'\n');
    }
    rules.extend(git_file(project, b"info", "exclude")?.unwrap_or_default());
    Ok(rules)
}

/// Named by the settings of the user or of the system: a repository that named a file would have it handed over. What
/// cannot be read holds no rules, as for git itself.
fn users_excludes() -> Vec<u8> {
    const BYTES_MAX: u64 = 1 << 20;
    let named = Config::open_default().and_then(|config| config.get_path("core.excludesfile"));
    let usual = || {
        let folder = |name| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let settings = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
        Some(settings.join("git/ignore"))
    };
    let mut rules = Vec::new();
    if let Some(path) = named.ok().or_else(usual).filter(|path| path.is_file())
        && let Ok(file) = fs::File::open(path)
        && file.take(BYTES_MAX).read_to_end(&mut rules).is_err()
    {
        rules.clear();
    }
    rules
}

/// The same, for these repositories too.
pub fn share_excludes(project: &Repository, to: &[&Path]) -> Result<Vec<u8>, Error> {
    let text = excludes(project)?;
    for gitdir in to {
        let path = gitdir.join("info/exclude");
        fs::create_dir_all(gitdir.join("info")).map_err(io(&path))?;
        fs::write(&path, &text).map_err(io(&path))?;
    }
    Ok(text)
}

/// Files and submodules of a tree, in the order of an index.
pub fn flatten(repository: &Repository, tree: &Tree, entries: &mut Vec<Entry>) -> Result<(), Error> {
    fn walk(repository: &Repository, tree: &Tree, prefix: &[u8], into: &mut Vec<Entry>) -> Result<(), Error> {
        for entry in tree.iter() {
            let path = [prefix, entry.name_bytes()].concat();
            if !beneath::is_plain(entry.name_bytes()) {
                return Err(Refused::OddPath(crate::display(&path)).into());
            }
            let mode = entry.filemode() as u32;
            if mode == TREE {
                let tree = repository.find_tree(entry.id())?;
                walk(repository, &tree, &[&path[..], b"/"].concat(), into)?;
            } else {
                into.push(Entry::new(path, Blob { mode: plain_mode(mode), id: entry.id() }));
            }
        }
        Ok(())
    }
    walk(repository, tree, b"", entries)
}

const TREE: u32 = 0o040000;

pub fn index_of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Index, Error> {
    let mut index = Index::new()?;
    for entry in entries {
        index.add(&entry.to_index())?;
    }
    Ok(index)
}

pub fn write_index(path: &Path, entries: &[Entry]) -> Result<(), Error> {
    let mut index = Index::open(path)?;
    for entry in entries {
        index.add(&entry.to_index())?;
    }
    Ok(index.write()?)
}

/// Makes the index younger than every file in it. Then no file has to be read to know that it did not change.
pub fn settle(path: &Path, entries: &[Entry]) -> Result<(), Error> {
    const TRIES_MAX: u32 = 100;
    let youngest = entries.iter().map(|entry| entry.seen.changed).max().unwrap_or_default();
    for _ in 0..TRIES_MAX {
        if stamp(path)? > youngest {
            break;
        }
        // The kernel's own clock goes in ticks, and only that one can be compared.
        std::thread::sleep(Duration::from_millis(1));
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let now = Timestamps { last_access: now, last_modification: now };
        utimensat(CWD, path, &now, AtFlags::empty()).map_err(|cause| from_io(path, cause.into()))?;
    }
    Ok(())
}

fn stamp(path: &Path) -> Result<(i32, u32), Error> {
    let stat = rustix::fs::stat(path).map_err(|cause| from_io(path, cause.into()))?;
    Ok((stat.st_mtime as i32, stat.st_mtime_nsec as u32))
}

/// The files that an index lists, as of the time it was written.
pub fn read_index(path: &Path) -> Result<Tracked, Error> {
    let stamp = stamp(path)?;
    let entries = Index::open(path)?.iter().filter_map(Entry::from_index).collect();
    Ok(Tracked { entries, stamp })
}

/// What the project's own index lists.
pub fn tracked(project: &Repository) -> Result<Tracked, Error> {
    let index = project.path().join("index");
    let tracked = match index.exists() {
        true => read_index(&index)?,
        false => Tracked { entries: Vec::new(), stamp: (0, 0) },
    };
    match tracked.entries.iter().find(|entry| !beneath::is_plain(&entry.path)) {
        Some(odd) => Err(Refused::OddPath(crate::display(&odd.path)).into()),
        None => Ok(tracked),
    }
}

/// Keeps contents where the repository keeps its objects.
pub struct Objects<'a>(pub &'a Repository);

impl Keep for Objects<'_> {
    fn keep(&mut self, content: &[u8]) -> Result<Oid, Error> {
        Ok(self.0.blob(content)?)
    }
}

/// No template: it may bring hooks.
fn options() -> RepositoryInitOptions {
    let mut options = RepositoryInitOptions::new();
    options.no_reinit(true).mkdir(true).external_template(false).initial_head("main");
    options
}

/// The folder of the project's objects, which agents may read. It is a folder of the repository itself: where it is a
/// link, the repository chooses what that would be.
pub fn objects(project: &Repository) -> Result<PathBuf, Error> {
    let common = project.commondir();
    let common = common.canonicalize().map_err(io(common))?;
    let path = common.join("objects");
    if path.canonicalize().map_err(io(&path))? != path {
        return Err(Refused::GitLink(path).into());
    }
    // One line is one folder there.
    if path.as_os_str().as_bytes().contains(&b'\n') || path.to_str().is_none() {
        return Err(Refused::ProjectPath(path).into());
    }
    Ok(path)
}

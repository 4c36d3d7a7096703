//! Which folders may become projects. Every rule is applied to the canonical path, so neither `..` nor a
//! symlink leads around one.
//!
//! These functions read the disk: call them from `spawn_blocking`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use git2::{ErrorCode, Repository, RepositoryInitOptions, RepositoryOpenFlags};

/// The folders beneath which projects may lie.
#[derive(Clone, Debug)]
pub struct AllowedRoots(Vec<PathBuf>);

impl AllowedRoots {
    pub fn new(roots: &[PathBuf]) -> Result<Self, Refused> {
        roots.iter().map(|root| canonical_directory(root)).collect::<Result<_, _>>().map(Self)
    }

    fn hold(&self, path: &Path) -> bool {
        self.0.iter().any(|root| path.starts_with(root))
    }
}

/// The proof that a path passed every rule: canonical, allowed, and the top of a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFolder(PathBuf);

impl ProjectFolder {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// An allowed folder without a repository, which the user may be offered to turn into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainFolder(PathBuf);

impl PlainFolder {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    Repository(ProjectFolder),
    NotARepository(PlainFolder),
}

#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("type the folder's full path, starting with / or ~/")]
    NotAbsolute,
    #[error("~ is not known here; type the folder's full path, starting with /")]
    HomeUnknown,
    #[error("there is no folder at {0}")]
    Missing(PathBuf),
    #[error("{0} is a file; a project is a folder")]
    NotADirectory(PathBuf),
    #[error("BooCode may not read {0}; give its user access to that folder")]
    Unreadable(PathBuf),
    #[error("the whole file system cannot be a project; choose a folder in it")]
    FileSystemRoot,
    #[error("{path} is outside the folders that projects may lie in: {}", list(.roots))]
    OutsideRoots { path: PathBuf, roots: Vec<PathBuf> },
    #[error("this folder is inside the repository at {0}; add that one")]
    InsideRepository(PathBuf),
    #[error("{0} is a repository without working files (bare); clone it and add the clone")]
    Bare(PathBuf),
    #[error("the repository in {folder} keeps its files elsewhere, in {elsewhere}; that is not allowed")]
    LeadsElsewhere { folder: PathBuf, elsewhere: PathBuf },
    #[error(
        "{0} belongs to another user; if you trust it, run: git config --global --add safe.directory {0}"
    )]
    OtherOwner(PathBuf),
    #[error("the repository in {path} cannot be read: {}", .cause.message())]
    Git { path: PathBuf, cause: git2::Error },
    #[error("{path} cannot be used: {cause}")]
    Io { path: PathBuf, cause: io::Error },
}

/// Applies every rule to what the user typed. `home` is what `~` stands for.
pub fn check(typed: &str, home: Option<&Path>, roots: &AllowedRoots) -> Result<Checked, Refused> {
    let path = canonical_directory(&expand(typed.trim(), home)?)?;
    if path.parent().is_none() {
        return Err(Refused::FileSystemRoot);
    }
    if !roots.hold(&path) {
        return Err(Refused::OutsideRoots { path, roots: roots.0.clone() });
    }
    // Searching upwards is asked for separately below, because its answer is advice and not a project.
    let flags = RepositoryOpenFlags::NO_SEARCH;
    match Repository::open_ext(&path, flags, &[] as &[&Path]) {
        Ok(repository) => check_repository(path, &repository, roots),
        Err(error) if error.code() == ErrorCode::NotFound => check_surroundings(path),
        Err(error) => Err(refused_by_git(path, error)),
    }
}

/// Makes the folder a repository, with nothing from the user's templates: they may bring hooks.
pub fn init_repository(folder: &PlainFolder) -> Result<ProjectFolder, Refused> {
    let mut options = RepositoryInitOptions::new();
    options.no_reinit(true).mkdir(false).mkpath(false).external_template(false).initial_head("main");
    Repository::init_opts(&folder.0, &options).map_err(|error| refused_by_git(folder.0.clone(), error))?;
    Ok(ProjectFolder(folder.0.clone()))
}

fn expand(typed: &str, home: Option<&Path>) -> Result<PathBuf, Refused> {
    if typed == "~" || typed.starts_with("~/") {
        let home = home.filter(|home| home.is_absolute()).ok_or(Refused::HomeUnknown)?;
        return Ok(home.join(typed.trim_start_matches('~').trim_start_matches('/')));
    }
    let path = PathBuf::from(typed);
    if path.is_absolute() { Ok(path) } else { Err(Refused::NotAbsolute) }
}

fn canonical_directory(path: &Path) -> Result<PathBuf, Refused> {
    let refused = |cause: io::Error| refused_by_disk(path.to_owned(), cause);
    let canonical = fs::canonicalize(path).map_err(refused)?;
    // Listing tells, unlike `is_dir`, whether the folder can be used at all.
    fs::read_dir(&canonical).map_err(refused)?;
    Ok(canonical)
}

/// A repository may name other places for its files or its objects, and would take us out of the roots.
fn check_repository(
    path: PathBuf,
    repository: &Repository,
    roots: &AllowedRoots,
) -> Result<Checked, Refused> {
    let Some(workdir) = repository.workdir() else {
        return Err(Refused::Bare(path));
    };
    let workdir = canonical_directory(workdir)?;
    let objects = canonical_directory(repository.commondir())?;
    if workdir != path {
        if path == workdir.join(".git") {
            return Err(Refused::InsideRepository(workdir));
        }
        return Err(Refused::LeadsElsewhere { folder: path, elsewhere: workdir });
    }
    if !roots.hold(&objects) {
        return Err(Refused::LeadsElsewhere { folder: path, elsewhere: objects });
    }
    Ok(Checked::Repository(ProjectFolder(path)))
}

fn check_surroundings(path: PathBuf) -> Result<Checked, Refused> {
    let found = match Repository::discover_path(&path, &[] as &[&Path]) {
        Ok(found) => found,
        Err(error) if error.code() == ErrorCode::NotFound => {
            return Ok(Checked::NotARepository(PlainFolder(path)));
        }
        Err(error) => return Err(refused_by_git(path, error)),
    };
    // Not opened, only named: what lies further up was not asked for and need not be trusted.
    let top = if found.ends_with(".git") { found.parent().unwrap_or(&found) } else { &found };
    Err(Refused::InsideRepository(top.to_owned()))
}

fn refused_by_disk(path: PathBuf, cause: io::Error) -> Refused {
    match cause.kind() {
        io::ErrorKind::NotFound => Refused::Missing(path),
        io::ErrorKind::NotADirectory => Refused::NotADirectory(path),
        io::ErrorKind::PermissionDenied => Refused::Unreadable(path),
        _ => Refused::Io { path, cause },
    }
}

fn refused_by_git(path: PathBuf, cause: git2::Error) -> Refused {
    match cause.code() {
        ErrorCode::Owner => Refused::OtherOwner(path),
        _ => Refused::Git { path, cause },
    }
}

fn list(roots: &[PathBuf]) -> String {
    roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;

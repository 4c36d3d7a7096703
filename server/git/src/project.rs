//! The project as libgit2 opens it, with every reason against it in words.

use std::{ffi::OsStr, fs, io, os::unix::ffi::OsStrExt as _, path::Path};

use git2::{Commit, Config, ErrorCode, Repository, RepositoryOpenFlags, Signature};

use crate::{Error, Refused, error};

/// Only the repository at `path` itself: what lies further up was not asked for.
pub fn open(path: &Path) -> Result<Repository, Error> {
    let failed = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Refused::Missing(path.to_owned()).into(),
        _ => error::from_io(path, cause),
    };
    // Tells, unlike libgit2, whether the folder can be used at all.
    fs::read_dir(path).map_err(failed)?;
    let opened = Repository::open_ext(path, RepositoryOpenFlags::NO_SEARCH, &[] as &[&Path]);
    let repository = opened.map_err(|cause| match cause.code() {
        ErrorCode::NotFound => Refused::NotARepository(path.to_owned()).into(),
        ErrorCode::Owner => Refused::OtherOwner(path.to_owned()).into(),
        _ => Error::from(cause),
    })?;
    if repository.is_bare() {
        return Err(Refused::Bare(path.to_owned()).into());
    }
    check_places(path, &repository)?;
    Ok(repository)
}

/// A repository names where its files and its objects lie, and may be hostile: it must not lead an agent to other
/// folders of the user's.
fn check_places(path: &Path, repository: &Repository) -> Result<(), Error> {
    let real = |path: &Path| path.canonicalize().map_err(error::io(path));
    let (folder, files) = (real(path)?, repository.workdir().map_or_else(|| real(path), real)?);
    let elsewhere = |elsewhere| Err(Refused::LeadsElsewhere { folder: path.to_owned(), elsewhere }.into());
    if files != folder {
        return elsewhere(files);
    }
    let (own, common) = (real(repository.path())?, real(repository.commondir())?);
    if own != common && own.parent() != Some(&common.join("worktrees")) {
        return elsewhere(common);
    }
    let git = path.join(".git");
    let is_within = git.symlink_metadata().map_err(error::io(&git))?.is_dir() && own == folder.join(".git");
    if is_within || is_known(&folder, &own, &common) {
        return Ok(());
    }
    elsewhere(own)
}

/// Whether a repository that lies elsewhere says itself that its files are in this folder: as the one of a submodule or
/// of a linked worktree does. Whoever only points at it does not get what is in it.
fn is_known(folder: &Path, own: &Path, common: &Path) -> bool {
    let is_folder = |named: &Path| named.canonicalize().is_ok_and(|named| named == folder);
    if own == common {
        // Not what git finds where nothing is said: that is the folder that was asked for.
        let named = Config::open(&own.join("config")).and_then(|config| config.get_path("core.worktree"));
        return named.is_ok_and(|named| is_folder(&own.join(named)));
    }
    let Ok(file) = fs::read(own.join("gitdir")) else { return false };
    let file = own.join(OsStr::from_bytes(file.trim_ascii_end()));
    file.file_name() == Some(OsStr::new(".git")) && file.parent().is_some_and(is_folder)
}

pub fn head(repository: &Repository) -> Result<Commit<'_>, Error> {
    let unborn = |cause: git2::Error| match cause.code() {
        ErrorCode::UnbornBranch | ErrorCode::NotFound => {
            let path = repository.workdir().unwrap_or_else(|| repository.path());
            Refused::NoCommit(path.to_owned()).into()
        }
        _ => Error::from(cause),
    };
    Ok(repository.head().map_err(unborn)?.peel_to_commit()?)
}

/// Who commits there, as far as git has been told. A name that no commit can have is none.
pub fn user(repository: &Repository) -> Result<Option<Signature<'static>>, Error> {
    let config = repository.config()?.snapshot()?;
    let (Ok(name), Ok(email)) = (config.get_str("user.name"), config.get_str("user.email")) else {
        return Ok(None);
    };
    Ok(Signature::now(name, email).ok())
}

/// The ref that keeps the project's own cleaning from dropping what a worktree began with.
pub fn pin_name(id: &str) -> String {
    format!("refs/boocode/base/{id}")
}

/// Gives back what `pin_name` kept. Where the project is gone, so is the ref.
pub fn unpin(path: &Path, id: &str) -> Result<(), Error> {
    let Ok(repository) = open(path) else { return Ok(()) };
    match repository.find_reference(&pin_name(id)) {
        Ok(mut pin) => Ok(pin.delete()?),
        Err(cause) if cause.code() == ErrorCode::NotFound => Ok(()),
        Err(cause) => Err(cause.into()),
    }
}

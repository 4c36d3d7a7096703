//! The files of projects: a list of each one that is being searched, kept for as long as there is room.
//!
//! A list is made on a thread that may block. While it is being used it is made anew every few seconds, and
//! the old one answers meanwhile.

mod beneath;
mod listing;
mod walk;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use app::{
    error::AppError,
    files::FilesFound,
    ports::{Files, ReadFile},
};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{Instant, timeout},
};

use crate::{
    live::guard,
    project_folder::{self, AllowedRoots, Checked, ProjectFolder},
};
use listing::Listing;

/// What follows is left out of a list, and the list says so.
const PATHS_MAX: usize = 200_000;
const PATH_BYTES_MAX: usize = 32 * 1024 * 1024;
/// All lists together; those that were not used for the longest time go first.
const LISTS_BYTES_MAX: usize = 64 * 1024 * 1024;
const LISTS_MAX: usize = 16;
/// How old a list may get while it is used. One that takes long to make may get older.
const AGE_MAX: Duration = Duration::from_secs(3);
const AGE_TIMES_COST: u32 = 10;
/// How long a search waits for the first list of a project.
const FIRST_WAIT_MAX: Duration = Duration::from_secs(15);
const READ_WAIT_MAX: Duration = Duration::from_secs(10);

pub struct ProjectFiles {
    roots: AllowedRoots,
    lists: Arc<Mutex<HashMap<String, Kept>>>,
}

/// A project's list, or why there is none.
type Listed = Result<Arc<Listing>, String>;

struct Kept {
    /// `None` until the first one is made.
    latest: watch::Sender<Option<Listed>>,
    used: Instant,
    /// From when on a use makes it anew; `None` while that is being done.
    stale: Option<Instant>,
}

impl ProjectFiles {
    pub fn new(roots: AllowedRoots) -> Self {
        Self { roots, lists: Arc::default() }
    }

    async fn list(&self, project: &str) -> Result<Arc<Listing>, AppError> {
        let mut latest = self.ask(project);
        let made = timeout(FIRST_WAIT_MAX, latest.wait_for(Option::is_some)).await;
        let listed = made.ok().and_then(Result::ok).and_then(|listed| listed.clone());
        let words = "The project's files are still being listed. Try again in a moment.";
        listed.ok_or_else(|| AppError::Invalid(words.into()))?.map_err(AppError::Invalid)
    }

    /// Where the list is or will be; one that is missing or too old is being made from here on.
    fn ask(&self, project: &str) -> watch::Receiver<Option<Listed>> {
        let now = Instant::now();
        let mut lists = guard(&self.lists);
        let kept = lists.entry(project.to_owned()).or_insert_with(|| Kept {
            latest: watch::Sender::new(None),
            used: now,
            stale: Some(now),
        });
        kept.used = now;
        if kept.stale.is_some_and(|stale| stale <= now) {
            kept.stale = None;
            tokio::spawn(make(Arc::clone(&self.lists), project.to_owned(), self.roots.clone()));
        }
        kept.latest.subscribe()
    }
}

impl Files for ProjectFiles {
    fn find(
        &self,
        project: String,
        typed: String,
        limit: usize,
    ) -> BoxFuture<'_, Result<FilesFound, AppError>> {
        async move {
            let list = self.list(&project).await?;
            let found = spawn_blocking(move || list.find(&typed, limit)).await;
            found.map_err(|error| AppError::internal(&error))
        }
        .boxed()
    }

    fn read(&self, project: String, paths: Vec<String>, bytes_max: usize) -> BoxFuture<'_, Vec<ReadFile>> {
        let roots = self.roots.clone();
        async move {
            let unread = |reason: &str| {
                let left = |path: &String| (path.clone(), Err(reason.to_owned()));
                paths.iter().map(left).collect()
            };
            let reading = spawn_blocking({
                let paths = paths.clone();
                move || read_files(&project, &roots, paths, bytes_max)
            });
            match timeout(READ_WAIT_MAX, reading).await {
                Ok(Ok(Ok(read))) => read,
                Ok(Ok(Err(reason))) => unread(&reason),
                Ok(Err(error)) => unread(&error.to_string()),
                Err(_) => unread("It could not be read in time."),
            }
        }
        .boxed()
    }
}

async fn make(lists: Arc<Mutex<HashMap<String, Kept>>>, project: String, roots: AllowedRoots) {
    let began = Instant::now();
    let listed = spawn_blocking({
        let project = project.clone();
        move || list_files(&project, &roots).map(Arc::new)
    });
    let listed = listed.await.unwrap_or_else(|error| Err(error.to_string()));
    let mut lists = guard(&lists);
    if let Some(kept) = lists.get_mut(&project) {
        let now = Instant::now();
        kept.stale = Some(now + AGE_MAX.max(AGE_TIMES_COST * (now - began)));
        kept.latest.send_replace(Some(listed));
    }
    make_room(&mut lists);
}

fn list_files(project: &str, roots: &AllowedRoots) -> Result<Listing, String> {
    let folder = project_folder(project, roots)?;
    walk::list(&folder)
        .map_err(|error| format!("The files of {project} cannot be listed: {}.", error.message()))
}

fn read_files(
    project: &str,
    roots: &AllowedRoots,
    paths: Vec<String>,
    bytes_max: usize,
) -> Result<Vec<ReadFile>, String> {
    let folder = project_folder(project, roots)?;
    let read = |path: String| {
        let content = beneath::read(folder.path(), &path, bytes_max).transpose()?;
        Some((path, content.map_err(|error| format!("It cannot be read: {error}."))))
    };
    Ok(paths.into_iter().filter_map(read).collect())
}

/// The folder may have changed since it became a project, so every rule is applied again.
fn project_folder(project: &str, roots: &AllowedRoots) -> Result<ProjectFolder, String> {
    match project_folder::check(project, None, roots) {
        Ok(Checked::Repository(folder)) if folder.path() == Path::new(project) => Ok(folder),
        Ok(_) => Err(format!("{project} is no longer the git repository that was added.")),
        Err(refused) => Err(format!("The project's files cannot be read: {refused}.")),
    }
}

fn make_room(lists: &mut HashMap<String, Kept>) {
    let bytes = |kept: &Kept| match &*kept.latest.borrow() {
        Some(Ok(listing)) => listing.bytes(),
        _ => 0,
    };
    loop {
        let total: usize = lists.values().map(bytes).sum();
        if lists.len() <= 1 || (lists.len() <= LISTS_MAX && total <= LISTS_BYTES_MAX) {
            return;
        }
        let idle = lists.iter().filter(|(_, kept)| kept.stale.is_some());
        let Some(oldest) = idle.min_by_key(|(_, kept)| kept.used).map(|(project, _)| project.clone()) else {
            return;
        };
        lists.remove(&oldest);
    }
}

#[cfg(test)]
mod tests;

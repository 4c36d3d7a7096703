//! Diffs, laid out for the screen. A patch is read once and kept while there is room; what is costly, colours and
//! the texts around a change, is made for the windows that somebody looks at.

mod code;
mod colours;
mod languages;
mod prepared;
#[cfg(debug_assertions)]
mod samples;
mod text;

use std::{
    hash::{DefaultHasher, Hasher as _},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use app::{error::AppError, ports};
use domain::diff::{
    EXPANDED_MAX, Found, Of, Options, Outline, Rows, Seek, WINDOW_ROWS_MAX, Window, line_row,
    patch::{Patch, Unreadable},
};
use futures::future::{BoxFuture, FutureExt as _};
use git::Limits;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use crate::live::guard;
pub use code::Grammars;
use colours::{Coloured, piece_of};
use languages::Language;
use prepared::Prepared;
use text::Text;

/// All diffs together; those that were not used for the longest time go first.
const KEPT_BYTES_MAX: usize = 512 * 1024 * 1024;
const KEPT_MAX: usize = 16;
/// So many are laid out side by side.
const WORKERS: usize = 2;
/// So many are taken side by side. That may take as long as somebody waits, and nobody else has to wait for it.
const TAKERS: usize = 4;
const WAIT_MAX: Duration = Duration::from_secs(45);
const QUERY_BYTES_MAX: usize = 1_000;

/// Two sides of any origin. Its functions are called on a thread that may block.
pub trait Source: Send + Sync {
    fn take(&self, limits: &Limits) -> Result<Taken, AppError>;
    /// What is at a path before the change; none where it cannot be had.
    fn old_text(&self, path: &str) -> Option<Vec<u8>>;
    fn new_text(&self, path: &str) -> Option<Vec<u8>>;
}

/// What is different.
#[derive(Default)]
pub struct Taken {
    /// As git writes it.
    pub patch: Vec<u8>,
    pub left_out: Vec<String>,
}

/// Knows where changes come from.
pub trait Sources: Send + Sync {
    fn open(&self, of: Of) -> BoxFuture<'_, Result<Arc<dyn Source>, AppError>>;
}

/// Where nothing was changed.
pub struct NoChanges;

impl Sources for NoChanges {
    fn open(&self, of: Of) -> BoxFuture<'_, Result<Arc<dyn Source>, AppError>> {
        let opened = match of {
            #[cfg(debug_assertions)]
            Of::Sample(sample) => Ok(samples::open(sample)),
            _ => Err(AppError::Invalid("There are no changes here.".into())),
        };
        async { opened }.boxed()
    }
}

/// Lines of a file as rows of a diff in which nothing was changed, and how many it has.
pub(crate) fn file_rows(path: &str, bytes: Vec<u8>, window: Window) -> Option<(u32, String)> {
    let text = Text::whole(bytes)?;
    let language = Language::of_path(path);
    let first = window.start as usize;
    let last = first.saturating_add(window.count as usize).min(text.count());
    let (mut piece, mut coloured) = (None, None);
    let row = |index: usize| {
        // The colours of the piece that the line is in, made once.
        if piece != Some(piece_of(&text, index)) {
            piece = Some(piece_of(&text, index));
            coloured = language.map(|language| Coloured::new(&text, piece_of(&text, index), language));
        }
        let colours = coloured.as_ref().map_or(&[][..], |coloured| coloured.line(index));
        line_row(index as u32 + 1, text.line(index), colours)
    };
    let rows: Vec<_> = (first..last).map(row).collect();
    Some((text.count() as u32, rows.join("\n")))
}

pub struct Diffs {
    sources: Arc<dyn Sources>,
    /// The one used last is at the end.
    kept: Arc<Mutex<Vec<Arc<Prepared>>>>,
    workers: Arc<Semaphore>,
    takers: Arc<Semaphore>,
}

/// Nobody waits any more.
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Diffs {
    pub fn new(sources: Arc<dyn Sources>) -> Self {
        let [workers, takers] = [WORKERS, TAKERS].map(|count| Arc::new(Semaphore::new(count)));
        Self { sources, kept: Arc::default(), workers, takers }
    }

    /// What was kept, or a fresh one.
    async fn prepared(&self, of: Of) -> Result<Arc<Prepared>, AppError> {
        let found = {
            let mut kept = guard(&self.kept);
            let found = kept.iter().position(|prepared| prepared.of == of);
            found.map(|at| {
                let prepared = kept.remove(at);
                kept.push(Arc::clone(&prepared));
                prepared
            })
        };
        match found {
            Some(prepared) => Ok(prepared),
            None => self.prepare(of).await,
        }
    }

    /// Takes the patch anew, and goes on with what is kept where it is the same.
    async fn prepare(&self, of: Of) -> Result<Arc<Prepared>, AppError> {
        let source = self.sources.open(of).await?;
        let kept = Arc::clone(&self.kept);
        let limits = Limits { until: Instant::now() + WAIT_MAX, ..Limits::default() };
        let _given_up = GivenUp(Arc::clone(&limits.cancel));
        within(&self.takers, move || {
            let Taken { patch, left_out } = source.take(&limits)?;
            let stamp = stamp(&patch);
            let is_same = |prepared: &&Arc<Prepared>| {
                prepared.of == of && prepared.stamp == stamp && prepared.left_out == left_out
            };
            let same = guard(&kept).iter().find(is_same).cloned();
            if let Some(same) = same {
                return Ok(same);
            }
            let patch = Patch::read(patch).map_err(refused)?;
            let prepared = Arc::new(Prepared::new(of, stamp, left_out, patch, source));
            let mut kept = guard(&kept);
            kept.retain(|prepared| prepared.of != of);
            kept.push(Arc::clone(&prepared));
            make_room(&mut kept);
            Ok(prepared)
        })
        .await
    }

    async fn with<T: Send + 'static>(
        &self,
        of: Of,
        work: impl FnOnce(&Prepared) -> T + Send + 'static,
    ) -> Result<T, AppError> {
        let prepared = self.prepared(of).await?;
        within(&self.workers, move || Ok(work(&prepared))).await
    }
}

/// On a thread that may take its time, but not for ever.
async fn within<T: Send + 'static>(
    threads: &Arc<Semaphore>,
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    let late = || AppError::Invalid("The diff takes too long to prepare. Try again in a moment.".into());
    let threads = Arc::clone(threads);
    let worked = async {
        let permit = threads.acquire_owned().await.map_err(|error| AppError::internal(&error))?;
        let worked = spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        worked.await.map_err(|error| AppError::internal(&error))?
    };
    timeout(WAIT_MAX, worked).await.map_err(|_| late())?
}

impl ports::Diffs for Diffs {
    fn outline(&self, of: Of, options: Options) -> BoxFuture<'_, Result<Outline, AppError>> {
        async move {
            let options = checked(options)?;
            let prepared = self.prepare(of).await?;
            within(&self.workers, move || Ok(prepared.outline(&options))).await
        }
        .boxed()
    }

    fn rows(&self, of: Of, options: Options, window: Window) -> BoxFuture<'_, Result<Rows, AppError>> {
        let window = Window { count: window.count.min(WINDOW_ROWS_MAX), ..window };
        async move {
            let options = checked(options)?;
            self.with(of, move |prepared| prepared.rows(&options, window)).await
        }
        .boxed()
    }

    fn find(&self, of: Of, options: Options, query: String) -> BoxFuture<'_, Result<Found, AppError>> {
        async move {
            if query.len() > QUERY_BYTES_MAX {
                return Err(AppError::Invalid("That is too long to look for.".into()));
            }
            let options = checked(options)?;
            self.with(of, move |prepared| prepared.find(&options, &query)).await
        }
        .boxed()
    }

    fn seek(
        &self,
        of: Of,
        options: Options,
        from: u32,
        seek: Seek,
    ) -> BoxFuture<'_, Result<Option<u32>, AppError>> {
        async move {
            let options = checked(options)?;
            self.with(of, move |prepared| prepared.view(&options).seek(from, seek)).await
        }
        .boxed()
    }

    fn patch(&self, of: Of, file: u32) -> BoxFuture<'_, Result<String, AppError>> {
        async move {
            let patch = self.with(of, move |prepared| prepared.patch_of(file as usize)).await?;
            patch
                .ok_or_else(|| AppError::Invalid("The diff has no such file any more. Load it again.".into()))
        }
        .boxed()
    }
}

fn checked(options: Options) -> Result<Options, AppError> {
    if options.expanded.len() > EXPANDED_MAX {
        return Err(AppError::Invalid("So much is unfolded that the file is better read as a whole.".into()));
    }
    Ok(options)
}

fn refused(unreadable: Unreadable) -> AppError {
    AppError::Invalid(unreadable.to_string())
}

fn stamp(patch: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(patch);
    format!("{:016x}", hasher.finish())
}

/// The newest one stays, however large it is.
fn make_room(kept: &mut Vec<Arc<Prepared>>) {
    while kept.len() > 1
        && (kept.len() > KEPT_MAX
            || kept.iter().map(|prepared| prepared.size()).sum::<usize>() > KEPT_BYTES_MAX)
    {
        kept.remove(0);
    }
}

#[cfg(test)]
mod tests;

//! Where the diff of a Coder comes from: its worktree, as it is when somebody looks.

use std::sync::Arc;

use app::error::AppError;
use domain::{diff::Of, worktree::State};
use futures::future::{BoxFuture, FutureExt as _};
use git::Limits;

use super::Coders;
use crate::{
    diffs::{NoChanges, Source, Sources},
    sentence::sentence,
};

/// A longer text is not coloured, and what lies around a change in it cannot be unfolded.
const TEXT_BYTES_MAX: u64 = 8 * 1024 * 1024;

pub struct CoderChanges(pub Arc<Coders>);

impl Sources for CoderChanges {
    fn open(&self, of: Of) -> BoxFuture<'_, Result<Arc<dyn Source>, AppError>> {
        async move {
            let Of::Chat(chat) = of else { return NoChanges.open(of).await };
            let known = store::worktrees::get(&self.0.db, chat).await?;
            match known.filter(|worktree| worktree.state == State::Ready) {
                Some(worktree) => {
                    let worktree = git::Worktree::open(&self.0.place(&worktree)).map_err(refused)?;
                    Ok(Arc::new(Changed(worktree)) as Arc<dyn Source>)
                }
                None => NoChanges.open(of).await,
            }
        }
        .boxed()
    }
}

struct Changed(git::Worktree);

impl Source for Changed {
    fn patch(&self) -> Result<Vec<u8>, AppError> {
        Ok(self.0.diff(&Limits::default()).map_err(refused)?.patch)
    }

    fn old_text(&self, path: &str) -> Option<Vec<u8>> {
        self.0.before(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        self.0.after(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }
}

fn refused(error: git::Error) -> AppError {
    AppError::Invalid(sentence(&error.to_string()))
}

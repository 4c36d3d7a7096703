//! A contestant that changes code: whoever does the work, and then what came of it.

use std::sync::Arc;

use domain::{
    feed::StreamId,
    output::{Measured, Output},
};
use futures::future::{BoxFuture, FutureExt as _};
use git::Limits;
use store::results::Made;
use tokio::sync::mpsc;

use crate::{
    backend,
    coder::{Coders, blocking, changes},
    engine::{Backend, Stop},
};

pub(crate) struct Contesting {
    pub backend: Arc<dyn Backend>,
    pub coders: Arc<Coders>,
    pub stream: StreamId,
}

impl Backend for Contesting {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async move {
            let worked = self.backend.run(outputs, stop).await;
            // By now nobody writes any more. What was changed is kept, however the work ended.
            match (worked, self.keep().await) {
                (Ok(measured), Ok(())) => Ok(measured),
                // Without its change the work would look like none.
                (Ok(_), Err(error)) => Err(error),
                (Err(error), _) => Err(error),
            }
        }
        .boxed()
    }
}

impl Contesting {
    async fn keep(&self) -> Result<(), backend::Error> {
        let db = self.coders.db();
        let unprepared = |error: store::Error| backend::Error::Unprepared(error.to_string());
        // None where it ended before it had one.
        let Some(worktree) = store::worktrees::of_attempt(db, self.stream).await.map_err(unprepared)? else {
            return Ok(());
        };
        let folder = self.coders.place(&worktree);
        let diff = blocking(move || git::Worktree::open(&folder)?.seal(&Limits::default())).await?;
        let made = Made { changes: Some(changes(&diff)), checked: None };
        store::results::keep(db, self.stream, &made, Some(&diff.patch)).await.map_err(unprepared)
    }
}

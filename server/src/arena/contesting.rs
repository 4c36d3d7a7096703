//! A contestant that changes code: whoever does the work, and then what came of it.

use std::{sync::Arc, time::Duration};

use domain::{
    feed::StreamId,
    output::{Measured, Output},
};
use futures::future::{BoxFuture, FutureExt as _};
use git::Limits;
use store::results::Made;
use tokio::{sync::mpsc, time::timeout};

use crate::{
    backend,
    coder::{Coders, blocking, changes},
    engine::{Backend, Stop},
    persist::persist,
    sentence::sentence,
};

/// How long it may take to read what a worktree holds. Less than all of keeping it may, so that it can be said.
const READ_WAIT_MAX: Duration = Duration::from_secs(120);

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
        self.backend.run(outputs, stop)
    }

    fn keep(&self) -> BoxFuture<'_, Result<(), backend::Error>> {
        self.seal().boxed()
    }
}

impl Contesting {
    /// What cannot be read is no empty change: why not is kept in its place.
    async fn seal(&self) -> Result<(), backend::Error> {
        let db = self.coders.db();
        let found = persist(|| store::worktrees::of_attempt(db, self.stream)).await?;
        // None where it ended before it had one.
        let Some(worktree) = found else { return Ok(()) };
        let folder = self.coders.place(&worktree);
        let sealing = blocking(move || git::Worktree::open(&folder)?.seal(&Limits::default()));
        let late = || backend::Error::Unprepared("Its worktree could not be read within 2 minutes.".into());
        let sealed = timeout(READ_WAIT_MAX, sealing).await.unwrap_or_else(|_| Err(late()));
        let (made, patch) = match &sealed {
            Ok(diff) => (Made { changes: Some(changes(diff)), ..Made::default() }, Some(&diff.patch[..])),
            Err(error) => (Made { unkept: Some(sentence(&error.to_string())), ..Made::default() }, None),
        };
        persist(|| store::results::keep(db, self.stream, &made, patch)).await?;
        sealed.map(drop)
    }
}

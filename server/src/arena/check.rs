//! A project's own check, on the base or on a result: in a clean tree, behind a wall, for so long and so much.

use std::{
    fmt::Display,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{
    battle::{Checked, check::LIMIT_S},
    feed::StreamId,
    id::BattleId,
    output::{Measured, Output, Phase},
};
use futures::future::{BoxFuture, FutureExt as _};
use git::Limits;
use store::results::Made;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::mpsc,
    time::timeout,
};
use wall::{Grace, Process};

use crate::{
    backend,
    coder::{Coders, Turn, blocking, space_run_out},
    engine::{Backend, Redactor, Stop},
    persist::persist,
};

/// What of its output is kept. More is read and thrown away, so that it does not wait for a reader.
const OUTPUT_BYTES_MAX: usize = 2 * 1024 * 1024;
const RUN_MAX: Duration = Duration::from_secs(LIMIT_S as u64);

pub(crate) struct CheckRun {
    pub coders: Arc<Coders>,
    pub stream: StreamId,
    pub command: String,
    pub battle: BattleId,
    pub of: Of,
    pub secrets: Arc<[String]>,
}

/// Which tree is checked.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    Base,
    /// The result of this attempt.
    Result(StreamId),
}

impl Backend for CheckRun {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async move {
            let _ = outputs.send(Output::Phase(Phase::Preparing)).await;
            let checked = self.in_clean_tree(outputs, stop).await;
            // Also of an attempt that is lost, of which nothing is kept.
            self.remove_tree().await;
            let checked = checked?;
            let measured = Measured { duration_ms: checked.duration_ms, ..Measured::default() };
            let made = Made { checked: Some(checked), ..Made::default() };
            persist(|| store::results::keep(self.coders.db(), self.stream, &made, None)).await?;
            Ok(measured)
        }
        .boxed()
    }

    /// Its tree is there still if its making or its use had to be broken off.
    fn keep(&self) -> BoxFuture<'_, Result<(), backend::Error>> {
        async move {
            self.remove_tree().await;
            Ok(())
        }
        .boxed()
    }
}

impl CheckRun {
    fn place(&self) -> (String, PathBuf) {
        let id = format!("check-{}-{}", self.stream.task, self.stream.attempt);
        let folder = self.coders.checks().join(&id);
        (id, folder)
    }

    async fn in_clean_tree(
        &self,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<Checked, backend::Error> {
        let setup = self.coders.setup_of_battle(self.battle).await?;
        let tree = self.tree().await?;
        let turn = Turn { stream: self.stream, outputs, stop };
        let tree = self.coders.set_up(tree, &setup, turn).await?;
        self.check(&tree, outputs, stop).await
    }

    /// It has served; nobody looks at it again.
    async fn remove_tree(&self) {
        let (_, folder) = self.place();
        let removed = blocking(move || match folder.exists() {
            true => git::Worktree::open(&folder)?.remove(),
            false => Ok(()),
        });
        if let Err(error) = removed.await {
            tracing::warn!(%error, "the tree of a check could not be removed; the next start does");
        }
    }

    /// A clean one: nothing that somebody built or left lying about is in it.
    async fn tree(&self) -> Result<git::Worktree, backend::Error> {
        let (id, folder) = self.place();
        let snapshot = self.coders.snapshot_folder(self.battle.0);
        match self.of {
            Of::Base => {
                blocking(move || git::Snapshot::open(&snapshot)?.worktree(&folder, &id, &Limits::default()))
                    .await
            }
            Of::Result(stream) => {
                let found = store::worktrees::of_attempt(self.coders.db(), stream).await?;
                let from = found.map(|worktree| self.coders.place(&worktree)).ok_or_else(|| {
                    backend::Error::Unprepared("The worktree of the result is not there any more.".into())
                })?;
                blocking(move || {
                    let began_with = git::Snapshot::open(&snapshot)?;
                    git::Worktree::open(&from)?.copy_result(&folder, &id, &began_with, &Limits::default())
                })
                .await
            }
        }
    }

    async fn check(
        &self,
        tree: &git::Worktree,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<Checked, backend::Error> {
        let arguments = vec!["-c".into(), self.command.clone().into()];
        let mut process = self.coders.command(tree, "/bin/sh", arguments, self.stream).await?;
        drop(process.stdin.take());
        let (Some(out), Some(err)) = (process.stdout.take(), process.stderr.take()) else {
            return Err(backend::Error::Unprepared("The check could not be started.".into()));
        };
        let _ = outputs.send(Output::Phase(Phase::Generating)).await;
        let started = Instant::now();
        let (said, heard) = mpsc::channel(64);
        let listening = hear(heard, outputs);
        let running = within_limits(run(&mut process, out, err, said), space_run_out(tree));
        let finished = async { tokio::join!(running, listening) };
        let Some((code, mut output)) = stop.token().run_until_cancelled(finished).await else {
            end(process).await;
            return Err(backend::Error::Cancelled);
        };
        end(process).await;
        if let Err(words) = &code {
            output.push_str(words);
        }
        let took = started.elapsed().as_millis() as u64;
        // What it said is kept, shown, exported and judged.
        let output = Redactor::new(Arc::clone(&self.secrets)).redact(&output);
        Ok(Checked::new(code.ok().flatten(), took, &output))
    }
}

/// How it ended, or why it was stopped.
async fn within_limits(
    running: impl Future<Output = Option<i32>>,
    space_run_out: impl Future<Output = impl Display>,
) -> Result<Option<i32>, String> {
    tokio::select! {
        code = timeout(RUN_MAX, running) => {
            code.map_err(|_| format!("\n[It was stopped after {} minutes.]", RUN_MAX.as_secs() / 60))
        }
        why = space_run_out => Err(format!("\n[It was stopped: {why}.]")),
    }
}

async fn run(
    process: &mut Process,
    out: impl AsyncRead + Unpin,
    err: impl AsyncRead + Unpin,
    said: mpsc::Sender<String>,
) -> Option<i32> {
    let (status, (), ()) = tokio::join!(process.wait(), read(out, said.clone()), read(err, said));
    status.ok().and_then(|status| status.code())
}

async fn end(process: Process) {
    if let Err(error) = process.end(Grace::default()).await {
        tracing::error!(%error, "the check's processes could not all be ended");
    }
}

async fn read(mut pipe: impl AsyncRead + Unpin, said: mpsc::Sender<String>) {
    let mut piece = vec![0; 8 * 1024];
    while let Ok(read @ 1..) = pipe.read(&mut piece).await {
        if said.send(String::from_utf8_lossy(&piece[..read]).into_owned()).await.is_err() {
            return;
        }
    }
}

/// Shows it as it comes, and keeps its end.
async fn hear(mut heard: mpsc::Receiver<String>, outputs: &mpsc::Sender<Output>) -> String {
    let (mut kept, mut shown) = (String::new(), 0);
    while let Some(piece) = heard.recv().await {
        if shown < OUTPUT_BYTES_MAX {
            shown += piece.len();
            let _ = outputs.send(Output::Text(piece.clone())).await;
        }
        kept.push_str(&piece);
        if kept.len() > 2 * OUTPUT_BYTES_MAX {
            let from = kept.ceil_char_boundary(kept.len() - OUTPUT_BYTES_MAX);
            kept.drain(..from);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::sleep;

    use super::*;

    /// What it may take, it may take whatever its tree and the project's setup took before.
    #[tokio::test(start_paused = true)]
    async fn a_check_has_its_own_time() {
        let takes = |seconds: u64| async move {
            sleep(Duration::from_secs(seconds)).await;
            Some(0)
        };
        let limit = u64::from(LIMIT_S);
        assert_eq!(within_limits(takes(limit - 1), pending::<&str>()).await, Ok(Some(0)));
        let stopped = within_limits(takes(limit + 1), pending::<&str>()).await;
        assert_eq!(stopped, Err("\n[It was stopped after 20 minutes.]".to_owned()));
        let no_room = within_limits(pending(), async { "the disk is full" }).await;
        assert_eq!(no_room, Err("\n[It was stopped: the disk is full.]".to_owned()));
    }

    #[tokio::test]
    async fn of_what_it_says_the_beginning_is_shown_and_the_end_is_kept() {
        let (said, heard) = mpsc::channel(1);
        let (outputs, mut shown) = mpsc::channel(1);
        let pieces = 5 * OUTPUT_BYTES_MAX / 1024;
        let speaking = async move {
            for nth in 0..pieces {
                said.send(format!("{nth:>1024}")).await.unwrap();
            }
        };
        let watching = async {
            let (mut bytes, mut first) = (0, None);
            while let Some(Output::Text(piece)) = shown.recv().await {
                bytes += piece.len();
                first.get_or_insert(piece);
            }
            (bytes, first.unwrap())
        };
        let listening = async {
            let kept = hear(heard, &outputs).await;
            drop(outputs);
            kept
        };
        let ((), kept, (bytes, first)) = tokio::join!(speaking, listening, watching);
        assert_eq!((bytes, first.trim()), (OUTPUT_BYTES_MAX, "0"));
        assert!(kept.len() <= 2 * OUTPUT_BYTES_MAX && kept.ends_with(&(pieces - 1).to_string()));
    }
}

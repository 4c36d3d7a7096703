//! What a project asks for before an agent begins in a new worktree: a command, behind the agent's own wall.

use domain::{
    feed::StreamId,
    output::Output,
    setup::{SECONDS_MAX, Setup},
    tool::{Kind, Status, Update, shortened},
};
use git::Limits;
use serde_json::json;
use tokio::sync::mpsc;
use tools::{Answer, Call};

use super::{Coders, Ground, space::Space, tool_program::ToolProgram, worktrees::blocking};
use crate::{backend, engine::Stop};

/// The id of its call in the stream. An agent's own calls have longer ones.
const CALL: &str = "setup";
const LAST_WORDS_BYTES_MAX: usize = 2 * 1024;

/// The turn that a worktree is made for: who is told of it, and who may end it.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub stream: StreamId,
    pub outputs: &'a mpsc::Sender<Output>,
    pub stop: &'a Stop,
}

impl Coders {
    /// Runs the setup command, shows what it says, and takes what it made for the worktree's beginning. Where that
    /// fails the worktree goes: what is not whole is nobody's, and nothing in it is worth keeping.
    pub(crate) async fn set_up(
        &self,
        worktree: git::Worktree,
        setup: &Setup,
        turn: Turn<'_>,
    ) -> Result<git::Worktree, backend::Error> {
        let set_up = self.run_setup(worktree.clone(), setup, turn).await;
        if set_up.is_err()
            && let Err(error) = blocking(move || worktree.remove()).await
        {
            tracing::warn!(%error, "a worktree that was not finished stays until the next start");
        }
        set_up
    }

    async fn run_setup(
        &self,
        worktree: git::Worktree,
        setup: &Setup,
        turn: Turn<'_>,
    ) -> Result<git::Worktree, backend::Error> {
        if setup.command.is_empty() {
            return Ok(worktree);
        }
        let update = |update: Update| async move {
            let update = Output::Tool(Update { id: CALL.to_owned(), ..update });
            turn.outputs.send(update).await.map_err(|_| backend::Error::Cancelled)
        };
        update(Update {
            title: Some("Set up the worktree".to_owned()),
            kind: Some(Kind::Execute),
            status: Some(Status::Running),
            input: Some(shortened(&setup.command)),
            ..Update::default()
        })
        .await?;
        let ground = Ground::of(&worktree)?;
        let mut program = ToolProgram::start(self, &ground, turn.stream).await?;
        let arguments = json!({ "command": setup.command, "seconds": SECONDS_MAX });
        let call = Call { name: "run".to_owned(), arguments };
        let space = Space::default();
        let answer = tokio::select! {
            answer = program.call(&call) => answer,
            () = turn.stop.token().cancelled() => Err(backend::Error::Cancelled),
            why = space.run_out(&ground) => Err(backend::Error::Unprepared(format!(
                "The project's setup command was stopped: {why}. The worktree was not used."
            ))),
        };
        program.end().await;
        let Answer { text, failed } = answer?;
        let status = Some(if failed { Status::Failed } else { Status::Done });
        update(Update { status, output: Some(shortened(&text)), ..Update::default() }).await?;
        if failed {
            let words = last_words(&text);
            return Err(backend::Error::Unprepared(format!(
                "The project's setup command failed, and the worktree was not used. Its last words: {words}"
            )));
        }
        blocking(move || worktree.begin_anew(&Limits::default())).await
    }
}

fn last_words(text: &str) -> &str {
    let text = text.trim();
    &text[text.ceil_char_boundary(text.len().saturating_sub(LAST_WORDS_BYTES_MAX))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_failure_is_told() {
        assert_eq!(
            last_words(" no such file\n[It ended with code 2.]\n"),
            "no such file\n[It ended with code 2.]"
        );
        let long = format!("{}{}end", "é".repeat(LAST_WORDS_BYTES_MAX), "x".repeat(9));
        assert!(last_words(&long).len() <= LAST_WORDS_BYTES_MAX && last_words(&long).ends_with("end"));
    }
}

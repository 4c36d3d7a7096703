//! An agent's own program at work: started behind its wall, pointed at its model, ended and verified gone.

mod earlier;
mod talked;

use std::{os::unix::process::ExitStatusExt as _, path::PathBuf, sync::Arc, time::Instant};

use acp::{Agent, Block, Need, Turn};
use domain::{
    chat::Coder,
    feed::StreamId,
    flow::plan::Limits,
    id::{TaskId, WorktreeId},
    output::{Measured, Output, Phase},
};
use futures::future::{BoxFuture, FutureExt as _};
use store::worktrees::AgentSession;
use tokio::{io::AsyncReadExt as _, net::TcpListener, process::ChildStderr, sync::mpsc};
use wall::{Ending, Grace, Process, Program};

use super::{
    Coders, Ground, Place, asking::Asking, environment, home_file, node, setup, space::Space, unprepared,
    way::Way,
};
use crate::{
    backend,
    engine::{Backend, Stop},
    models::Endpoint,
};
use earlier::Earlier;
use talked::Talked;

/// The last words of a program that failed.
const STDERR_BYTES_MAX: usize = 4 * 1024;
/// The exit code of one that was killed, as a shell says it.
const KILLED: i32 = 128 + 9;

pub(crate) struct ExternalAgent {
    pub coders: Arc<Coders>,
    pub agent: &'static Agent,
    pub stream: StreamId,
    pub place: Place,
    pub coder: Coder,
    pub endpoint: Endpoint,
    pub model: String,
    pub asking: Asking,
    /// What is asked now.
    pub prompt: Vec<Block>,
    /// What was said before, for one that cannot go on from where it was.
    pub before: Option<String>,
    /// The answer that the question follows: only one that has heard all until then can go on.
    pub after: Option<TaskId>,
    /// How much it may work, where that is not free.
    pub limits: Option<Limits>,
}

impl Backend for ExternalAgent {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        self.work(outputs, stop).boxed()
    }
}

impl ExternalAgent {
    async fn work(&self, outputs: &mpsc::Sender<Output>, stop: &Stop) -> Result<Measured, backend::Error> {
        say(outputs, Output::Phase(Phase::Preparing)).await?;
        if let Place::Reading(project) = &self.place {
            let reading = self.coders.reading(self.stream, project.as_deref()).await?;
            let talked = self.talk(&reading.ground, &Earlier::None, acp::Mode::ReadOnly, outputs, stop).await;
            reading.end().await;
            let talked = talked?;
            talked.tell_usage(outputs).await?;
            return talked.measured();
        }
        let turn = setup::Turn { stream: self.stream, outputs, stop };
        let worktree = self.coders.worktree(turn, &self.place, &self.coder).await?;
        let id = worktree.id().parse().map_err(|error| unprepared(&error))?;
        let sessions = store::worktrees::agent_sessions(&self.coders.db, id);
        let known = sessions.await?.remove(self.agent.name);
        let earlier = Earlier::of(known, id, self.after);
        let mode = if self.asking.allows_all { acp::Mode::Edit } else { acp::Mode::Ask };
        let talked = self.talk(&Ground::of(&worktree)?, &earlier, mode, outputs, stop).await?;
        talked.tell_usage(outputs).await?;
        if let Some(words) = earlier.began_anew(self.agent.title, &talked.ended) {
            say(outputs, Output::Text(format!("\n\n*{words}*"))).await?;
        }
        let session = if talked.ended.can_resume { talked.ended.session.as_str() } else { "" };
        self.keep(id, session).await;
        talked.measured()
    }

    /// One turn with the agent, from its start to when nothing of it runs any more.
    async fn talk(
        &self,
        ground: &Ground,
        earlier: &Earlier,
        mode: acp::Mode,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<Talked, backend::Error> {
        let mut way =
            Way::open(&self.coders, self.agent, &self.endpoint, &self.model, self.limits, outputs).await?;
        let mut process = self.start(ground, &way).await?;
        if let Some(Err(error)) = process.door.take().map(|door| way.answer_at(door)) {
            process.end(Grace::default()).await.map_err(|error| unprepared(&error))?;
            return Err(unprepared(&error));
        }
        if let Earlier::GoesOn { worktree, .. } = earlier {
            // From here on the session holds more than it is known by. Where this turn does not come to its end,
            // nobody may go on from it.
            self.keep(*worktree, "").await;
        }
        // As our own agent's, its clock starts once its wall is up.
        let started = Instant::now();
        let (stdin, stdout) = match (process.stdin.take(), process.stdout.take()) {
            (Some(stdin), Some(stdout)) => (stdin, stdout),
            _ => return Err(backend::Error::Unprepared("The agent could not be started.".into())),
        };
        let last_words = process.stderr.take().map(|stderr| tokio::spawn(tail(stderr)));
        say(outputs, Output::Phase(Phase::Generating)).await?;
        let turn = Turn {
            folder: ground.folder.clone(),
            prompt: self.prompt.clone(),
            resume: earlier.session(),
            before: self.before.clone(),
            mode,
            limits: acp::Limits::default(),
        };
        let talk = acp::run(self.agent, stdin, stdout, turn, outputs, &self.asking, stop.token());
        let space = Space::default();
        let ended = tokio::select! {
            ended = talk => Ok(ended),
            // The agent would have gone on asking.
            words = way.given_up() => Err(backend::Error::Unprepared(words)),
            error = space.stop_agent(ground) => Err(error),
        };
        // As our own agent's, it ends with the last word: what its program takes to go is no work.
        let worked = started.elapsed();
        let ending = match process.end(Grace::default()).await {
            Ok(ending) => Some(ending),
            Err(error) => {
                tracing::error!(%error, "the agent's processes could not all be ended");
                None
            }
        };
        match ended {
            Err(error) => Err(error),
            Ok(Ok(ended)) => {
                Ok(Talked { ended, worked, server: way.measured(), is_counted: way.has_counted() })
            }
            Ok(Err(error)) => {
                let words = match last_words {
                    Some(words) => words.await.unwrap_or_default(),
                    None => String::new(),
                };
                Err(failure(&error, ending.as_ref().and_then(own_code), &words, way.trouble()))
            }
        }
    }

    async fn start(&self, ground: &Ground, way: &Way) -> Result<Process, backend::Error> {
        let (installed, programs) = self.coders.programs(self.agent)?;
        let port = match self.agent.needs(Need::Port) {
            true => Some(free_port().await.map_err(|error| unprepared(&error))?),
            false => None,
        };
        let launch = self.agent.launch(&installed, &way.source(&self.model), port).ok_or_else(|| {
            backend::Error::Unprepared(format!("{} has no login of its own.", self.agent.title))
        })?;
        for file in &launch.files {
            home_file::put(&ground.home, file.path, &file.text).map_err(|error| unprepared(&error))?;
        }
        let mut wall = self.coders.wall(ground, Some(way.port()));
        wall.own_port = port;
        wall.programs.extend(programs);
        wall.shared = way.shared(&ground.home)?;
        let mut env = environment(ground);
        env.extend(launch.environment.into_iter().map(|(name, value)| (name.into(), value.into())));
        if self.agent.needs(Need::Node) {
            let title = self.agent.title;
            let without =
                |words: &str| backend::Error::Unprepared(format!("{title} needs Node.js, {words}."));
            let node = self.coders.node().await.ok_or_else(|| without("which is not installed"))?;
            let home = std::env::var_os("HOME").and_then(|home| PathBuf::from(home).canonicalize().ok());
            let reached = node::reach(&node.bin, home.as_deref())
                .ok_or_else(|| without("and what is called node is something else that starts it"))?;
            if let Some((_, path)) = env.iter_mut().find(|(name, _)| name == "PATH") {
                *path = format!("{}:{}", reached.bin.display(), super::PATH).into();
            }
            wall.programs.extend(reached.programs);
        }
        let program = Program {
            program: launch.program.into_os_string(),
            args: launch.arguments.into_iter().map(Into::into).collect(),
            env,
            folder: ground.folder.clone(),
        };
        let (level, marker) = (self.coders.level().await, self.coders.marker(self.stream));
        let spawned = Process::spawn(&self.coders.helper, &level, &wall, program, &marker);
        spawned.await.map_err(|error| unprepared(&error))
    }

    /// Notes where it can go on from; from nowhere if the session is empty.
    async fn keep(&self, worktree: WorktreeId, session: &str) {
        // Whoever goes on in a battle's worktree asks first.
        let after = matches!(self.place, Place::Chat(_)).then_some(self.stream.task);
        let session = AgentSession { session: session.to_owned(), after };
        let kept = store::worktrees::keep_agent_session(&self.coders.db, worktree, self.agent.name, session);
        if let Err(error) = kept.await {
            tracing::warn!(%error, "an agent's session could not be kept");
        }
    }
}

/// A model's failure is the agent's; what keeps it from starting is ours, and so is a login that has run out or a model
/// server that is gone, whether the agent says so or ends without a word. One that somebody killed before it was asked
/// anything has not failed at all.
fn failure(
    error: &acp::Error,
    code: Option<i32>,
    last_words: &str,
    trouble: Option<String>,
) -> backend::Error {
    let words = match last_words {
        "" => error.to_string(),
        last => format!("{error} Its last words: {last}"),
    };
    match (error, trouble) {
        (acp::Error::Cancelled { .. }, _) => backend::Error::Cancelled,
        (acp::Error::SignedOut { .. }, _) => backend::Error::Unprepared(words),
        (
            acp::Error::Model { .. }
            | acp::Error::Wordless { .. }
            | acp::Error::Gone { step: acp::Step::Answer, .. },
            Some(trouble),
        ) => backend::Error::Unprepared(format!("{trouble} {words}")),
        (acp::Error::Gone { step, .. }, _) if *step != acp::Step::Answer => match code {
            Some(KILLED) => backend::Error::Killed { words },
            Some(wall::REFUSED) => backend::Error::Unprepared(words),
            _ => backend::Error::Agent { words },
        },
        _ => backend::Error::Agent { words },
    }
}

/// What it ended with as a shell says it, unless it had to be made to end.
fn own_code(ending: &Ending) -> Option<i32> {
    let is_own = matches!(ending.step, wall::Step::HadExited | wall::Step::StdinClosed);
    let code = || ending.status.code().or_else(|| ending.status.signal().map(|signal| 128 + signal));
    is_own.then(code).flatten()
}

/// Somebody else may take it before the agent does; then the agent says so.
async fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port())
}

async fn tail(mut stderr: ChildStderr) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = stderr.read(&mut piece).await {
        kept.extend_from_slice(&piece[..read]);
        let over = kept.len().saturating_sub(STDERR_BYTES_MAX);
        kept.drain(..over);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

async fn say(outputs: &mpsc::Sender<Output>, output: Output) -> Result<(), backend::Error> {
    outputs.send(output).await.map_err(|_| backend::Error::Cancelled)
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;

    /// Who is charged with the end of an agent.
    #[test]
    fn one_that_was_killed_before_it_was_asked_is_tried_again() {
        use acp::Step::{Answer, Open, Resume, SetMode, Start};
        use wall::Step::{HadExited, Killed, StdinClosed, Terminated};
        let check = |step, how, raw: i32, expected: &str| {
            let ending = Ending { step: how, status: ExitStatus::from_raw(raw), strays: 0 };
            let gone = acp::Error::Gone { agent: "Goose", step, said: String::new() };
            let outcome = failure(&gone, own_code(&ending), "no room", None).outcome();
            let told = serde_json::to_string(&outcome).unwrap();
            assert!(told.contains(expected), "{step:?} {how:?} {raw}: {told}");
        };
        // A signal is its number; an exit code stands above it.
        let (exited, by_helper, itself) = (3 << 8, KILLED << 8, 9);
        for step in [Start, Open, Resume, SetMode] {
            check(step, HadExited, by_helper, "lost");
            check(step, StdinClosed, itself, "lost");
            check(step, HadExited, wall::REFUSED << 8, "void");
            check(step, HadExited, exited, "failed");
            // We did that, to one that had closed its output and stayed.
            check(step, Killed, by_helper, "failed");
            check(step, Terminated, by_helper, "failed");
        }
        check(Answer, HadExited, by_helper, "failed");
        check(Answer, HadExited, exited, "failed");
    }

    #[test]
    fn a_login_that_ran_out_and_a_server_that_is_down_are_no_agents_failures() {
        let (agent, said) = ("Goose", String::new);
        let gone = || acp::Error::Gone { agent, step: acp::Step::Answer, said: said() };
        let check = |error: acp::Error, trouble: Option<&str>, expected: &str| {
            let outcome = failure(&error, Some(3), "bye", trouble.map(str::to_owned)).outcome();
            let told = serde_json::to_string(&outcome).unwrap();
            assert!(told.contains(expected), "{error} {trouble:?}: {told}");
        };
        let down = Some("The model server does not answer.");
        for (error, by_itself) in [
            (gone(), "failed"),
            (acp::Error::Model { said: said() }, "failed"),
            (acp::Error::Wordless { agent }, "failed"),
            (acp::Error::SignedOut { agent, said: said() }, "void"),
        ] {
            check(error.clone(), None, by_itself);
            check(error, down, "void");
        }
        // Whatever else was wrong, this is its own doing.
        check(acp::Error::LeftMode { agent, now: "yolo".into() }, down, "failed");
    }
}

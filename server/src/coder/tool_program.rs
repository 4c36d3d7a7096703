//! The program that does what a model calls for, behind its wall.

use std::time::Duration;

use domain::feed::StreamId;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{ChildStdin, ChildStdout},
    time::timeout,
};
use tools::{Answer, Call};
use wall::{Grace, Process, Program};

use super::{Coders, Ground, environment, unprepared};
use crate::backend;

/// Longer than the longest command may take.
const CALL_WAIT_MAX: Duration = Duration::from_secs(700);
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;
/// It has nothing to save.
const GRACE: Grace =
    Grace { after_stdin: Duration::from_millis(300), after_term: Duration::from_millis(300) };

pub struct ToolProgram {
    process: Process,
    calls: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl ToolProgram {
    pub async fn start(coders: &Coders, ground: &Ground, stream: StreamId) -> Result<Self, backend::Error> {
        let wall = coders.wall(ground, None);
        let program = Program {
            program: coders.helper.clone().into_os_string(),
            args: vec!["tools".into()],
            env: environment(ground),
            folder: ground.folder.clone(),
        };
        let (level, marker) = (coders.level().await, coders.marker(stream));
        let process = Process::spawn(&coders.helper, &level, &wall, program, &marker).await;
        let mut process = process.map_err(|error| unprepared(&error))?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(calls), Some(answers)) => Ok(Self { process, calls, answers: BufReader::new(answers) }),
            _ => Err(backend::Error::Unprepared("The tools could not be started.".into())),
        }
    }

    /// What came of a call. Only where the program itself is gone is there no answer.
    pub async fn call(&mut self, call: &Call) -> Result<Answer, backend::Error> {
        let answered = timeout(CALL_WAIT_MAX, self.ask(call)).await;
        match answered {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(backend::Error::Unprepared(format!(
                "The tools are gone: {error}. {}",
                self.last_words().await
            ))),
            Err(_) => Err(backend::Error::Unprepared("The tools did not answer.".into())),
        }
    }

    async fn ask(&mut self, call: &Call) -> std::io::Result<Answer> {
        let mut line = serde_json::to_vec(call)?;
        line.push(b'\n');
        self.calls.write_all(&line).await?;
        self.calls.flush().await?;
        let mut answer = String::new();
        (&mut self.answers).take(ANSWER_BYTES_MAX).read_line(&mut answer).await?;
        Ok(serde_json::from_str(&answer)?)
    }

    /// Why it ended, in its own words.
    async fn last_words(&mut self) -> String {
        let mut words = Vec::new();
        if let Some(mut stderr) = self.process.stderr.take() {
            let _ = timeout(Duration::from_secs(1), (&mut stderr).take(4096).read_to_end(&mut words)).await;
        }
        String::from_utf8_lossy(&words).trim().to_owned()
    }

    /// Returns when no process of it is left.
    pub async fn end(self) {
        drop(self.calls);
        if let Err(error) = self.process.end(GRACE).await {
            tracing::error!(%error, "the tools' processes could not all be ended");
        }
    }
}

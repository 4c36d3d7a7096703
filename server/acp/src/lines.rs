//! What an agent may send: lines of a bounded length, so many of them, and no faster than they are taken.
//!
//! The protocol's crate reads without end into memory, so the bounds are here, in front of it.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures::{Sink, Stream, sink, stream};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Semaphore;

use crate::error::{Error, shortened};
use crate::turn::Limits;

/// Messages that were read and not yet taken; each may be as long as a line.
pub const AHEAD_MAX: usize = 16;
/// Far more than we ask in a turn.
const ANSWERS_MAX: u64 = 100;
/// Lines that are no messages. Some programs greet on stdout; more than this is not a greeting.
const NOISE_LINES_MAX: u32 = 200;

/// Watches what the agent sends.
pub struct Watch {
    agent: &'static str,
    limits: Limits,
    fault: OnceLock<Error>,
    noise: Mutex<String>,
    ahead: Semaphore,
}

impl Watch {
    pub fn new(agent: &'static str, limits: Limits) -> Arc<Self> {
        let (fault, noise) = (OnceLock::new(), Mutex::default());
        Arc::new(Self { agent, limits, fault, noise, ahead: Semaphore::new(AHEAD_MAX) })
    }

    /// Why reading was given up, if it was.
    pub fn fault(&self) -> Option<Error> {
        self.fault.get().cloned()
    }

    /// What came that was no message: often the reason why there was none.
    pub fn noise(&self) -> String {
        self.noise.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A notification or a request has been taken.
    pub fn taken(&self) {
        self.ahead.add_permits(1);
    }

    fn give_up(&self, fault: Error) -> io::Error {
        // The first one tells.
        let _ = self.fault.set(fault);
        io::Error::other("the agent sent what cannot be read")
    }

    fn flood(&self, what: String) -> io::Error {
        self.give_up(Error::Flood { agent: self.agent, what })
    }

    fn note(&self, line: &str) {
        let mut noise = self.noise.lock().unwrap_or_else(PoisonError::into_inner);
        *noise = shortened(&format!("{noise}\n{line}"));
    }
}

/// The messages of an agent, a line each.
pub fn incoming(
    stdout: impl AsyncRead + Send + Unpin + 'static,
    watch: Arc<Watch>,
) -> impl Stream<Item = io::Result<String>> + Send + 'static {
    let reader =
        Incoming { stdout: BufReader::new(stdout), watch, bytes: 0, messages: 0, answers: 0, noise: 0 };
    stream::try_unfold(Box::new(reader), async |mut reader| {
        Ok(reader.next().await?.map(|message| (message, reader)))
    })
}

/// Where our messages go. An agent that no longer listens is noticed by what it says, or no longer says.
pub fn outgoing(
    stdin: impl AsyncWrite + Send + Unpin + 'static,
) -> impl Sink<String, Error = io::Error> + Send + 'static {
    sink::unfold(Some(stdin), async |stdin, mut line: String| {
        let Some(mut stdin) = stdin else { return Ok(None) };
        line.push('\n');
        let written = async {
            stdin.write_all(line.as_bytes()).await?;
            stdin.flush().await
        };
        Ok(written.await.is_ok().then_some(stdin))
    })
}

struct Incoming<R> {
    stdout: BufReader<R>,
    watch: Arc<Watch>,
    bytes: u64,
    messages: u64,
    answers: u64,
    noise: u32,
}

/// As much of a message as tells what it is: an answer has no method.
#[derive(Deserialize)]
struct Shape {
    #[serde(default)]
    method: Option<IgnoredAny>,
}

impl<R: AsyncRead + Unpin> Incoming<R> {
    async fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            let Some(line) = self.line().await? else { return Ok(None) };
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let Ok(shape) = serde_json::from_str::<Shape>(line) else {
                self.heard_noise(line)?;
                continue;
            };
            self.messages += 1;
            if self.messages > self.watch.limits.messages {
                return Err(self.watch.flood(format!("{} messages", self.watch.limits.messages)));
            }
            if shape.method.is_some() {
                // Given back by `taken`.
                let waited = self.watch.ahead.acquire().await;
                waited.map_err(io::Error::other)?.forget();
            } else {
                self.answers += 1;
                if self.answers > ANSWERS_MAX {
                    return Err(self.watch.flood(format!("{ANSWERS_MAX} answers")));
                }
            }
            return Ok(Some(line.to_owned()));
        }
    }

    /// One line without its end; what the process wrote last need not have one.
    async fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            let read = self.stdout.fill_buf().await;
            // A pipe or a socket that breaks is an agent that is gone.
            let Ok(bytes) = read else { return Ok(None) };
            if bytes.is_empty() {
                let rest = (!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned());
                return Ok(rest);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            line.extend_from_slice(part);
            let used = end.map_or(bytes.len(), |at| at + 1);
            self.stdout.consume(used);
            self.bytes += used as u64;
            let Limits { line_bytes, bytes, .. } = self.watch.limits;
            if line.len() > line_bytes {
                return Err(self.watch.flood(format!("{} KB in one message", line_bytes / 1024)));
            }
            if self.bytes > bytes {
                return Err(self.watch.flood(format!("{} MB", bytes / 1024 / 1024)));
            }
            if end.is_some() {
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }

    fn heard_noise(&mut self, line: &str) -> io::Result<()> {
        self.noise += 1;
        self.watch.note(line);
        if self.noise > NOISE_LINES_MAX {
            let said = self.watch.noise();
            return Err(self.watch.give_up(Error::Garbage { agent: self.watch.agent, said }));
        }
        Ok(())
    }
}

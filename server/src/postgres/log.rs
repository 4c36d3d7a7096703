//! What Postgres says goes into our log, and its last words into an error when it ends.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

const LINE_BYTES_MAX: u64 = 4 * 1024;
const TAIL_LINES_MAX: usize = 20;
/// How long a process that ended may take to have its last words read.
const TAIL_LIMIT: Duration = Duration::from_millis(500);
/// Said for each connection that is open when Postgres is told to stop, as at every end of ours.
const ASKED_TO_END: &str = "terminating connection due to administrator command";

#[derive(Clone, Default)]
pub(super) struct Log(Arc<(Mutex<Tail>, Condvar)>);

#[derive(Default)]
struct Tail {
    lines: VecDeque<String>,
    reading: bool,
}

impl Log {
    /// Reads standard error until Postgres and all its processes have closed it.
    pub fn follow(&self, child: &mut Child) {
        let Some(stderr) = child.stderr.take() else { return };
        *self.lock() = Tail { reading: true, ..Tail::default() };
        let log = self.clone();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stderr);
            let mut line = Vec::new();
            while matches!(reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line), Ok(1..)) {
                log.add(String::from_utf8_lossy(&line).trim_end());
                line.clear();
            }
            log.lock().reading = false;
            log.0.1.notify_all();
        });
    }

    /// The last lines, after the end was read, or soon after if a straggler keeps it open.
    pub fn tail(&self) -> String {
        let waited = self.0.1.wait_timeout_while(self.lock(), TAIL_LIMIT, |tail| tail.reading);
        let (tail, _) = waited.unwrap_or_else(PoisonError::into_inner);
        tail.lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn add(&self, line: &str) {
        match level_of(line) {
            tracing::Level::ERROR => tracing::error!(target: "postgres", "{line}"),
            tracing::Level::WARN => tracing::warn!(target: "postgres", "{line}"),
            _ => tracing::debug!(target: "postgres", "{line}"),
        }
        let mut tail = self.lock();
        if tail.lines.len() == TAIL_LINES_MAX {
            tail.lines.pop_front();
        }
        tail.lines.push_back(line.to_owned());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Tail> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn level_of(line: &str) -> tracing::Level {
    match line.split_once(':') {
        Some(("FATAL", what)) if what.trim() == ASKED_TO_END => tracing::Level::DEBUG,
        Some(("PANIC" | "FATAL", _)) => tracing::Level::ERROR,
        Some(("ERROR" | "WARNING", _)) => tracing::Level::WARN,
        _ => tracing::Level::DEBUG,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn check(script: &str, expected: &str) {
        let mut child = Command::new("sh").args(["-c", script]).stderr(Stdio::piped()).spawn().unwrap();
        let log = Log::default();
        log.follow(&mut child);
        child.wait().unwrap();
        assert_eq!(log.tail(), expected);
    }

    #[test]
    fn the_tail_is_bounded_and_complete() {
        check("echo one >&2; echo two >&2", "one\ntwo");
        check("true", "");
        let last: Vec<String> = (181..=200).map(|n| n.to_string()).collect();
        check("seq 1 200 >&2", &last.join("\n"));
        let long = "a".repeat(4096);
        check("head -c 4096 /dev/zero | tr '\\0' a >&2; echo b >&2", &format!("{long}\nb"));
    }

    #[test]
    fn levels_follow_postgres() {
        for (line, level) in [
            ("FATAL:  no", tracing::Level::ERROR),
            ("ERROR:  no", tracing::Level::WARN),
            ("LOG:  yes", tracing::Level::DEBUG),
            ("FATAL:  terminating connection due to administrator command", tracing::Level::DEBUG),
            ("\tDETAIL", tracing::Level::DEBUG),
        ] {
            assert_eq!(level_of(line), level, "{line}");
        }
    }
}

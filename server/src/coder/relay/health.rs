//! How a model server does while one task asks it. Agents ask a server that fails again and again, some of them as
//! fast as they can and without end; this is what ends it.

use std::sync::Mutex;

use tokio::sync::watch;

use crate::live::guard;

/// So many in a row are no accident. Agents wait longer from one to the next, so it is a matter of seconds.
pub const FAILURES_MAX: u32 = 5;

pub struct Health {
    row: Mutex<Row>,
    given_up: watch::Sender<Option<String>>,
}

#[derive(Default)]
struct Row {
    failures: u32,
    last: Option<String>,
}

impl Default for Health {
    fn default() -> Self {
        Self { row: Mutex::default(), given_up: watch::Sender::new(None) }
    }
}

impl Health {
    pub fn failed(&self, words: &str) {
        let mut row = guard(&self.row);
        row.failures += 1;
        row.last = Some(words.to_owned());
        if row.failures >= FAILURES_MAX {
            let words = format!("The model server failed {} times in a row. {words}", row.failures);
            self.given_up.send_replace(Some(words));
        }
    }

    pub fn answered(&self) {
        *guard(&self.row) = Row::default();
    }

    pub fn trouble(&self) -> Option<String> {
        guard(&self.row).last.clone()
    }

    pub async fn given_up(&self) -> String {
        let mut given_up = self.given_up.subscribe();
        match given_up.wait_for(Option::is_some).await.map(|words| words.clone()) {
            Ok(Some(words)) => words,
            // The sender is ours, and there for as long as we are.
            _ => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn only_failures_in_a_row_count() {
        let health = Health::default();
        for _ in 0..2 {
            for _ in 1..FAILURES_MAX {
                health.failed("It broke.");
            }
            assert_eq!(health.given_up().now_or_never(), None);
            assert_eq!(health.trouble().as_deref(), Some("It broke."));
            health.answered();
            assert_eq!(health.trouble(), None);
        }
        for _ in 0..FAILURES_MAX {
            health.failed("It broke.");
        }
        let words = "The model server failed 5 times in a row. It broke.";
        assert_eq!(health.given_up().now_or_never().as_deref(), Some(words));
    }
}

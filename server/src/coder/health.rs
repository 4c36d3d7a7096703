//! How a model server, or a provider, does while one task asks it. Agents ask one that fails again and again, some of
//! them as fast as they can, some for many minutes; this is what ends it.

use std::time::Duration;

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// So many in a row are no accident.
pub const FAILURES_MAX: u32 = 5;
/// Nor are fewer that last this long, for agents that wait longer from one to the next.
const FAILING_MAX: Duration = Duration::from_secs(30);
/// One that only asks to come back later, since it is busy or loads a model, is not broken; but that too has an end.
const BUSY_MAX: Duration = Duration::from_secs(15 * 60);

pub struct Health {
    row: watch::Sender<Option<Row>>,
}

/// What went wrong without an answer between. Whoever fails now and is busy then is no better than one that does
/// either, so each is counted on its own.
#[derive(Clone, Default)]
struct Row {
    failures: u32,
    failing_since: Option<Instant>,
    busy_since: Option<Instant>,
    /// What the last one was.
    words: String,
}

impl Default for Health {
    fn default() -> Self {
        Self { row: watch::Sender::new(None) }
    }
}

impl Health {
    pub fn failed(&self, words: &str) {
        self.went_wrong(words, |row| {
            row.failures += 1;
            row.failing_since.get_or_insert_with(Instant::now);
        });
    }

    pub fn busy(&self, words: &str) {
        self.went_wrong(words, |row| {
            row.busy_since.get_or_insert_with(Instant::now);
        });
    }

    fn went_wrong(&self, words: &str, count: impl FnOnce(&mut Row)) {
        self.row.send_modify(|row| {
            let row = row.get_or_insert_with(Row::default);
            words.clone_into(&mut row.words);
            count(row);
        });
    }

    pub fn answered(&self) {
        self.row.send_replace(None);
    }

    /// What was wrong when it was asked last.
    pub fn trouble(&self) -> Option<String> {
        self.row.borrow().as_ref().map(|row| row.words.clone())
    }

    /// Waits until there is no use in trying on, and says why.
    pub async fn given_up(&self) -> String {
        let mut rows = self.row.subscribe();
        loop {
            let row = rows.borrow_and_update().clone();
            let row = row.unwrap_or_default();
            if row.failures >= FAILURES_MAX {
                return row.failed();
            }
            // One alone may be followed by an answer that takes its time.
            let failing = row.failing_since.filter(|_| row.failures > 1).map(|since| since + FAILING_MAX);
            let busy = row.busy_since.map(|since| since + BUSY_MAX);
            let too_long = async {
                tokio::select! {
                    () = until(failing) => row.failed(),
                    () = until(busy) => row.was_busy(),
                }
            };
            tokio::select! {
                words = too_long => return words,
                // The sender is ours, and there for as long as we are.
                _ = rows.changed() => {}
            }
        }
    }
}

async fn until(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}

impl Row {
    fn failed(&self) -> String {
        format!("{} So it was {} times in a row, and the agent was stopped.", self.words, self.failures)
    }

    fn was_busy(&self) -> String {
        let minutes = BUSY_MAX.as_secs() / 60;
        format!("{} So it was for {minutes} minutes, and the agent was stopped.", self.words)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::time::{advance, timeout};

    use super::*;

    #[tokio::test]
    async fn only_failures_in_a_row_count() {
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
        let words = "It broke. So it was 5 times in a row, and the agent was stopped.";
        assert_eq!(health.given_up().now_or_never().as_deref(), Some(words));
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_is_busy_is_waited_for_but_not_for_ever() {
        let health = Health::default();
        for _ in 0..3 * FAILURES_MAX {
            health.busy("It is busy.");
            advance(FAILING_MAX).await;
            assert_eq!(health.given_up().now_or_never(), None);
        }
        let words = "It is busy. So it was for 15 minutes, and the agent was stopped.";
        assert_eq!(timeout(BUSY_MAX, health.given_up()).await.as_deref(), Ok(words));
        health.answered();
        assert!(timeout(2 * BUSY_MAX, health.given_up()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_fails_and_is_busy_in_turns_is_given_up() {
        let health = Health::default();
        for _ in 1..FAILURES_MAX {
            health.failed("It broke.");
            health.busy("It is busy.");
        }
        assert_eq!(health.given_up().now_or_never(), None);
        health.failed("It broke.");
        let words = "It broke. So it was 5 times in a row, and the agent was stopped.";
        assert_eq!(health.given_up().now_or_never().as_deref(), Some(words));
        // The longest wait is that of one that is busy, whatever comes between.
        health.answered();
        health.busy("It is busy.");
        advance(BUSY_MAX / 2).await;
        health.failed("It broke.");
        advance(BUSY_MAX / 2).await;
        assert!(health.given_up().now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn fewer_that_last_long_count_too() {
        let health = Health::default();
        health.failed("It broke.");
        assert!(timeout(10 * FAILING_MAX, health.given_up()).await.is_err(), "one alone is waited out");
        health.answered();
        health.failed("It broke.");
        health.failed("It broke again.");
        advance(FAILING_MAX / 2).await;
        assert_eq!(health.given_up().now_or_never(), None);
        let words = "It broke again. So it was 2 times in a row, and the agent was stopped.";
        assert_eq!(timeout(FAILING_MAX, health.given_up()).await.as_deref(), Ok(words));
    }
}

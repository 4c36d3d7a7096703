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

/// Failures without an answer between them.
#[derive(Clone)]
struct Row {
    /// 0 while it only asks to come back later.
    failures: u32,
    since: Instant,
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
        self.row.send_modify(|row| {
            let before = row.take();
            let before = before.filter(|row| row.failures > 0);
            let (failures, since) = before.map_or((0, Instant::now()), |row| (row.failures, row.since));
            *row = Some(Row { failures: failures + 1, since, words: words.to_owned() });
        });
    }

    pub fn busy(&self, words: &str) {
        self.row.send_modify(|row| {
            let since =
                row.as_ref().filter(|row| row.failures == 0).map_or_else(Instant::now, |row| row.since);
            *row = Some(Row { failures: 0, since, words: words.to_owned() });
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
            let until = match &row {
                Some(row) if row.failures >= FAILURES_MAX => return row.told(),
                Some(row) if row.failures == 0 => Some((row.since + BUSY_MAX, row)),
                // One alone may be followed by an answer that takes its time.
                Some(row) if row.failures > 1 => Some((row.since + FAILING_MAX, row)),
                _ => None,
            };
            let too_long = async {
                match until {
                    Some((until, row)) => {
                        sleep_until(until).await;
                        row.told()
                    }
                    None => std::future::pending().await,
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

impl Row {
    fn told(&self) -> String {
        if self.failures == 0 {
            let minutes = BUSY_MAX.as_secs() / 60;
            return format!("{} So it was for {minutes} minutes, and the agent was stopped.", self.words);
        }
        format!("{} So it was {} times in a row, and the agent was stopped.", self.words, self.failures)
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
        health.failed("It broke.");
        assert_eq!(health.given_up().now_or_never(), None, "a failure is something else");
        health.busy("It is busy.");
        health.answered();
        assert!(timeout(2 * BUSY_MAX, health.given_up()).await.is_err());
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

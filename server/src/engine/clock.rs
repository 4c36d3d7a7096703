//! How long an attempt has worked. While a person is asked it stands still, and somebody else is waited for.

use std::{sync::Arc, time::Duration};

use domain::tool::ANSWER_SECONDS_MAX;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::StopReason;

#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<watch::Sender<u32>>);

/// The clock stands for as long as one of these is held.
pub(crate) struct Standing(Arc<watch::Sender<u32>>);

impl Clock {
    pub fn stand(&self) -> Standing {
        self.0.send_modify(|held| *held += 1);
        Standing(Arc::clone(&self.0))
    }

    /// Waits until it has worked for this long, or nobody answered for longer than a person may take.
    pub async fn run_out(&self, limit: Duration) -> StopReason {
        let mut held = self.0.subscribe();
        let mut left = limit;
        loop {
            let stands = *held.borrow_and_update() > 0;
            let since = Instant::now();
            tokio::select! {
                () = sleep(left), if !stands => return StopReason::TimedOut,
                () = sleep(Duration::from_secs(ANSWER_SECONDS_MAX.into())), if stands => {
                    return StopReason::Unanswered;
                }
                // The sender is ours, and there for as long as we are.
                _ = held.changed() => {}
            }
            if !stands {
                left = left.saturating_sub(since.elapsed());
            }
        }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.0.send_modify(|held| *held -= 1);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::time::advance;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(100);

    #[tokio::test(start_paused = true)]
    async fn the_time_in_which_a_person_is_asked_does_not_count() {
        let clock = Clock::default();
        let mut run_out = Box::pin(clock.run_out(LIMIT));
        assert_eq!(run_out.as_mut().now_or_never(), None);
        advance(LIMIT / 2).await;
        let (one, other) = (clock.stand(), clock.stand());
        assert_eq!(run_out.as_mut().now_or_never(), None);
        advance(10 * LIMIT).await;
        drop(one);
        assert_eq!(run_out.as_mut().now_or_never(), None, "another one is still open");
        advance(10 * LIMIT).await;
        drop(other);
        assert_eq!(run_out.as_mut().now_or_never(), None);
        advance(LIMIT / 2 - Duration::from_secs(1)).await;
        assert_eq!(run_out.as_mut().now_or_never(), None);
        advance(Duration::from_secs(2)).await;
        assert_eq!(run_out.now_or_never(), Some(StopReason::TimedOut));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_waited_for_without_end() {
        let clock = Clock::default();
        let _asked = clock.stand();
        let begun = Instant::now();
        assert_eq!(clock.run_out(LIMIT).await, StopReason::Unanswered);
        assert_eq!(begun.elapsed().as_secs(), u64::from(ANSWER_SECONDS_MAX));
    }
}

//! How long an attempt has worked. While a person is asked it stands still, and so it does while its folder is made ready
//! and its model loaded: somebody else is waited for.

use std::{sync::Arc, time::Duration};

use domain::{output::Phase, tool::ANSWER_SECONDS_MAX};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::StopReason;

/// How long what is no work of its own may take altogether. Each of its parts has a limit that is shorter; beyond this it
/// counts like work.
pub(super) const READYING_MAX: Duration = Duration::from_secs(60 * 60);

#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<watch::Sender<State>>);

#[derive(Clone, Copy, Default)]
struct State {
    /// How many questions to a person are open.
    asked: u32,
    /// It is being made ready.
    is_readied: bool,
    /// None where it has not told what it does.
    has_begun: Option<bool>,
}

/// The clock stands for as long as one of these is held.
pub(crate) struct Standing(Arc<watch::Sender<State>>);

impl Clock {
    pub fn stand(&self) -> Standing {
        self.0.send_modify(|state| state.asked += 1);
        Standing(Arc::clone(&self.0))
    }

    pub fn enter(&self, phase: &Phase) {
        self.0.send_modify(|state| {
            state.is_readied = match phase {
                Phase::Preparing | Phase::Loading | Phase::Waiting { .. } => true,
                Phase::Starting | Phase::Generating | Phase::Asking(_) => false,
            };
            let has_begun = matches!(phase, Phase::Generating | Phase::Asking(_));
            state.has_begun = Some(has_begun || state.has_begun == Some(true));
        });
    }

    /// Waits until it has worked for this long, or nobody answered for longer than a person may take.
    pub async fn run_out(&self, limit: Duration) -> StopReason {
        let mut state = self.0.subscribe();
        let (mut left, mut readying) = (limit, READYING_MAX);
        loop {
            let now = *state.borrow_and_update();
            let is_asked = now.asked > 0;
            let is_readied = now.is_readied && !readying.is_zero();
            let since = Instant::now();
            tokio::select! {
                () = sleep(left), if !is_asked && !is_readied => return now.timed_out(),
                () = sleep(readying), if !is_asked && is_readied => {}
                () = sleep(Duration::from_secs(ANSWER_SECONDS_MAX.into())), if is_asked => {
                    return StopReason::Unanswered;
                }
                // The sender is ours, and there for as long as we are.
                _ = state.changed() => {}
            }
            match (is_asked, is_readied) {
                (true, _) => {}
                (false, true) => readying = readying.saturating_sub(since.elapsed()),
                (false, false) => left = left.saturating_sub(since.elapsed()),
            }
        }
    }
}

impl State {
    fn timed_out(self) -> StopReason {
        match self.has_begun {
            Some(false) => StopReason::NeverBegan,
            Some(true) | None => StopReason::TimedOut,
        }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.0.send_modify(|state| state.asked -= 1);
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

    /// How long after its beginning, and why, an attempt ends that enters these phases at these seconds.
    async fn check(phases: &[(u64, Phase)], expected_s: u64, expected: StopReason) {
        let clock = Clock::default();
        let begun = Instant::now();
        let entering = async {
            for (at, phase) in phases {
                tokio::time::sleep_until(begun + Duration::from_secs(*at)).await;
                clock.enter(phase);
            }
            std::future::pending::<()>().await;
        };
        let reason = tokio::select! {
            reason = clock.run_out(LIMIT) => reason,
            () = entering => unreachable!(),
        };
        assert_eq!((begun.elapsed().as_secs(), reason), (expected_s, expected), "{phases:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_in_which_it_is_made_ready_does_not_count() {
        use Phase::{Generating, Loading, Preparing, Starting, Waiting};
        check(&[], 100, StopReason::TimedOut).await;
        check(&[(0, Preparing), (600, Generating)], 700, StopReason::TimedOut).await;
        let waiting = Waiting { seconds: 60 };
        let later = [(0, Starting), (10, Loading), (500, Starting), (520, waiting), (580, Generating)];
        check(&later, 650, StopReason::TimedOut).await;
        // One that has begun is charged with its time, whatever is waited for in the end.
        check(&[(0, Generating), (50, Loading), (80, Starting)], 130, StopReason::TimedOut).await;
        // Whoever is never there has not failed.
        check(&[(0, Starting)], 100, StopReason::NeverBegan).await;
        check(&[(0, Preparing), (30, Starting)], 130, StopReason::NeverBegan).await;
        check(&[(0, Loading)], READYING_MAX.as_secs() + 100, StopReason::NeverBegan).await;
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

//! Who may use a model server next.
//!
//! A local server runs one task at a time, a cloud server as many as its limit says. The order in which tasks
//! get a free place is a moment in time, fixed when a task is queued: `rank`. Whoever has the earliest rank
//! goes first, so each task is overtaken only by tasks queued less than a head start after it. That is the
//! whole ageing rule, and it needs no timer.

use serde::{Deserialize, Serialize};

/// How long a background task lets later interactive ones overtake it.
pub const INTERACTIVE_HEAD_START_MS: i64 = 60_000;

/// Work that asks no model has its place at the machine itself. No model server can be called so.
pub const MACHINE: &str = "@machine";

/// What code does between the agents of a run is quick, and does not wait behind a check.
pub const STEPS: &str = "@steps";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// A person is looking at the pane and waits.
    Interactive,
    Background,
}

/// The moment that decides the order at a server; the earliest goes first.
pub fn rank(priority: Priority, queued_at_ms: i64) -> i64 {
    match priority {
        Priority::Interactive => queued_at_ms - INTERACTIVE_HEAD_START_MS,
        Priority::Background => queued_at_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Priority::{Background, Interactive},
        *,
    };

    /// Serves one task at a time out of `(priority, queued at, takes)` and gives the order of service.
    fn order(tasks: &[(Priority, i64, i64)]) -> Vec<usize> {
        let (mut now, mut served) = (0, Vec::new());
        while served.len() < tasks.len() {
            let waiting = |i: &usize| !served.contains(i) && tasks[*i].1 <= now;
            let next = (0..tasks.len()).filter(waiting).min_by_key(|i| (rank(tasks[*i].0, tasks[*i].1), *i));
            match next {
                Some(i) => {
                    now += tasks[i].2;
                    served.push(i);
                }
                // Nobody waits: on to the next arrival.
                None => now = tasks.iter().map(|task| task.1).filter(|at| *at > now).min().unwrap_or(now),
            }
        }
        served
    }

    #[test]
    fn interactive_goes_first_at_a_task_boundary() {
        assert_eq!(order(&[(Background, 0, 10), (Background, 1, 10), (Interactive, 5, 10)]), [0, 2, 1]);
    }

    #[test]
    fn within_a_priority_the_first_come_is_served_first() {
        assert_eq!(order(&[(Interactive, 0, 9), (Interactive, 2, 1), (Interactive, 1, 1)]), [0, 2, 1]);
    }

    #[test]
    fn a_flood_of_interactive_turns_does_not_starve_background_work() {
        // An interactive turn is waiting at every boundary, for ten minutes.
        let mut tasks = vec![(Background, 0, 1_000)];
        tasks.extend((0..600).map(|i| (Interactive, i * 1_000, 1_000)));
        let place = order(&tasks).iter().position(|i| *i == 0).unwrap() as i64;
        assert!(place * 1_000 <= INTERACTIVE_HEAD_START_MS + 1_000, "served only as number {place}");
    }

    proptest::proptest! {
        /// Whatever arrives, a task waits at most for what was there before it and for what arrives within
        /// the head start.
        #[test]
        fn overtaking_is_bounded(arrivals in proptest::collection::vec((proptest::bool::ANY, 0..200_000i64), 1..60)) {
            let tasks: Vec<_> = arrivals
                .iter()
                .map(|(interactive, at)| (if *interactive { Interactive } else { Background }, *at, 700))
                .collect();
            let served = order(&tasks);
            for (place, task) in served.iter().enumerate() {
                for earlier in &served[..place] {
                    let overtakes = tasks[*earlier].1 > tasks[*task].1 + INTERACTIVE_HEAD_START_MS;
                    proptest::prop_assert!(!overtakes, "{earlier} overtook {task}");
                }
            }
        }
    }
}

//! Who may use a model server next.
//!
//! A local server runs one task at a time, a cloud server as many as its limit says. Whoever has the lowest `rank` gets
//! a free place: interactive tasks before those of the background, and each kind in the order in which it was queued.
//! So that nothing starves, background work that has waited for a minute goes first at a place where none of it has
//! begun for a minute. That is the whole ageing rule, and it needs no timer.

use serde::{Deserialize, Serialize};

/// How long background work is overtaken before one task of it gets its turn.
const OVERTAKEN_MAX_MS: i64 = 60_000;
/// Earlier than every moment in which a background task is queued.
const INTERACTIVE_LEAD_MS: i64 = 1 << 60;

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

/// What decides the order at a server; the lowest goes first. That of a background task is when it was queued, that of
/// an interactive one is negative.
pub fn rank(priority: Priority, queued_at_ms: i64) -> i64 {
    match priority {
        Priority::Interactive => queued_at_ms - INTERACTIVE_LEAD_MS,
        Priority::Background => queued_at_ms,
    }
}

/// Background work that was queued by then goes first at a place where none of it has begun since.
pub fn due_since(now_ms: i64) -> i64 {
    now_ms - OVERTAKEN_MAX_MS
}

#[cfg(test)]
mod tests {
    use super::{
        Priority::{Background, Interactive},
        *,
    };

    type Tasks<'a> = &'a [(Priority, i64, i64)];

    /// Serves one task at a time out of `(priority, queued at, takes)`, as claims do. Gives who was served when.
    fn served(tasks: Tasks) -> Vec<(usize, i64)> {
        let (mut now, mut background_at, mut served) = (0, i64::MIN, Vec::<(usize, i64)>::new());
        while served.len() < tasks.len() {
            let is_served = |i: &usize| served.iter().any(|(of, _)| of == i);
            let waiting: Vec<_> = (0..tasks.len()).filter(|i| !is_served(i) && tasks[*i].1 <= now).collect();
            let key = |i: &usize| (rank(tasks[*i].0, tasks[*i].1), *i);
            let is_due = |i: &usize| (0..=due_since(now)).contains(&key(i).0);
            let due = waiting.iter().copied().filter(is_due).min_by_key(key);
            let due = due.filter(|_| background_at <= due_since(now));
            match due.or_else(|| waiting.iter().copied().min_by_key(key)) {
                Some(i) => {
                    served.push((i, now));
                    if tasks[i].0 == Background {
                        background_at = now;
                    }
                    now += tasks[i].2;
                }
                // Nobody waits: on to the next arrival.
                None => now = tasks.iter().map(|task| task.1).filter(|at| *at > now).min().unwrap_or(now),
            }
        }
        served
    }

    fn order(tasks: Tasks) -> Vec<usize> {
        served(tasks).into_iter().map(|(task, _)| task).collect()
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
    fn a_turn_does_not_wait_behind_an_old_backlog() {
        // A run of fifty steps of ten seconds, and a question in its fifth minute.
        let mut tasks = vec![(Background, 0, 10_000); 50];
        tasks.push((Interactive, 245_000, 1_000));
        assert_eq!(served(&tasks).into_iter().find(|(task, _)| *task == 50), Some((50, 250_000)));
    }

    #[test]
    fn a_flood_of_interactive_turns_does_not_starve_background_work() {
        // An interactive turn is waiting at every boundary, for ten minutes.
        let mut tasks = vec![(Background, 0, 1_000); 3];
        tasks.extend((0..600).map(|i| (Interactive, i * 1_000, 1_000)));
        let served = served(&tasks);
        let background: Vec<_> = served.iter().filter(|(task, _)| *task < 3).map(|(_, at)| *at).collect();
        assert_eq!(background, [60_000, 120_000, 180_000]);
    }

    proptest::proptest! {
        /// Whatever arrives, between two turns of people there is never more than one background task, unless the
        /// second was not asked for yet; and no background task waits for people only for longer than the bound.
        #[test]
        fn overtaking_is_bounded(arrivals in proptest::collection::vec((proptest::bool::ANY, 0..200_000i64), 1..60)) {
            let takes = 700;
            let tasks: Vec<_> = arrivals
                .iter()
                .map(|(interactive, at)| (if *interactive { Interactive } else { Background }, *at, takes))
                .collect();
            let (tasks, served) = (&tasks, served(&tasks));
            for (task, began) in &served {
                let (priority, queued, _) = tasks[*task];
                let others = |of: Priority| {
                    let meanwhile = move |(_, at): &&(usize, i64)| (queued..*began).contains(at);
                    served.iter().filter(meanwhile).filter(move |(task, _)| tasks[*task].0 == of)
                };
                match priority {
                    Interactive => {
                        let overtaken = others(Background).count() as i64;
                        let most = 1 + (began - queued) / OVERTAKEN_MAX_MS;
                        proptest::prop_assert!(overtaken <= most, "{overtaken} went before turn {task}");
                    }
                    Background if others(Background).count() == 0 => {
                        let waited = began - queued;
                        proptest::prop_assert!(waited <= OVERTAKEN_MAX_MS + takes, "{task} waited {waited}");
                    }
                    Background => {}
                }
            }
        }
    }
}

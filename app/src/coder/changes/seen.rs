//! When it is looked what the agents of a Coder changed.

use std::{ops::Range, time::Duration};

use domain::{
    chat::Chat,
    id::{ChatId, WorktreeId},
    output::Phase,
    task::Status,
    worktree::{Changes, State},
};
use leptos::{prelude::*, task::spawn_local};

use crate::{coder::api, device, erased::effect, error::AppError, feed::Feed};

/// Between two looks while an agent is at work, at least and at most.
const LOOK_EVERY: Duration = Duration::from_secs(3);
const LOOK_EVERY_MAX: Duration = Duration::from_secs(5 * 60);
/// A look that takes long costs the server much, so it is followed by a rest that is so many times as long.
const RESTS: u32 = 4;
/// How often it is asked whether the rest is over.
const TICK: Duration = Duration::from_secs(1);

/// What the worktree was last seen to hold.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) changes: RwSignal<Changes>,
    pub(super) failure: RwSignal<Option<AppError>>,
    /// How often it is still to be looked, the look that is under way among them.
    looks: StoredValue<u8>,
    /// While this lasts, nobody looks just because time went by. A clock that was set back is outside of it.
    rest_ms: StoredValue<Range<i64>>,
}

impl Seen {
    /// Looks whenever a turn begins, goes on or ends, and again and again while its agent may write: nobody tells of
    /// single files.
    pub(super) fn keep(feed: Feed, chat: ChatId) -> Self {
        let (changes, failure) = (RwSignal::default(), RwSignal::new(None));
        let seen = Self { changes, failure, looks: StoredValue::new(0), rest_ms: StoredValue::new(0..0) };
        let moments = Memo::new(move |_| feed.chat(chat, moments));
        effect(move || {
            if moments.get().flatten().is_some() {
                seen.look(chat);
            }
        });
        let is_at_work = Memo::new(move |_| feed.chat(chat, is_at_work) == Some(true));
        effect(move || {
            if !is_at_work.get() {
                return;
            }
            let tick = move || {
                if device::is_visible() && seen.looks.try_get_value() == Some(0) && !seen.is_resting() {
                    seen.look(chat);
                }
            };
            if let Ok(ticks) = set_interval_with_handle(tick, TICK) {
                on_cleanup(move || ticks.clear());
            }
        });
        seen
    }

    fn is_resting(self) -> bool {
        let now_ms = device::now_ms();
        now_ms.is_some_and(|now_ms| self.rest_ms.try_with_value(|rest| rest.contains(&now_ms)) == Some(true))
    }

    /// One look at a time, so that what is seen last is the newest; however much happens meanwhile, one more follows.
    fn look(self, chat: ChatId) {
        let before = self.looks.try_update_value(|looks| std::mem::replace(looks, (*looks + 1).min(2)));
        if before != Some(0) {
            return;
        }
        spawn_local(async move {
            loop {
                let began_at_ms = device::now_ms();
                match api::seen_changes(chat).await {
                    Ok(changes) => {
                        self.failure.try_set(None);
                        self.changes.try_set(changes.unwrap_or_default());
                    }
                    Err(error) => drop(self.failure.try_set(Some(error))),
                }
                if let (Some(began_at_ms), Some(ended_at_ms)) = (began_at_ms, device::now_ms()) {
                    self.rest_ms.try_set_value(rest(began_at_ms, ended_at_ms));
                }
                let left = self.looks.try_update_value(|looks| {
                    *looks -= 1;
                    *looks
                });
                if left.unwrap_or(0) == 0 {
                    return;
                }
            }
        });
    }
}

/// Changes when there may be something new to see. None while there is no worktree.
fn moments(chat: &Chat) -> Option<(WorktreeId, usize, Option<Status>)> {
    let worktree = chat.worktree.as_ref().filter(|worktree| worktree.state == State::Ready)?;
    Some((worktree.id, chat.messages.len(), chat.active_turn().map(|turn| turn.status.clone())))
}

/// Whether an agent may be writing right now: not while it waits for its turn, its folder or a person's answer.
fn is_at_work(chat: &Chat) -> bool {
    let is_waiting = |phase: &Phase| matches!(phase, Phase::Asking(_) | Phase::Preparing);
    let is_working = chat
        .active_turn()
        .is_some_and(|turn| matches!(&turn.status, Status::Running { phase, .. } if !is_waiting(phase)));
    moments(chat).is_some() && is_working
}

/// From the end of a look to when time alone may bring the next. A machine that slept meanwhile is not waited for.
fn rest(began_at_ms: i64, ended_at_ms: i64) -> Range<i64> {
    let took = Duration::from_millis(u64::try_from(ended_at_ms - began_at_ms).unwrap_or(0));
    let rest = took.saturating_mul(RESTS).clamp(LOOK_EVERY, LOOK_EVERY_MAX);
    ended_at_ms..ended_at_ms + rest.as_millis() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_look_is_followed_by_a_longer_rest() {
        let check = |began: i64, ended: i64, expected: Range<i64>| {
            assert_eq!(rest(began, ended), expected, "{began} {ended}");
        };
        check(1_000, 1_200, 1_200..4_200);
        check(1_000, 3_000, 3_000..11_000);
        check(0, 86_400_000, 86_400_000..86_700_000);
        // The clock was set back.
        check(5_000, 1_000, 1_000..4_000);
    }
}

//! Which queued message goes, and when.

use super::{Chat, Queued, goes_on_after};
use crate::{
    Rejected,
    feed::Event,
    id::MessageId,
    output::Outcome,
    task::{self, Status},
};

impl Chat {
    /// A turn that nobody has begun makes room at once. One that runs is asked to stop, and the message goes when
    /// it has: its text is whole by then, and its place at the model server is free.
    pub(super) fn send_now(&self, message: MessageId, at_ms: i64) -> Result<Vec<Event>, Rejected> {
        // Its turn began before the click arrived, or the click arrived twice.
        if self.message(message).is_some() {
            return Ok(Vec::new());
        }
        let queued = self.queued(message)?.clone();
        let Some(turn) = self.active_turn() else {
            return Ok(self.start_turn(self.head, queued, at_ms));
        };
        let mut events = turn.decide(task::Input::Cancel)?;
        match turn.status {
            Status::Running { .. } if self.chosen == Some(message) => {}
            Status::Running { .. } => {
                events.push(Event::QueuedChosen { chat: self.id, message: Some(message) });
            }
            Status::Queued | Status::Settled { .. } => events.extend(self.follow(turn.id, queued, at_ms)),
        }
        Ok(events)
    }

    /// Whoever stops looks first, so what was chosen to follow waits with the others.
    pub(super) fn stop(&self) -> Result<Vec<Event>, Rejected> {
        let mut events = self.active_turn().ok_or(Rejected::Idle)?.decide(task::Input::Cancel)?;
        if self.chosen.is_some() {
            events.push(Event::QueuedChosen { chat: self.id, message: None });
        }
        Ok(events)
    }

    /// What goes on by itself after a turn that ended like this. A message that a person chose goes however the
    /// turn ended, since they knew that it would not finish.
    pub(super) fn next_after(&self, outcome: &Outcome, stopped: bool) -> Option<&Queued> {
        let chosen = self.chosen.and_then(|chosen| self.queued(chosen).ok());
        chosen.or_else(|| self.queue.first().filter(|_| goes_on_after(outcome) && !stopped))
    }
}

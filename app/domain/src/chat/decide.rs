//! What may happen to a chat next.

use serde::{Deserialize, Serialize};

use super::{
    Body, Chat, Choice, Message, QUEUE_MAX, Queued, TitledBy, attempts_max, check_text, goes_on_after, title,
};
use crate::{
    Rejected,
    catalogue::ModelRef,
    feed::Event,
    id::{Attempt, MessageId, TaskId},
    output::Outcome,
    task::{self, Status, Task, Work},
    workspace,
};

/// The ids of a turn, made where randomness lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTurn {
    pub message: MessageId,
    pub reply: MessageId,
    pub task: TaskId,
}

/// What is asked of a chat or seen of its tasks.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Ask {
        turn: NewTurn,
        text: String,
        choice: Choice,
        at_ms: i64,
    },
    /// Edit and send again: a new branch beside message `of`, which stays reachable.
    Resend {
        of: MessageId,
        turn: NewTurn,
        text: String,
        choice: Choice,
        at_ms: i64,
    },
    /// Another answer beside the answer `of`.
    Retry {
        of: MessageId,
        reply: MessageId,
        task: TaskId,
        choice: Choice,
        at_ms: i64,
    },
    /// Show the branch through `to`.
    Switch {
        to: MessageId,
    },
    EditQueued {
        message: MessageId,
        text: String,
    },
    Unqueue {
        message: MessageId,
    },
    /// Let the queue go on after a stop or a failure.
    SendQueued {
        at_ms: i64,
    },
    Stop,
    Rename {
        title: String,
    },
    Report(Report),
}

/// The end of an attempt, with all that what follows may need.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub task: TaskId,
    pub attempt: Attempt,
    pub outcome: Outcome,
    pub stream_len: u64,
    /// What a title task said.
    pub said: Option<String>,
    /// The id that a title task would get, and its model.
    pub title: Option<(TaskId, ModelRef)>,
    pub at_ms: i64,
}

impl Chat {
    pub fn decide(&self, input: Input) -> Result<Vec<Event>, Rejected> {
        match input {
            // The same question posted again, because its answer never reached the browser. Other words under
            // its id were never asked, which must not look like success.
            Input::Ask { turn, text, .. } | Input::Resend { turn, text, .. } if self.knows(turn.message) => {
                if self.asks(turn.message, &text) {
                    return Ok(Vec::new());
                }
                Err(Rejected::Invalid("This message was sent already. Send it again as a new one.".into()))
            }
            Input::Ask { turn, text, choice, at_ms } => {
                check_text(&text)?;
                let queued = Queued { turn, text, choice };
                if self.active_turn().is_none() && self.queue.is_empty() {
                    return Ok(self.start_turn(self.head, queued, at_ms));
                }
                if self.queue.len() >= QUEUE_MAX {
                    return Err(Rejected::QueueFull { max: QUEUE_MAX });
                }
                Ok(vec![Event::MessageQueued { chat: self.id, queued }])
            }
            Input::Resend { of, turn, text, choice, at_ms } => {
                check_text(&text)?;
                self.require_idle()?;
                let old = self.message(of).filter(|message| matches!(message.body, Body::User { .. }));
                let parent = old.ok_or_else(|| Rejected::missing("message"))?.parent;
                Ok(self.start_turn(parent, Queued { turn, text, choice }, at_ms))
            }
            Input::Retry { of, reply, task, choice, at_ms } => {
                self.require_idle()?;
                let old = self.message(of).filter(|message| matches!(message.body, Body::Assistant { .. }));
                let parent = old.ok_or_else(|| Rejected::missing("answer"))?.parent;
                Ok(self.start_reply(parent, reply, task, choice, at_ms))
            }
            Input::Switch { to } => {
                self.message(to).ok_or_else(|| Rejected::missing("message"))?;
                Ok(vec![Event::HeadMoved { chat: self.id, head: self.newest_leaf(to) }])
            }
            Input::EditQueued { message, text } => {
                check_text(&text)?;
                self.queued(message)?;
                Ok(vec![Event::QueuedEdited { chat: self.id, message, text }])
            }
            Input::Unqueue { message } => {
                self.queued(message)?;
                Ok(vec![Event::QueuedRemoved { chat: self.id, message }])
            }
            Input::SendQueued { at_ms } => {
                self.require_idle()?;
                let next = self.queue.first().ok_or(Rejected::Idle)?;
                Ok(self.start_turn(self.head, next.clone(), at_ms))
            }
            Input::Stop => self.active_turn().ok_or(Rejected::Idle)?.decide(task::Input::Cancel),
            Input::Rename { title } => {
                let title = workspace::name(&title)?;
                Ok(vec![Event::ChatTitled { chat: self.id, title, by: TitledBy::Person }])
            }
            Input::Report(report) => self.report(report),
        }
    }

    fn report(&self, report: Report) -> Result<Vec<Event>, Rejected> {
        let Report { task, attempt, outcome, stream_len, said, title, at_ms } = report;
        let task = self.tasks.get(&task).ok_or(Rejected::Stale)?;
        let mut events =
            task.decide(task::Input::Report { attempt, outcome: outcome.clone(), stream_len })?;
        let mut after = self.clone();
        events.iter().for_each(|event| after.apply(event));
        if !after.tasks.get(&task.id).is_some_and(Task::is_settled) {
            return Ok(events);
        }
        // A person who asked to stop looks first, even if the answer was quicker than the stop.
        let stopped = matches!(task.status, Status::Running { cancelling: true, .. });
        match task.work {
            Work::Title => {
                let title = said.as_deref().and_then(title::from_model);
                if let (Some(title), Some(TitledBy::Prompt)) = (title, self.titled_by) {
                    events.push(Event::ChatTitled { chat: self.id, title, by: TitledBy::Model });
                }
            }
            Work::ChatTurn if goes_on_after(&outcome) => {
                // One title task a chat: whether it succeeds or not, the first words do.
                let asked = self.tasks.values().any(|task| task.work == Work::Title);
                if let (Some((task, model)), Some(TitledBy::Prompt), false) = (title, self.titled_by, asked) {
                    events.push(self.task_queued(task, Work::Title, Choice { model, paid: false }, at_ms));
                }
                if let Some(next) = after.queue.first().filter(|_| !stopped) {
                    // It was written to follow this answer, whichever branch is being looked at now.
                    let answer = self
                        .messages
                        .iter()
                        .find(|message| message.body == Body::Assistant { task: task.id });
                    let parent = answer.map(|answer| answer.id).or(after.head);
                    events.extend(after.start_turn(parent, next.clone(), at_ms));
                }
            }
            Work::ChatTurn => {}
        }
        Ok(events)
    }

    fn start_turn(&self, parent: Option<MessageId>, turn: Queued, at_ms: i64) -> Vec<Event> {
        let Queued { turn: NewTurn { message, reply, task }, text, choice } = turn;
        let mut events = Vec::new();
        if self.titled_by.is_none() {
            let title = title::from_prompt(&text);
            events.push(Event::ChatTitled { chat: self.id, title, by: TitledBy::Prompt });
        }
        let message = Message { id: message, parent, body: Body::User { text } };
        let answers = Some(message.id);
        events.push(Event::MessageAdded { chat: self.id, message });
        events.extend(self.start_reply(answers, reply, task, choice, at_ms));
        events
    }

    fn start_reply(
        &self,
        parent: Option<MessageId>,
        reply: MessageId,
        task: TaskId,
        choice: Choice,
        at_ms: i64,
    ) -> Vec<Event> {
        let message = Message { id: reply, parent, body: Body::Assistant { task } };
        vec![
            self.task_queued(task, Work::ChatTurn, choice, at_ms),
            Event::MessageAdded { chat: self.id, message },
        ]
    }

    fn task_queued(&self, id: TaskId, work: Work, choice: Choice, at_ms: i64) -> Event {
        let attempts_max = match work {
            Work::ChatTurn => attempts_max(choice.paid),
            // The first words of the prompt name the chat well enough.
            Work::Title => 1,
        };
        let task = Task {
            id,
            chat: self.id,
            work,
            model: choice.model,
            attempts_max,
            queued_at_ms: at_ms,
            lost: Vec::new(),
            status: Status::Queued,
        };
        Event::TaskQueued { chat: self.id, task }
    }

    fn require_idle(&self) -> Result<(), Rejected> {
        self.active_turn().map_or(Ok(()), |_| Err(Rejected::Busy))
    }

    fn knows(&self, message: MessageId) -> bool {
        self.message(message).is_some() || self.queued(message).is_ok()
    }

    fn asks(&self, message: MessageId, words: &str) -> bool {
        match self.message(message).map(|message| &message.body) {
            Some(Body::User { text }) => text == words,
            Some(Body::Assistant { .. }) => false,
            None => self.queued(message).is_ok_and(|queued| queued.text == words),
        }
    }

    fn queued(&self, message: MessageId) -> Result<&Queued, Rejected> {
        let found = self.queue.iter().find(|queued| queued.turn.message == message);
        found.ok_or_else(|| Rejected::missing("queued message"))
    }
}

#[cfg(test)]
mod tests;

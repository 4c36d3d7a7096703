//! What may happen to a chat next.

use serde::{Deserialize, Serialize};

use super::{
    Body, Chat, Choice, Kind, Message, QUEUE_MAX, Queued, TitledBy, attempts_max, check_text, goes_on_after,
    title,
};
use crate::{
    Rejected,
    attachment::{Attachment, Enclosed, LeftOut},
    feed::Event,
    id::{Attempt, MessageId, TaskId},
    output::Outcome,
    task::{self, Owner, Status, Task, Work},
    tool::Permit,
    workspace, worktree,
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
        enclosed: Enclosed,
        at_ms: i64,
    },
    /// Edit and send again: a new branch beside message `of`, which stays reachable.
    Resend {
        of: MessageId,
        turn: NewTurn,
        text: String,
        choice: Choice,
        enclosed: Enclosed,
        at_ms: i64,
    },
    /// Another answer, `reply`, beside the answer `of`.
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
    /// What was attached by hand stays; what the new text mentions takes the place of what the old one did.
    EditQueued {
        message: MessageId,
        text: String,
        mentioned: Vec<Attachment>,
        left_out: Vec<LeftOut>,
    },
    Unqueue {
        message: MessageId,
    },
    /// Let the queue go on after a stop or a failure.
    SendQueued {
        at_ms: i64,
    },
    /// Send this one now: in place of the turn that runs, which is stopped, or before the others of a held
    /// queue.
    SendNow {
        message: MessageId,
        at_ms: i64,
    },
    /// A person's word on what the agent of the running turn asked.
    Answer {
        task: TaskId,
        attempt: Attempt,
        number: u32,
        permit: Permit,
    },
    Stop,
    Rename {
        title: String,
    },
    Report(Report),
}

impl Input {
    /// Whether it gives somebody work, or gets some ready.
    pub fn begins(&self) -> bool {
        match self {
            Self::Ask { .. }
            | Self::Resend { .. }
            | Self::Retry { .. }
            | Self::SendQueued { .. }
            | Self::SendNow { .. } => true,
            Self::Switch { .. }
            | Self::EditQueued { .. }
            | Self::Unqueue { .. }
            | Self::Answer { .. }
            | Self::Stop
            | Self::Rename { .. }
            | Self::Report(_) => false,
        }
    }
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
    pub title: Option<(TaskId, Choice)>,
    pub at_ms: i64,
}

impl Chat {
    pub fn decide(&self, input: Input) -> Result<Vec<Event>, Rejected> {
        if self.is_again(&input)? {
            return Ok(Vec::new());
        }
        match input {
            Input::Ask { turn, text, choice, enclosed, at_ms } => {
                let queued = self.question(turn, text, choice, enclosed, None)?;
                if self.active_turn().is_none() && self.queue.is_empty() {
                    return Ok(self.start_turn(self.head, queued, at_ms));
                }
                if self.queue.len() >= QUEUE_MAX {
                    return Err(Rejected::QueueFull { max: QUEUE_MAX });
                }
                let mut events = vec![Event::MessageQueued { chat: self.id, queued }];
                // Whoever asks after the stop has looked already.
                if self.is_stopping() && self.queue.is_empty() {
                    events.push(Event::QueuedChosen { chat: self.id, message: Some(turn.message) });
                }
                Ok(events)
            }
            Input::Resend { of, turn, text, choice, enclosed, at_ms } => {
                let question = self.question(turn, text, choice, enclosed, Some(of))?;
                self.require_idle()?;
                self.require_answers_only()?;
                let old = self.message(of).filter(|message| matches!(message.body, Body::User { .. }));
                let parent = old.ok_or_else(|| Rejected::missing("message"))?.parent;
                Ok(self.start_turn(parent, question, at_ms))
            }
            Input::Retry { of, reply, task, choice, at_ms } => {
                self.require_idle()?;
                self.can_do(&choice)?;
                let old = self.message(of).filter(|message| matches!(message.body, Body::Assistant { .. }));
                let parent = old.ok_or_else(|| Rejected::missing("answer"))?.parent;
                Ok(self.start_reply(parent, reply, task, choice, at_ms))
            }
            Input::Switch { to } => {
                self.message(to).ok_or_else(|| Rejected::missing("message"))?;
                Ok(vec![Event::HeadMoved { chat: self.id, head: self.newest_leaf(to) }])
            }
            Input::EditQueued { message, text, mentioned, left_out } => {
                let attached = self.queued(message)?.attachments.clone();
                let (attachments, left_out) = Enclosed { attached, mentioned, left_out }.fit()?;
                check_text(&text, &attachments)?;
                let attachments = Some(attachments);
                Ok(vec![Event::QueuedEdited { chat: self.id, message, text, attachments, left_out }])
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
            Input::SendNow { message, at_ms } => self.send_now(message, at_ms),
            Input::Stop => self.stop(),
            Input::Rename { title } => {
                let title = workspace::name(&title)?;
                Ok(vec![Event::ChatTitled { chat: self.id, title, by: TitledBy::Person }])
            }
            Input::Answer { task, attempt, number, permit } => {
                let task = self.tasks.get(&task).ok_or(Rejected::Stale)?;
                task.decide(task::Input::Answer { attempt, number, permit })
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
            Work::ChatTurn | Work::CoderTurn if goes_on_after(&outcome) => {
                // One title task a chat: whether it succeeds or not, the first words do.
                let asked = self.tasks.values().any(|task| task.work == Work::Title);
                if let (Some((task, choice)), Some(TitledBy::Prompt), false) = (title, self.titled_by, asked)
                {
                    events.push(self.task_queued(task, Work::Title, choice, at_ms));
                }
            }
            _ => {}
        }
        if task.work.is_turn()
            && let Some(next) = after.next_after(&outcome, stopped)
        {
            events.extend(after.follow(task.id, next.clone(), at_ms));
        }
        Ok(events)
    }

    /// A queued message was written to follow the answer of `turn`, whichever branch is being looked at now.
    fn follow(&self, turn: TaskId, next: Queued, at_ms: i64) -> Vec<Event> {
        let answer = self.messages.iter().find(|message| message.body == Body::Assistant { task: turn });
        self.start_turn(answer.map(|answer| answer.id).or(self.head), next, at_ms)
    }

    fn start_turn(&self, parent: Option<MessageId>, turn: Queued, at_ms: i64) -> Vec<Event> {
        let Queued { turn: NewTurn { message, reply, task }, text, choice, attachments, left_out } = turn;
        let mut events = Vec::new();
        if self.titled_by.is_none() {
            let words =
                if text.trim().is_empty() { attachments.first().map(|file| &file.name) } else { None };
            let title = title::from_prompt(words.unwrap_or(&text));
            events.push(Event::ChatTitled { chat: self.id, title, by: TitledBy::Prompt });
        }
        let message = Message { id: message, parent, body: Body::User { text, attachments, left_out } };
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
            self.task_queued(task, self.kind.work(), choice, at_ms),
            Event::MessageAdded { chat: self.id, message },
        ]
    }

    fn task_queued(&self, id: TaskId, work: Work, choice: Choice, at_ms: i64) -> Event {
        // The first words of the prompt name the chat well enough, so a title is tried once.
        let attempts_max = if work.is_turn() { attempts_max(choice.paid) } else { 1 };
        let owner = Owner::Chat(self.id);
        let task = Task {
            persona: choice.persona,
            host: choice.coder.as_ref().map(|coder| coder.host.clone()),
            coder: choice.coder,
            machine: choice.machine,
            attempts_max,
            ..Task::new(id, owner, work, choice.model, at_ms)
        };
        Event::TaskQueued { owner, task }
    }

    /// Whether this chat's turns can be done as `choice` has it.
    fn can_do(&self, choice: &Choice) -> Result<(), Rejected> {
        let no = |words: String| Err(Rejected::Invalid(words));
        let coder = match (self.kind, &choice.coder) {
            (Kind::Chat, None) => return Ok(()),
            (Kind::Coder, Some(coder)) => coder,
            (Kind::Chat, Some(_)) => return no("Agents work in a Coder, not in a chat.".into()),
            (Kind::Coder, None) => return no("Choose who does the work.".into()),
        };
        match &self.worktree {
            Some(worktree) if worktree.state == worktree::State::Discarded => {
                no("The worktree is in the trash. Restore it, or begin a new task.".into())
            }
            Some(worktree) if worktree.state == worktree::State::Gone => {
                no("The worktree is gone. Begin a new task.".into())
            }
            Some(worktree) if worktree.host != coder.host => {
                no(format!("The worktree is on {}. Open BooCode there to go on.", worktree.host))
            }
            _ => Ok(()),
        }
    }

    /// What an agent did stays in its worktree, so its turns cannot be unsaid.
    fn require_answers_only(&self) -> Result<(), Rejected> {
        match self.kind {
            Kind::Chat => Ok(()),
            Kind::Coder => {
                Err(Rejected::Invalid("What was done stays. Say what to change in a new message.".into()))
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.active_turn().is_some_and(|turn| matches!(turn.status, Status::Running { cancelling: true, .. }))
    }

    fn require_idle(&self) -> Result<(), Rejected> {
        self.active_turn().map_or(Ok(()), |_| Err(Rejected::Busy))
    }

    /// A file goes with one message. An edited one may take it over from `of`, the version before it.
    fn question(
        &self,
        turn: NewTurn,
        text: String,
        choice: Choice,
        enclosed: Enclosed,
        of: Option<MessageId>,
    ) -> Result<Queued, Rejected> {
        self.can_do(&choice)?;
        let (attachments, left_out) = enclosed.fit()?;
        check_text(&text, &attachments)?;
        let has = |message: MessageId, wanted: &Attachment| {
            matches!(self.message(message).map(|message| &message.body),
                Some(Body::User { attachments, .. }) if attachments.iter().any(|known| known.id == wanted.id))
        };
        let taken =
            |file: &&Attachment| self.holder(file.id).is_some() && !of.is_some_and(|of| has(of, file));
        if let Some(file) = attachments.iter().find(taken) {
            let words = format!("{} was sent with another message already. Attach it again.", file.name);
            return Err(Rejected::Invalid(words));
        }
        Ok(Queued { turn, text, choice, attachments, left_out })
    }

    fn queued(&self, message: MessageId) -> Result<&Queued, Rejected> {
        let found = self.queue.iter().find(|queued| queued.turn.message == message);
        found.ok_or_else(|| Rejected::missing("queued message"))
    }
}

mod queue;
#[cfg(test)]
mod tests;

//! A chat: a tree of messages of which one branch is shown, at most one turn at work, and a queue.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Rejected,
    attachment::{Attachment, LeftOut},
    feed::{Event, StreamId},
    id::{AttachmentId, ChatId, MessageId, SessionId, TaskId},
    output::Outcome,
    task::{self, Owner, Task, Work},
    worktree::Worktree,
};

mod again;
mod branch;
mod choice;
mod decide;
pub mod title;

pub use choice::{Choice, Coder};
pub use decide::{Input, NewTurn, Report};

pub const TEXT_BYTES_MAX: usize = 256 * 1024;
pub const QUEUE_MAX: usize = 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chat {
    pub id: ChatId,
    pub session: SessionId,
    #[serde(default, skip_serializing_if = "Kind::is_chat")]
    pub kind: Kind,
    pub title: String,
    pub titled_by: Option<TitledBy>,
    /// In the order in which they were added, so a parent always comes before its children.
    pub messages: Vec<Message>,
    /// The last message of the branch that is shown.
    pub head: Option<MessageId>,
    pub queue: Vec<Queued>,
    /// The queued message in whose favour the running turn is being stopped.
    #[serde(default)]
    pub chosen: Option<MessageId>,
    pub tasks: BTreeMap<TaskId, Task>,
    /// Where a Coder's agents work, once the first has begun.
    #[serde(default)]
    pub worktree: Option<Worktree>,
}

/// What the turns of a chat are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A model answers.
    #[default]
    Chat,
    /// An agent works in a worktree.
    Coder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitledBy {
    /// The first words of the first message, until there is something better.
    Prompt,
    Model,
    Person,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub parent: Option<MessageId>,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// What was mentioned and did not go along.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOut>,
    },
    /// The text is the output of the task.
    Assistant { task: TaskId },
}

/// A message that waits for the running turn. Its ids are fixed when it is queued, so that whoever sends it
/// later, and however often that is tried, makes the same turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    pub turn: NewTurn,
    pub text: String,
    pub choice: Choice,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

impl Chat {
    pub fn new(id: ChatId, session: SessionId, title: String) -> Self {
        Self {
            id,
            session,
            kind: Kind::Chat,
            title,
            titled_by: None,
            messages: Vec::new(),
            head: None,
            queue: Vec::new(),
            chosen: None,
            tasks: BTreeMap::new(),
            worktree: None,
        }
    }

    /// Total: an event of another chat, or one about something unknown, changes nothing.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::ChatTitled { chat, title, by } if *chat == self.id => {
                self.title = title.clone();
                self.titled_by = Some(*by);
            }
            Event::MessageAdded { chat, message } if *chat == self.id => {
                self.unqueue(message.id);
                self.head = Some(message.id);
                self.messages.push(message.clone());
            }
            Event::HeadMoved { chat, head } if *chat == self.id => self.head = Some(*head),
            Event::MessageQueued { chat, queued } if *chat == self.id => self.queue.push(queued.clone()),
            Event::QueuedEdited { chat, message, text, attachments, left_out } if *chat == self.id => {
                if let Some(queued) = self.queue.iter_mut().find(|queued| queued.turn.message == *message) {
                    queued.text = text.clone();
                    queued.left_out = left_out.clone();
                    if let Some(attachments) = attachments {
                        queued.attachments = attachments.clone();
                    }
                }
            }
            Event::QueuedRemoved { chat, message } if *chat == self.id => self.unqueue(*message),
            Event::QueuedChosen { chat, message } if *chat == self.id => self.chosen = *message,
            Event::TaskQueued { owner, task } if *owner == Owner::Chat(self.id) => {
                self.tasks.insert(task.id, task.clone());
            }
            Event::WorktreeChanged { chat, worktree } if *chat == self.id => {
                self.worktree = Some(worktree.clone());
            }
            _ => {
                for task in self.tasks.values_mut() {
                    task.apply(event);
                }
            }
        }
    }

    fn unqueue(&mut self, message: MessageId) {
        self.queue.retain(|queued| queued.turn.message != message);
        self.chosen = self.chosen.filter(|chosen| *chosen != message);
    }

    /// The turn that is queued or running.
    pub fn active_turn(&self) -> Option<&Task> {
        self.tasks.values().find(|task| task.work.is_turn() && !task.is_settled())
    }

    /// How many turns there have been. Ids do not tell which was the last: one that waited has an old one.
    pub fn turns_over(&self) -> usize {
        self.tasks.values().filter(|task| task.work.is_turn() && task.is_settled()).count()
    }

    /// Whether what waits goes on only when a person says so: the last turn was stopped, or failed.
    pub fn is_held(&self) -> bool {
        !self.queue.is_empty() && self.active_turn().is_none()
    }

    pub fn message(&self, id: MessageId) -> Option<&Message> {
        self.messages.iter().find(|message| message.id == id)
    }

    /// The message that has the attachment, sent or waiting.
    pub fn holder(&self, attachment: AttachmentId) -> Option<MessageId> {
        let has = |attachments: &[Attachment]| attachments.iter().any(|known| known.id == attachment);
        let sent = self
            .messages
            .iter()
            .find(|message| matches!(&message.body, Body::User { attachments, .. } if has(attachments)));
        let waiting = || self.queue.iter().find(|queued| has(&queued.attachments));
        sent.map(|message| message.id).or_else(|| waiting().map(|queued| queued.turn.message))
    }

    pub fn task_of(&self, message: &Message) -> Option<&Task> {
        match &message.body {
            Body::Assistant { task } => self.tasks.get(task),
            Body::User { .. } => None,
        }
    }
}

impl Kind {
    pub(crate) fn is_chat(&self) -> bool {
        *self == Self::Chat
    }

    pub fn work(self) -> Work {
        match self {
            Self::Chat => Work::ChatTurn,
            Self::Coder => Work::CoderTurn,
        }
    }

    /// What one is called until it has a name.
    pub fn untitled(self) -> &'static str {
        match self {
            Self::Chat => "New chat",
            Self::Coder => "New task",
        }
    }
}

/// Whether a turn that ended like this lets the queue go on by itself. After a failure or a stop the person
/// looks first: what they queued may no longer make sense.
pub fn goes_on_after(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done { .. })
}

/// A file can stand for itself.
fn check_text(text: &str, attachments: &[Attachment]) -> Result<(), Rejected> {
    if text.trim().is_empty() && attachments.is_empty() {
        return Err(Rejected::Empty);
    }
    if text.len() > TEXT_BYTES_MAX {
        let kilobytes = |bytes: usize| bytes.div_ceil(1024);
        return Err(Rejected::TooLong { got: kilobytes(text.len()), max: kilobytes(TEXT_BYTES_MAX) });
    }
    Ok(())
}

pub(crate) fn attempts_max(paid: bool) -> u32 {
    if paid { task::PAID_ATTEMPTS_MAX } else { task::ATTEMPTS_MAX }
}

impl Chat {
    /// The streams of the shown branch, each with its final length once that is known.
    pub fn visible_streams(&self) -> Vec<(StreamId, Option<u64>)> {
        let tasks = self.branch().into_iter().filter_map(|message| self.task_of(message));
        tasks
            .flat_map(|task| {
                let stream = |(attempt, len)| (StreamId { task: task.id, attempt }, len);
                task.attempts().into_iter().map(stream)
            })
            .collect()
    }
}

//! The feed: the one registry of what is told to a browser, and how a browser folds it.
//!
//! *Events* are few, numbered without gaps, and make up the state. *Streams* are the long texts of single
//! attempts, addressed by offset. Both carry their place, so a piece that comes twice, late or not at all can
//! never be misapplied: it is ignored, or it is a gap and the browser resumes from where it stands.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    attachment::{Attachment, LeftOut},
    battle::{self, Analysis, Battle, Contestant, Course, Examination, analysis::Judgement},
    chat::{Message, Queued, TitledBy},
    id::{Attempt, BattleId, ChatId, MessageId, RunId, SessionId, TaskId},
    json::{self, Unfit},
    layout,
    output::{Outcome, Phase},
    run,
    settings::Part,
    task::{Owner, Task, Work},
    tool::Permit,
    workspace::{ChatEntry, Project, Session},
    worktree::Worktree,
};

#[cfg(test)]
mod golden;
#[cfg(test)]
mod sim;

/// The number of an event: 1, 2, 3 … in commit order, without gaps.
pub type Seq = i64;

/// Everything that can happen, under its name on the wire. Only ever added to: stored events are read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    ProjectAdded {
        project: Project,
    },
    SessionAdded {
        session: Session,
    },
    /// The panes of a session lie differently.
    LayoutChanged {
        session: SessionId,
        change: layout::Change,
    },
    ChatAdded {
        chat: ChatEntry,
    },
    ChatTitled {
        chat: ChatId,
        title: String,
        by: TitledBy,
    },
    MessageAdded {
        chat: ChatId,
        message: Message,
    },
    HeadMoved {
        chat: ChatId,
        head: MessageId,
    },
    MessageQueued {
        chat: ChatId,
        queued: Queued,
    },
    QueuedEdited {
        chat: ChatId,
        message: MessageId,
        text: String,
        /// Missing in events from before there were attachments: then they stay as they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attachments: Option<Vec<Attachment>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOut>,
    },
    QueuedRemoved {
        chat: ChatId,
        message: MessageId,
    },
    /// The message goes as soon as the running turn has stopped; none any more when a person stops that too.
    QueuedChosen {
        chat: ChatId,
        message: Option<MessageId>,
    },
    TaskQueued {
        #[serde(flatten)]
        owner: Owner,
        task: Task,
    },
    TaskStarted {
        #[serde(flatten)]
        owner: Owner,
        task: TaskId,
        attempt: Attempt,
        at_ms: i64,
    },
    TaskPhase {
        #[serde(flatten)]
        owner: Owner,
        task: TaskId,
        attempt: Attempt,
        phase: Phase,
    },
    /// A person's word on what the agent asked.
    TaskAnswered {
        #[serde(flatten)]
        owner: Owner,
        task: TaskId,
        attempt: Attempt,
        number: u32,
        permit: Permit,
    },
    TaskCancelling {
        #[serde(flatten)]
        owner: Owner,
        task: TaskId,
    },
    /// The attempt is lost; its text stays, `stream_len` bytes of it.
    TaskRequeued {
        #[serde(flatten)]
        owner: Owner,
        task: TaskId,
        attempt: Attempt,
        stream_len: u64,
    },
    TaskSettled {
        #[serde(flatten)]
        owner: Owner,
        task: TaskId,
        work: Work,
        /// Missing when nothing ever ran.
        attempt: Option<Attempt>,
        outcome: Outcome,
        stream_len: u64,
    },
    /// A Coder's worktree was made, or something became of it.
    WorktreeChanged {
        chat: ChatId,
        worktree: Worktree,
    },
    BattleStarted {
        battle: Box<Battle>,
    },
    /// A contestant was dispatched, is over, or more is known of it.
    ContestantUpdated {
        battle: BattleId,
        contestant: Box<Contestant>,
        battle_status: battle::Status,
    },
    /// How the battle as a whole stands.
    BattleUpdated {
        battle: BattleId,
        #[serde(flatten)]
        course: Box<Course>,
    },
    AnalysisUpdated {
        battle: BattleId,
        analysis: Box<Analysis>,
    },
    /// One judgement of an analysis, by its place there.
    JudgementMade {
        battle: BattleId,
        analysis: u32,
        place: u32,
        judgement: Judgement,
    },
    ExaminationAdded {
        battle: BattleId,
        examination: Examination,
    },
    FlowRunStarted {
        run: Box<run::Shown>,
    },
    /// Something happened to a step. That it was begun or lost, its task tells.
    FlowRunStepUpdated {
        run: RunId,
        /// What carries it out, once it is ready.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        change: Box<run::Change>,
    },
    /// Something happened to the run as a whole.
    FlowRunUpdated {
        run: RunId,
        change: Box<run::Change>,
        at_ms: i64,
    },
    /// Whoever keeps a copy of what Settings changes reads it again.
    SettingsChanged {
        what: Part,
    },
}

impl Event {
    /// The chat that it is about.
    pub fn chat(&self) -> Option<ChatId> {
        match self {
            Self::ChatAdded { chat } => Some(chat.id),
            Self::ChatTitled { chat, .. }
            | Self::MessageAdded { chat, .. }
            | Self::HeadMoved { chat, .. }
            | Self::MessageQueued { chat, .. }
            | Self::QueuedEdited { chat, .. }
            | Self::QueuedRemoved { chat, .. }
            | Self::QueuedChosen { chat, .. }
            | Self::WorktreeChanged { chat, .. } => Some(*chat),
            _ => match self.owner()? {
                Owner::Chat(chat) => Some(chat),
                Owner::Battle(_) | Owner::Run(_) => None,
            },
        }
    }

    /// The battle that it is about.
    pub fn battle(&self) -> Option<BattleId> {
        match self {
            Self::BattleStarted { battle } => Some(battle.id),
            Self::ContestantUpdated { battle, .. }
            | Self::BattleUpdated { battle, .. }
            | Self::AnalysisUpdated { battle, .. }
            | Self::JudgementMade { battle, .. }
            | Self::ExaminationAdded { battle, .. } => Some(*battle),
            _ => match self.owner()? {
                Owner::Battle(battle) => Some(battle),
                Owner::Chat(_) | Owner::Run(_) => None,
            },
        }
    }

    /// The run that it is about.
    pub fn run(&self) -> Option<RunId> {
        match self {
            Self::FlowRunStarted { run } => Some(run.id()),
            Self::FlowRunStepUpdated { run, .. } | Self::FlowRunUpdated { run, .. } => Some(*run),
            _ => match self.owner()? {
                Owner::Run(run) => Some(run),
                Owner::Chat(_) | Owner::Battle(_) => None,
            },
        }
    }

    /// Whose task it is about.
    pub fn owner(&self) -> Option<Owner> {
        match self {
            Self::TaskQueued { owner, .. }
            | Self::TaskStarted { owner, .. }
            | Self::TaskPhase { owner, .. }
            | Self::TaskAnswered { owner, .. }
            | Self::TaskCancelling { owner, .. }
            | Self::TaskRequeued { owner, .. }
            | Self::TaskSettled { owner, .. } => Some(*owner),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    pub seq: Seq,
    pub event: Event,
}

/// The output of one attempt at one task. Written `task.attempt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    pub task: TaskId,
    pub attempt: Attempt,
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.task, self.attempt)
    }
}

impl FromStr for StreamId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is not a stream: expected <task>.<attempt>");
        let (task, attempt) = text.split_once('.').ok_or_else(bad)?;
        Ok(Self {
            task: task.parse().map_err(|_| bad())?,
            attempt: Attempt(attempt.parse().map_err(|_| bad())?),
        })
    }
}

impl Serialize for StreamId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StreamId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What travels over the connection, each under the SSE event name that its variant has in snake case.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// Boxed, because most frames are small deltas.
    Event(Box<Envelope>),
    Delta(Delta),
    /// The browser is ahead of what survived a crash: its copy is cut back to `len` bytes, visibly.
    Truncate(Truncate),
    /// What the browser asked for is no longer kept, or it is ahead of us: it needs a new snapshot.
    Reset,
    /// Every two seconds, so that silence means a dead connection.
    Beat,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delta {
    pub stream: StreamId,
    pub offset: u64,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truncate {
    pub stream: StreamId,
    pub len: u64,
}

/// A state that is made of events.
pub trait Fold {
    fn apply(&mut self, event: &Event);
    /// The streams whose text this state shows, each with its final length once that is known.
    fn streams(&self) -> Vec<(StreamId, Option<u64>)>;
}

/// State, cursor and stream texts as read in one transaction; what a page starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot<S> {
    pub seq: Seq,
    pub state: S,
    pub streams: Vec<(StreamId, String)>,
}

/// The browser's copy of a state and of the streams it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror<S> {
    pub seq: Seq,
    pub state: S,
    pub streams: BTreeMap<StreamId, StreamCopy>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamCopy {
    pub text: String,
    /// Whether text that was shown had to be taken back.
    pub retracted: bool,
}

/// What a frame meant to the mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    Applied,
    /// Seen before; nothing changed.
    Repeated,
    /// Something before it is missing: resume from the mirror's own place.
    Gap,
    /// Fetch a new snapshot.
    Reset,
}

impl<S: Fold> Mirror<S> {
    pub fn new(snapshot: Snapshot<S>) -> Self {
        let copy = |(id, text)| (id, StreamCopy { text, retracted: false });
        Self {
            seq: snapshot.seq,
            state: snapshot.state,
            streams: snapshot.streams.into_iter().map(copy).collect(),
        }
    }

    /// Starts again from a new snapshot. Text that was shown and is no longer there counts as taken back.
    pub fn renew(&mut self, snapshot: Snapshot<S>) {
        let old = std::mem::replace(self, Self::new(snapshot));
        for (id, copy) in &mut self.streams {
            let before = old.streams.get(id);
            copy.retracted = before.is_some_and(|old| old.retracted || !copy.text.starts_with(&old.text));
        }
    }

    pub fn receive(&mut self, frame: &Frame) -> Received {
        match frame {
            Frame::Beat => Received::Repeated,
            Frame::Reset => Received::Reset,
            Frame::Event(envelope) if envelope.seq <= self.seq => Received::Repeated,
            Frame::Event(envelope) if envelope.seq > self.seq + 1 => Received::Gap,
            Frame::Event(envelope) => {
                self.seq = envelope.seq;
                self.state.apply(&envelope.event);
                self.cut_to_final_lengths();
                Received::Applied
            }
            Frame::Delta(delta) => self.append(delta),
            Frame::Truncate(cut) => self.cut_back(cut),
        }
    }

    fn append(&mut self, delta: &Delta) -> Received {
        let copy = self.streams.entry(delta.stream).or_default();
        let have = copy.text.len() as u64;
        let end = delta.offset + delta.text.len() as u64;
        if delta.offset > have {
            return Received::Gap;
        }
        if end <= have {
            return Received::Repeated;
        }
        match delta.text.get((have - delta.offset) as usize..) {
            Some(new) => {
                copy.text.push_str(new);
                Received::Applied
            }
            // The overlap ends inside a character, so the copy and the stream are not the same text.
            None => Received::Reset,
        }
    }

    fn cut_back(&mut self, cut: &Truncate) -> Received {
        let Some(copy) = self.streams.get_mut(&cut.stream) else {
            return Received::Repeated;
        };
        if cut.len >= copy.text.len() as u64 {
            return Received::Repeated;
        }
        if !copy.text.is_char_boundary(cut.len as usize) {
            return Received::Reset;
        }
        copy.text.truncate(cut.len as usize);
        copy.retracted = true;
        Received::Applied
    }

    /// An event that ends a stream says how long it is; whatever we have beyond that did not survive.
    fn cut_to_final_lengths(&mut self) {
        for (stream, len) in self.state.streams() {
            if let Some(len) = len {
                self.cut_back(&Truncate { stream, len });
            }
        }
    }

    /// Where to resume: the last event seen, and each shown stream that is not whole yet, with the bytes
    /// already here. What is being written goes first; what does not fit follows when those are whole.
    pub fn cursor(&self) -> Cursor {
        let have = |id: &StreamId| self.streams.get(id).map_or(0, |copy| copy.text.len() as u64);
        let mut open = self.state.streams();
        open.retain(|(id, len)| *len != Some(have(id)));
        open.sort_by_key(|(_, len)| len.is_some());
        let watch = open.into_iter().take(WATCH_MAX).map(|(id, _)| (id, have(&id))).collect();
        Cursor { after: self.seq, watch }
    }
}

/// The place in the feed that a connection starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cursor {
    pub after: Seq,
    pub watch: BTreeMap<StreamId, u64>,
}

/// A page shows a handful of streams; more is a mistake or an attack.
pub const WATCH_MAX: usize = 64;

impl Cursor {
    /// `after=7&watch=task.1:120,task.2:0`
    pub fn to_query(&self) -> String {
        let watch: Vec<_> = self.watch.iter().map(|(id, offset)| format!("{id}:{offset}")).collect();
        format!("after={}&watch={}", self.after, watch.join(","))
    }

    /// Reads the `watch` part of a query.
    pub fn parse(after: Seq, watch: &str) -> Result<Self, String> {
        let entry = |text: &str| {
            let (id, offset) = text.rsplit_once(':').ok_or(format!("{text:?} has no offset"))?;
            let offset = offset.parse().map_err(|_| format!("{text:?} has a bad offset"))?;
            Ok::<_, String>((id.parse()?, offset))
        };
        let watch: BTreeMap<_, _> =
            watch.split(',').filter(|part| !part.is_empty()).map(entry).collect::<Result<_, _>>()?;
        if watch.len() > WATCH_MAX {
            return Err(format!("at most {WATCH_MAX} streams can be watched"));
        }
        Ok(Self { after, watch })
    }
}

impl Frame {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Event(_) => "event",
            Self::Delta(_) => "delta",
            Self::Truncate(_) => "truncate",
            Self::Reset => "reset",
            Self::Beat => "beat",
        }
    }

    pub fn data(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Event(envelope) => serde_json::to_string(envelope),
            Self::Delta(delta) => serde_json::to_string(delta),
            Self::Truncate(cut) => serde_json::to_string(cut),
            Self::Reset | Self::Beat => Ok("{}".into()),
        }
    }

    pub fn parse(name: &str, data: &str) -> Result<Self, Unfit> {
        match name {
            "event" => json::read(data).map(Box::new).map(Self::Event),
            "delta" => json::read(data).map(Self::Delta),
            "truncate" => json::read(data).map(Self::Truncate),
            "reset" => Ok(Self::Reset),
            "beat" => Ok(Self::Beat),
            _ => Err(Unfit),
        }
    }
}

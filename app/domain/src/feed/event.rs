//! What can happen.

#[cfg(test)]
mod golden;

use serde::{Deserialize, Serialize};

use crate::{
    attachment::{Attachment, LeftOut},
    battle::{self, Analysis, Battle, Contestant, Course, Examination, analysis::Judgement},
    chat::{Message, Queued, TitledBy},
    id::{Attempt, BattleId, ChatId, MessageId, ProjectId, RunId, SessionId, TaskId},
    layout,
    output::{Outcome, Phase},
    run,
    settings::Part,
    task::{Owner, Task, Work},
    tool::Permit,
    workspace::{ChatEntry, Lines, Project, Session},
    worktree::Worktree,
};

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
    ProjectRenamed {
        project: ProjectId,
        name: String,
    },
    SessionRenamed {
        session: SessionId,
        name: String,
    },
    /// It left the lists, with all that belongs to it.
    ProjectArchived {
        project: ProjectId,
    },
    SessionArchived {
        session: SessionId,
    },
    ChatArchived {
        chat: ChatId,
    },
    /// It is back in the lists, with these lines: whoever looks may never have had them.
    ProjectRestored {
        project: ProjectId,
        lines: Box<Lines>,
    },
    SessionRestored {
        session: SessionId,
        lines: Box<Lines>,
    },
    ChatRestored {
        chat: ChatEntry,
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
        /// When its work began, where it was only made ready before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        began_at_ms: Option<i64>,
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
        /// How often whoever carried it out tried to change something.
        #[serde(default, skip_serializing_if = "is_zero")]
        tried: u32,
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

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Event {
    /// The chat that it is about.
    pub fn chat(&self) -> Option<ChatId> {
        match self {
            Self::ChatAdded { chat } | Self::ChatRestored { chat } => Some(chat.id),
            Self::ChatTitled { chat, .. }
            | Self::MessageAdded { chat, .. }
            | Self::HeadMoved { chat, .. }
            | Self::MessageQueued { chat, .. }
            | Self::QueuedEdited { chat, .. }
            | Self::QueuedRemoved { chat, .. }
            | Self::QueuedChosen { chat, .. }
            | Self::ChatArchived { chat }
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

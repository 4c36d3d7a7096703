//! What is worth telling a person who looks elsewhere: that an answer, a battle or a run is done, that one failed, and
//! that a chat goes on only when they act. Pure: what is looked at, and what is switched on, are inputs.

mod battles;
mod choice;
mod overslept;
mod runs;

pub use choice::{Channel, Choice, Kind, Permission};
pub use overslept::Overslept;

use crate::{
    chat::title::{clean, shorten},
    feed::Event,
    id::{BattleId, TaskId},
    layout::Content,
    output::{Outcome, Phase},
    page::Wanted,
    settings::{Section, counted},
    task::Owner,
    tool::Ask,
    workspace::{Activity, ChatEntry, Workspace},
};

/// More stops than this are not under way at once; the oldest is forgotten.
const STOPPED_MAX: usize = 64;
const BODY_CHARS_MAX: usize = 140;

/// What the person has before them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sight {
    /// The page is not covered and not in a tab behind another.
    pub is_visible: bool,
    /// What is typed goes to the page.
    pub is_focused: bool,
    /// What the page shows.
    pub in_front: Vec<Content>,
}

impl Sight {
    pub fn shows(&self, content: Content) -> bool {
        self.is_visible && self.in_front.contains(&content)
    }

    /// Whoever is away is not reached by what the page says.
    pub fn is_away(&self) -> bool {
        !self.is_visible || !self.is_focused
    }

    /// Whether somebody with this before them is told by this channel what `about` comes to. What they see needs no
    /// telling; but whoever types into another window beside it may not notice that it waits for them.
    fn is_told(&self, channel: Channel, kind: Kind, about: Option<Content>) -> bool {
        let is_seen = about.is_some_and(|content| self.shows(content));
        match channel {
            Channel::Page => !is_seen,
            Channel::Browser => self.is_away() && (!is_seen || kind == Kind::NeedsAnswer),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub kind: Kind,
    /// One notice a task, battle or run: a second one under the same tag takes the place of the first.
    pub tag: String,
    pub title: String,
    /// One line.
    pub body: String,
    /// Where a click on it leads.
    pub leads_to: Wanted,
}

impl Notice {
    /// By every channel that reaches somebody with this before them and is switched on.
    fn told(self, sight: &Sight, choice: &Choice) -> Vec<(Channel, Self)> {
        let about = self.leads_to.content();
        let is_told = |channel: &Channel| {
            choice.is_on(self.kind, *channel) && sight.is_told(*channel, self.kind, about)
        };
        Channel::ALL.into_iter().filter(is_told).map(|channel| (channel, self.clone())).collect()
    }

    /// For one who wants to see whether they are reached.
    pub fn test(tag: String) -> Self {
        Self {
            kind: Kind::Done,
            tag,
            title: "BooCode".to_owned(),
            body: "This is how you are told.".to_owned(),
            leads_to: Wanted::SettingsPage(Section::Notifications),
        }
    }
}

/// Hears events and says which of them are told, and how.
#[derive(Debug, Default)]
pub struct Notifier {
    /// Turns that a person asked to stop; how they end is no news to them.
    stopped: Vec<TaskId>,
    /// Battles that were seen under way. Only how one of those ends is news.
    under_way: Vec<BattleId>,
}

impl Notifier {
    /// `workspace` has the event in it already.
    pub fn hear(
        &mut self,
        event: &Event,
        workspace: &Workspace,
        sight: &Sight,
        choice: &Choice,
    ) -> Vec<(Channel, Notice)> {
        match event {
            Event::TaskCancelling { task, .. } => {
                if self.stopped.len() == STOPPED_MAX {
                    self.stopped.remove(0);
                }
                self.stopped.push(*task);
            }
            // The one event that a task has once, however often it was tried.
            Event::TaskSettled { owner: Owner::Chat(chat), task, work, outcome, .. } if work.is_turn() => {
                let is_stopped = self.stopped.contains(task) || *outcome == Outcome::Cancelled;
                self.stopped.retain(|stopped| stopped != task);
                let entry = workspace.chat(*chat).filter(|_| !is_stopped);
                return entry.map(|entry| told(*task, entry, outcome, sight, choice)).unwrap_or_default();
            }
            Event::TaskPhase { owner: Owner::Chat(chat), task, phase: Phase::Asking(ask), .. } => {
                let entry = workspace.chat(*chat);
                return entry.map(|entry| asked(*task, entry, ask).told(sight, choice)).unwrap_or_default();
            }
            Event::FlowRunUpdated { run, change, .. } => {
                let settled = runs::settled(*run, change, workspace);
                return settled.map(|notice| notice.told(sight, choice)).unwrap_or_default();
            }
            event => return self.hear_battle(event, workspace, sight, choice),
        }
        Vec::new()
    }
}

/// An agent goes on only when somebody says whether it may.
fn asked(task: TaskId, entry: &ChatEntry, ask: &Ask) -> Notice {
    Notice {
        kind: Kind::NeedsAnswer,
        tag: task.to_string(),
        title: entry.title.clone(),
        body: line(&format!("Asks before it goes on: {}", ask.title)),
        leads_to: Wanted::Chat(entry.id),
    }
}

fn told(
    task: TaskId,
    entry: &ChatEntry,
    outcome: &Outcome,
    sight: &Sight,
    choice: &Choice,
) -> Vec<(Channel, Notice)> {
    let fault = outcome.fault();
    // A failure that keeps messages waiting is of both kinds, and told when either is wanted.
    let kinds: &[Kind] = match (&fault, entry.activity()) {
        (None, _) => &[Kind::Done],
        (Some(_), Activity::NeedsPerson) => &[Kind::NeedsAnswer, Kind::Failed],
        (Some(_), _) => &[Kind::Failed],
    };
    let leads_to = Wanted::Chat(entry.id);
    let notice = |channel| {
        let is_told = |kind: &&Kind| {
            choice.is_on(**kind, channel) && sight.is_told(channel, **kind, leads_to.content())
        };
        let kind = *kinds.iter().find(is_told)?;
        let why = fault.map_or_else(String::new, |(what, why)| format!("{what}: {why}"));
        let body = match kind {
            Kind::Done => "The answer is ready.".to_owned(),
            Kind::Failed => why,
            Kind::NeedsAnswer => {
                format!("Waits for you with {}. {why}", counted(entry.queued.len(), "unsent message"))
            }
        };
        let body = line(&body);
        let tag = task.to_string();
        Some((channel, Notice { kind, tag, title: entry.title.clone(), body, leads_to }))
    };
    Channel::ALL.into_iter().filter_map(notice).collect()
}

fn line(words: &str) -> String {
    shorten(&clean(words), BODY_CHARS_MAX)
}

#[cfg(test)]
mod tests;

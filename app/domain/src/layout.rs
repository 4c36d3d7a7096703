//! How the panes of a session lie: a tree of splits whose leaves are panes, each a stack of tabs.
//!
//! The tree is shared by everyone who looks at the session and kept with it. Which pane has the focus, and
//! whether one fills the screen, is each browser's own business and not in here.

use serde::{Deserialize, Serialize};

use crate::{
    Rejected,
    artifact::Artifact,
    chat,
    id::{BattleId, ChatId, RunId},
};

mod apply;
mod decide;
mod geometry;
mod node;
#[cfg(test)]
mod tests;

pub use decide::{Input, Origin, Target};
pub use geometry::{Direction, Divider, Rect};
pub use node::{Node, Split};

pub const PANES_MAX: usize = 12;
/// Another one takes the place of the one that was opened first.
pub const TABS_MAX: usize = 60;
/// How many closed panes and tabs can be brought back.
pub const CLOSED_MAX: usize = 10;
/// The share of a split's first part, in thousandths; neither part may be squeezed away.
pub const SHARE_MIN: u16 = 100;
pub const SHARE_MAX: u16 = 900;
pub const SHARE_EVEN: u16 = 500;

/// Unique in its layout, never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PaneId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SplitId(pub u32);

/// The number a tab is called by. Never reused, so that "tab 3" always means the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TabNumber(pub u32);

/// What a pane can hold. The + menu, the split menu and the palette offer every kind that stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Chat,
    Coder,
    Arena,
    Orchestrator,
    Settings,
}

/// What opening a kind begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opens {
    /// A new one of these.
    Chat(chat::Kind),
    /// There is one in a session, which then comes to the front.
    Content(Content),
}

impl Kind {
    pub fn opens(self) -> Opens {
        match self {
            Self::Chat => Opens::Chat(chat::Kind::Chat),
            Self::Coder => Opens::Chat(chat::Kind::Coder),
            Self::Arena => Opens::Content(Content::Arena),
            Self::Orchestrator => Opens::Content(Content::Orchestrator),
            Self::Settings => Opens::Content(Content::Settings),
        }
    }
}

/// What a tab shows. Each is open at most once in a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Chat(ChatId),
    /// Where a battle is launched.
    Arena,
    Battle(BattleId),
    /// Where a run is launched.
    Orchestrator,
    Run(RunId),
    Artifact(Artifact),
    Settings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tab {
    pub number: TabNumber,
    pub content: Content,
}

/// At least one tab, of which one is in front.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pane {
    pub id: PaneId,
    pub tabs: Vec<Tab>,
    pub active: TabNumber,
}

/// The side of something that a pane goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    Left,
    Right,
    Top,
    Bottom,
}

/// How the two parts of a split lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Side by side.
    Row,
    /// One above the other.
    Column,
}

/// A node of the tree, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    Pane(PaneId),
    Split(SplitId),
}

/// Where a pane goes or was: at an edge of a node, in a split of this name and share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub beside: Anchor,
    pub edge: Edge,
    pub split: SplitId,
    pub share: u16,
}

/// What was closed, with all that bringing it back needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closed {
    Pane { pane: Pane, place: Option<Place> },
    Tab { tab: Tab, pane: PaneId, index: usize },
}

/// What happened to a layout. `Layout::apply` is total: what no longer fits changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    PaneOpened {
        pane: PaneId,
        tab: Tab,
        place: Option<Place>,
    },
    PaneClosed {
        pane: PaneId,
    },
    PaneMoved {
        pane: PaneId,
        place: Place,
    },
    TabOpened {
        pane: PaneId,
        tab: Tab,
    },
    TabClosed {
        tab: TabNumber,
    },
    TabActivated {
        tab: TabNumber,
    },
    TabMoved {
        tab: TabNumber,
        pane: PaneId,
        index: usize,
    },
    /// The tab becomes a pane of its own.
    TabSplitOff {
        tab: TabNumber,
        pane: PaneId,
        place: Place,
    },
    /// What was closed last is back; a tab whose pane is gone lies in `pane`.
    Reopened {
        pane: PaneId,
    },
    SplitResized {
        split: SplitId,
        share: u16,
    },
    /// What was made in a tab takes the place of what it was made with.
    TabBound {
        tab: TabNumber,
        content: Content,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    pub root: Option<Node>,
    /// The newest last.
    pub closed: Vec<Closed>,
    /// What the next pane or split is called, and the next tab.
    next_node: u32,
    next_tab: u32,
}

impl Edge {
    pub fn axis(self) -> Axis {
        match self {
            Self::Left | Self::Right => Axis::Row,
            Self::Top | Self::Bottom => Axis::Column,
        }
    }

    /// Whether what goes there comes before what it goes beside.
    fn is_first(self) -> bool {
        matches!(self, Self::Left | Self::Top)
    }
}

impl Pane {
    pub fn active_tab(&self) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.number == self.active)
    }

    pub fn shows(&self) -> Option<Content> {
        self.active_tab().map(|tab| tab.content)
    }
}

impl Layout {
    /// From left to right and top to bottom.
    pub fn panes(&self) -> Vec<&Pane> {
        self.root.as_ref().map(Node::panes).unwrap_or_default()
    }

    pub fn pane(&self, id: PaneId) -> Option<&Pane> {
        self.root.as_ref()?.pane(id)
    }

    /// The pane and tab that hold this content.
    pub fn find(&self, content: Content) -> Option<(&Pane, &Tab)> {
        self.tabs().find(|(_, tab)| tab.content == content)
    }

    pub fn tab(&self, number: TabNumber) -> Option<(&Pane, &Tab)> {
        self.tabs().find(|(_, tab)| tab.number == number)
    }

    fn tabs(&self) -> impl Iterator<Item = (&Pane, &Tab)> {
        self.panes().into_iter().flat_map(|pane| pane.tabs.iter().map(move |tab| (pane, tab)))
    }

    /// What is in front in each pane.
    pub fn visible(&self) -> Vec<Content> {
        self.panes().into_iter().filter_map(Pane::shows).collect()
    }

    /// What comes to the front when what was closed last is reopened.
    pub fn reopens(&self) -> Option<Content> {
        match self.closed.last()? {
            Closed::Pane { pane, .. } => pane.shows(),
            Closed::Tab { tab, .. } => Some(tab.content),
        }
    }

    /// What has the focus when what had it in `pane` is closed: what that pane shows then, else the first pane.
    pub fn heir(&self, pane: Option<PaneId>) -> Option<Content> {
        let heir = pane.and_then(|pane| self.pane(pane)).or(self.panes().first().copied());
        heir.and_then(Pane::shows)
    }

    /// What closes the tab of this content, wherever it is.
    pub fn without(&self, content: Content) -> Result<Vec<Change>, Rejected> {
        match self.find(content) {
            Some((_, tab)) => self.decide(Input::CloseTab { tab: tab.number }),
            None => Ok(Vec::new()),
        }
    }

    /// Everything that lies in it, and what can be reopened.
    pub fn contents(&self) -> Vec<Content> {
        let closed = self.closed.iter().flat_map(|closed| match closed {
            Closed::Pane { pane, .. } => pane.tabs.as_slice(),
            Closed::Tab { tab, .. } => std::slice::from_ref(tab),
        });
        self.tabs().map(|(_, tab)| tab).chain(closed).map(|tab| tab.content).collect()
    }

    /// The layout with `content` in front, as a page shows it whose address names it. What is not open yet is
    /// shown where opening it will put it.
    pub fn showing(&self, content: Content, beside: Option<PaneId>) -> Self {
        let mut shown = self.clone();
        if let Ok(changes) = self.decide(Input::Open { content, target: Target::Tab { pane: beside } }) {
            changes.iter().for_each(|change| shown.apply(change));
        }
        shown
    }
}

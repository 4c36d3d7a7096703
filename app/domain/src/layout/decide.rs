//! What may happen to a layout next.

use serde::{Deserialize, Serialize};

use super::{
    Anchor, CLOSED_MAX, Change, Content, Edge, Layout, Node, PANES_MAX, PaneId, Place, SHARE_EVEN, SHARE_MAX,
    SHARE_MIN, SplitId, TABS_MAX, Tab, TabNumber,
};
use crate::Rejected;

/// What is asked of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Brings to the front what is open already.
    Open {
        content: Content,
        target: Target,
    },
    /// Puts `content` where it was made: into the tab of `maker`, if it was made in that and it is still open.
    Bind {
        maker: Content,
        content: Content,
        origin: Origin,
    },
    ClosePane {
        pane: PaneId,
    },
    CloseTab {
        tab: TabNumber,
    },
    Reopen,
    Activate {
        tab: TabNumber,
    },
    Resize {
        split: SplitId,
        share: u16,
    },
    MovePane {
        pane: PaneId,
        beside: PaneId,
        edge: Edge,
    },
    MoveTab {
        tab: TabNumber,
        target: Target,
        /// Where among the tabs; at the end when it is not said.
        index: Option<usize>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A tab of this pane, or of the first one.
    Tab { pane: Option<PaneId> },
    /// A pane of its own at an edge of this one.
    Split { pane: PaneId, edge: Edge },
}

/// Where something was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// In the pane that is there to make it. Whatever is made elsewhere leaves that pane as it is, because somebody may
    /// be filling its form.
    pub is_maker: bool,
    /// Where it goes otherwise.
    pub target: Target,
}

impl Origin {
    /// Made elsewhere: by a command, a dialog or a script.
    pub fn elsewhere(pane: Option<PaneId>) -> Self {
        Self { is_maker: false, target: Target::Tab { pane } }
    }
}

impl Layout {
    pub fn decide(&self, input: Input) -> Result<Vec<Change>, Rejected> {
        let changes = match input {
            Input::Open { content, target } => return self.open(content, target),
            Input::Bind { maker, content, origin } => match self.find(maker).filter(|_| origin.is_maker) {
                Some((_, tab)) => vec![Change::TabBound { tab: tab.number, content }],
                None => return self.open(content, origin.target),
            },
            Input::ClosePane { pane } => {
                self.need_pane(pane)?;
                vec![Change::PaneClosed { pane }]
            }
            Input::CloseTab { tab } => {
                let (pane, _) = self.need_tab(tab)?;
                match pane.tabs.len() {
                    1 => vec![Change::PaneClosed { pane: pane.id }],
                    _ => vec![Change::TabClosed { tab }],
                }
            }
            Input::Reopen => {
                let closed = self.closed.last().ok_or_else(|| nothing("Nothing was closed lately."))?;
                let brings_pane = matches!(closed, super::Closed::Pane { .. }) || self.root.is_none();
                if brings_pane {
                    self.need_room()?;
                }
                let pane = self.panes().first().map_or(PaneId(self.next_node), |pane| pane.id);
                self.with_room(Change::Reopened { pane })?
            }
            Input::Activate { tab } => {
                let (pane, _) = self.need_tab(tab)?;
                if pane.active == tab {
                    return Ok(Vec::new());
                }
                vec![Change::TabActivated { tab }]
            }
            Input::Resize { split, share } => {
                let found = self.root.as_ref().and_then(|root| root.split(split));
                found.ok_or_else(|| Rejected::missing("divider"))?;
                vec![Change::SplitResized { split, share: share.clamp(SHARE_MIN, SHARE_MAX) }]
            }
            Input::MovePane { pane, beside, edge } => {
                self.need_pane(pane)?;
                self.need_pane(beside)?;
                if pane == beside {
                    return Ok(Vec::new());
                }
                vec![Change::PaneMoved { pane, place: self.place(beside, edge, self.next_node) }]
            }
            Input::MoveTab { tab, target, index } => self.move_tab(tab, target, index)?,
        };
        Ok(changes)
    }

    fn open(&self, content: Content, target: Target) -> Result<Vec<Change>, Rejected> {
        if let Some((_, tab)) = self.find(content) {
            return self.decide(Input::Activate { tab: tab.number });
        }
        let tab = Tab { number: TabNumber(self.next_tab), content };
        let wanted = match target {
            Target::Tab { pane } => pane.and_then(|pane| self.pane(pane)),
            Target::Split { pane, .. } => self.pane(pane),
        };
        let change = match (wanted.or(self.panes().first().copied()), target) {
            (None, _) => Change::PaneOpened { pane: PaneId(self.next_node), tab, place: None },
            (Some(pane), Target::Tab { .. }) => Change::TabOpened { pane: pane.id, tab },
            (Some(pane), Target::Split { edge, .. }) => {
                self.need_room()?;
                let place = self.place(pane.id, edge, self.next_node + 1);
                Change::PaneOpened { pane: PaneId(self.next_node), tab, place: Some(place) }
            }
        };
        self.with_room(change)
    }

    /// What brings tabs, and then what makes room for them: those that were opened first and are not in front close.
    /// Nobody is refused a tab for having many, and what makes room can be reopened; a pane for which more would have
    /// to close than that does not come back.
    fn with_room(&self, change: Change) -> Result<Vec<Change>, Rejected> {
        let mut after = self.clone();
        after.apply(&change);
        let mut changes = vec![change];
        while after.tabs().count() > TABS_MAX {
            let behind = after.tabs().filter(|(pane, tab)| pane.active != tab.number);
            let Some(tab) = behind.map(|(_, tab)| tab.number).min() else { break };
            let close = Change::TabClosed { tab };
            after.apply(&close);
            changes.push(close);
        }
        if changes.len() > 1 + CLOSED_MAX {
            return Err(nothing(
                "The pane has too many tabs to fit beside those that are open. Close some first.",
            ));
        }
        Ok(changes)
    }

    fn move_tab(
        &self,
        tab: TabNumber,
        target: Target,
        index: Option<usize>,
    ) -> Result<Vec<Change>, Rejected> {
        let (from, _) = self.need_tab(tab)?;
        let is_alone = from.tabs.len() == 1;
        match target {
            Target::Tab { pane } => {
                let pane = pane.ok_or_else(|| Rejected::missing("pane"))?;
                self.need_pane(pane)?;
                // Where nobody says among which tabs, it lies well in its own pane.
                if pane == from.id && (is_alone || index.is_none()) {
                    return Ok(Vec::new());
                }
                Ok(vec![Change::TabMoved { tab, pane, index: index.unwrap_or(usize::from(u16::MAX)) }])
            }
            // The only tab of a pane is that pane.
            Target::Split { pane, edge } if is_alone => {
                self.decide(Input::MovePane { pane: from.id, beside: pane, edge })
            }
            Target::Split { pane, edge } => {
                self.need_pane(pane)?;
                self.need_room()?;
                let place = self.place(pane, edge, self.next_node + 1);
                Ok(vec![Change::TabSplitOff { tab, pane: PaneId(self.next_node), place }])
            }
        }
    }

    fn place(&self, beside: PaneId, edge: Edge, split: u32) -> Place {
        Place { beside: Anchor::Pane(beside), edge, split: SplitId(split), share: SHARE_EVEN }
    }

    /// To the right of everything.
    pub(super) fn beside_all(&mut self, root: &Node) -> Place {
        let split = SplitId(self.next_node);
        self.next_node += 1;
        let beside = match root {
            Node::Pane(pane) => Anchor::Pane(pane.id),
            Node::Split(split) => Anchor::Split(split.id),
        };
        Place { beside, edge: Edge::Right, split, share: SHARE_EVEN }
    }

    fn need_pane(&self, pane: PaneId) -> Result<(), Rejected> {
        self.pane(pane).map(drop).ok_or_else(|| Rejected::missing("pane"))
    }

    fn need_tab(&self, tab: TabNumber) -> Result<(&super::Pane, &Tab), Rejected> {
        self.tab(tab).ok_or_else(|| Rejected::missing("tab"))
    }

    fn need_room(&self) -> Result<(), Rejected> {
        if self.panes().len() >= PANES_MAX {
            return Err(nothing(&format!("At most {PANES_MAX} panes fit. Close one first.")));
        }
        Ok(())
    }
}

fn nothing(words: &str) -> Rejected {
    Rejected::Invalid(words.to_owned())
}

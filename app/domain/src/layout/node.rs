//! The tree itself. Every operation is total: what names nothing changes nothing.

use serde::{Deserialize, Serialize};

use super::{Anchor, Axis, Edge, Pane, PaneId, Place, SplitId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    Pane(Pane),
    Split(Box<Split>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    pub id: SplitId,
    pub axis: Axis,
    /// Of the first part, in thousandths.
    pub share: u16,
    pub first: Node,
    pub second: Node,
}

impl Node {
    pub fn panes(&self) -> Vec<&Pane> {
        match self {
            Self::Pane(pane) => vec![pane],
            Self::Split(split) => {
                let mut panes = split.first.panes();
                panes.extend(split.second.panes());
                panes
            }
        }
    }

    pub fn pane(&self, id: PaneId) -> Option<&Pane> {
        match self {
            Self::Pane(pane) => (pane.id == id).then_some(pane),
            Self::Split(split) => split.first.pane(id).or_else(|| split.second.pane(id)),
        }
    }

    pub fn split(&self, id: SplitId) -> Option<&Split> {
        match self {
            Self::Pane(_) => None,
            Self::Split(split) if split.id == id => Some(split),
            Self::Split(split) => split.first.split(id).or_else(|| split.second.split(id)),
        }
    }

    pub(super) fn pane_mut(&mut self, id: PaneId) -> Option<&mut Pane> {
        match self {
            Self::Pane(pane) => (pane.id == id).then_some(pane),
            Self::Split(split) => split.first.pane_mut(id).or_else(|| split.second.pane_mut(id)),
        }
    }

    pub(super) fn resize(&mut self, id: SplitId, share: u16) {
        if let Self::Split(split) = self {
            if split.id == id {
                split.share = share;
            } else {
                split.first.resize(id, share);
                split.second.resize(id, share);
            }
        }
    }

    fn anchor(&self) -> Anchor {
        match self {
            Self::Pane(pane) => Anchor::Pane(pane.id),
            Self::Split(split) => Anchor::Split(split.id),
        }
    }

    fn holds(&self, anchor: Anchor) -> bool {
        match anchor {
            Anchor::Pane(id) => self.pane(id).is_some(),
            Anchor::Split(id) => self.split(id).is_some(),
        }
    }

    /// Puts `pane` beside a node, or beside everything when that node is gone.
    pub(super) fn insert(self, pane: Pane, place: Place) -> Self {
        if self.anchor() == place.beside || !self.holds(place.beside) {
            return self.beside(pane, place);
        }
        match self {
            Self::Pane(_) => self.beside(pane, place),
            Self::Split(mut split) => {
                if split.first.holds(place.beside) {
                    split.first = split.first.insert(pane, place);
                } else {
                    split.second = split.second.insert(pane, place);
                }
                Self::Split(split)
            }
        }
    }

    fn beside(self, pane: Pane, place: Place) -> Self {
        let Place { edge, split, share, .. } = place;
        let (first, second) =
            if edge.is_first() { (Self::Pane(pane), self) } else { (self, Self::Pane(pane)) };
        Self::Split(Box::new(Split { id: split, axis: edge.axis(), share, first, second }))
    }

    /// What is left without the pane, and the pane with the place that puts it back.
    pub(super) fn remove(self, id: PaneId) -> (Option<Self>, Option<(Pane, Option<Place>)>) {
        match self {
            Self::Pane(pane) if pane.id == id => (None, Some((pane, None))),
            Self::Pane(_) => (Some(self), None),
            Self::Split(split) => {
                let Split { id: name, axis, share, first, second } = *split;
                let place = |beside: &Self, edge| Place { beside: beside.anchor(), edge, split: name, share };
                let (before, after) = match axis {
                    Axis::Row => (Edge::Left, Edge::Right),
                    Axis::Column => (Edge::Top, Edge::Bottom),
                };
                let whole = |first, second| {
                    Some(Self::Split(Box::new(Split { id: name, axis, share, first, second })))
                };
                match first.remove(id) {
                    (None, Some((pane, _))) => {
                        let place = place(&second, before);
                        (Some(second), Some((pane, Some(place))))
                    }
                    (Some(first), Some(found)) => (whole(first, second), Some(found)),
                    (Some(first), None) => match second.remove(id) {
                        (None, Some((pane, _))) => {
                            let place = place(&first, after);
                            (Some(first), Some((pane, Some(place))))
                        }
                        (Some(second), found) => (whole(first, second), found),
                        (None, None) => (Some(first), None),
                    },
                    (None, None) => (Some(second), None),
                }
            }
        }
    }
}

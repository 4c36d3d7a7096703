//! Where panes lie on the screen, for moving the focus with arrow keys.

use super::{Axis, Layout, Node, PaneId, SplitId};

/// In millionths of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    pub left: u32,
    pub top: u32,
    pub width: u32,
    pub height: u32,
}

/// The line between the two parts of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divider {
    pub split: SplitId,
    pub axis: Axis,
    pub share: u16,
    /// What it divides.
    pub whole: Rect,
    /// Itself, without thickness.
    pub line: Rect,
}

const WHOLE: u32 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Left,
    Right,
    Up,
    Down,
}

impl Layout {
    pub fn rects(&self) -> Vec<(PaneId, Rect)> {
        self.placed().0
    }

    pub fn dividers(&self) -> Vec<Divider> {
        self.placed().1
    }

    fn placed(&self) -> (Vec<(PaneId, Rect)>, Vec<Divider>) {
        let (mut rects, mut dividers) = (Vec::new(), Vec::new());
        if let Some(root) = &self.root {
            let whole = Rect { left: 0, top: 0, width: WHOLE, height: WHOLE };
            place(root, whole, &mut rects, &mut dividers);
        }
        (rects, dividers)
    }

    pub fn share(&self, split: SplitId) -> Option<u16> {
        self.root.as_ref()?.split(split).map(|split| split.share)
    }

    /// The pane that lies there, seen from the middle of this one.
    pub fn neighbour(&self, from: PaneId, direction: Direction) -> Option<PaneId> {
        let rects = self.rects();
        let (_, here) = rects.iter().find(|(id, _)| *id == from)?;
        let touching = rects.iter().filter(|(id, there)| *id != from && here.touches(there, direction));
        touching.min_by_key(|(_, there)| here.distance(there, direction)).map(|(id, _)| *id)
    }
}

fn place(node: &Node, rect: Rect, rects: &mut Vec<(PaneId, Rect)>, dividers: &mut Vec<Divider>) {
    match node {
        Node::Pane(pane) => rects.push((pane.id, rect)),
        Node::Split(split) => {
            let part = |whole: u32| (u64::from(whole) * u64::from(split.share) / 1000) as u32;
            let (first, second) = match split.axis {
                Axis::Row => {
                    let width = part(rect.width);
                    let rest = Rect { left: rect.left + width, width: rect.width - width, ..rect };
                    (Rect { width, ..rect }, rest)
                }
                Axis::Column => {
                    let height = part(rect.height);
                    let rest = Rect { top: rect.top + height, height: rect.height - height, ..rect };
                    (Rect { height, ..rect }, rest)
                }
            };
            let line = match split.axis {
                Axis::Row => Rect { width: 0, ..second },
                Axis::Column => Rect { height: 0, ..second },
            };
            let (id, axis, share) = (split.id, split.axis, split.share);
            dividers.push(Divider { split: id, axis, share, whole: rect, line });
            place(&split.first, first, rects, dividers);
            place(&split.second, second, rects, dividers);
        }
    }
}

impl Rect {
    fn right(&self) -> u32 {
        self.left + self.width
    }

    fn bottom(&self) -> u32 {
        self.top + self.height
    }

    fn touches(&self, other: &Self, direction: Direction) -> bool {
        let beside = self.top < other.bottom() && other.top < self.bottom();
        let above = self.left < other.right() && other.left < self.right();
        match direction {
            Direction::Left => beside && other.right() == self.left,
            Direction::Right => beside && other.left == self.right(),
            Direction::Up => above && other.bottom() == self.top,
            Direction::Down => above && other.top == self.bottom(),
        }
    }

    /// How far the middles are apart, across the direction.
    fn distance(&self, other: &Self, direction: Direction) -> u32 {
        match direction {
            Direction::Left | Direction::Right => {
                (self.top + self.height / 2).abs_diff(other.top + other.height / 2)
            }
            Direction::Up | Direction::Down => {
                (self.left + self.width / 2).abs_diff(other.left + other.width / 2)
            }
        }
    }
}

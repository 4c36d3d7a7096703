//! What a change does to a layout.

use super::{CLOSED_MAX, Change, Closed, Content, Layout, Node, Pane, PaneId, Place, Tab, TabNumber};

impl Layout {
    pub fn apply(&mut self, change: &Change) {
        self.count(change);
        match change {
            Change::PaneOpened { pane, tab, place } => {
                self.forget_closed(tab.content);
                let pane = Pane { id: *pane, tabs: vec![*tab], active: tab.number };
                self.put(pane, *place);
            }
            Change::PaneClosed { pane } => {
                if let Some((pane, place)) = self.take(*pane) {
                    self.remember(Closed::Pane { pane, place });
                }
            }
            Change::PaneMoved { pane, place } => {
                if let Some((pane, _)) = self.take(*pane) {
                    self.put(pane, Some(*place));
                }
            }
            Change::TabOpened { pane, tab } => {
                self.forget_closed(tab.content);
                if let Some(pane) = self.pane_mut(*pane) {
                    pane.tabs.push(*tab);
                    pane.active = tab.number;
                }
            }
            Change::TabClosed { tab } => {
                if let Some((tab, pane, index)) = self.take_tab(*tab) {
                    self.remember(Closed::Tab { tab, pane, index });
                }
            }
            Change::TabActivated { tab } => {
                let pane = self.tab(*tab).map(|(pane, _)| pane.id);
                if let Some(pane) = pane.and_then(|pane| self.pane_mut(pane)) {
                    pane.active = *tab;
                }
            }
            Change::TabMoved { tab, pane, index } => {
                if self.pane(*pane).is_none() {
                    return;
                }
                // Within one pane the place is counted without the tab itself, as a person sees it.
                if let Some((tab, from, _)) = self.take_tab_of_many(*tab, *pane) {
                    self.insert_tab(*pane, tab, *index);
                    self.drop_if_empty(from);
                }
            }
            Change::TabSplitOff { tab, pane, place } => {
                if let Some((tab, _, _)) = self.take_tab(*tab) {
                    let pane = Pane { id: *pane, tabs: vec![tab], active: tab.number };
                    self.put(pane, Some(*place));
                }
            }
            Change::TabBound { tab, content } => self.bind(*tab, *content),
            Change::Reopened { pane } => self.reopen(*pane),
            Change::SplitResized { split, share } => {
                if let Some(root) = &mut self.root {
                    root.resize(*split, *share);
                }
            }
        }
    }

    fn bind(&mut self, number: TabNumber, content: Content) {
        if self.find(content).is_some() {
            return;
        }
        let pane = self.tab(number).map(|(pane, _)| pane.id);
        let tabs = pane.and_then(|pane| self.pane_mut(pane)).map(|pane| &mut pane.tabs);
        if let Some(tab) = tabs.and_then(|tabs| tabs.iter_mut().find(|tab| tab.number == number)) {
            tab.content = content;
        }
        self.forget_closed(content);
    }

    /// Names that were given are never given again.
    fn count(&mut self, change: &Change) {
        let (tab, nodes) = match change {
            Change::PaneOpened { pane, tab, place } => {
                (Some(tab.number), [Some(pane.0), place.map(|place| place.split.0)])
            }
            Change::TabOpened { tab, .. } => (Some(tab.number), [None, None]),
            Change::PaneMoved { place, .. } => (None, [Some(place.split.0), None]),
            Change::TabSplitOff { pane, place, .. } => (None, [Some(pane.0), Some(place.split.0)]),
            Change::Reopened { pane } => (None, [Some(pane.0), None]),
            _ => (None, [None, None]),
        };
        if let Some(number) = tab {
            self.next_tab = self.next_tab.max(number.0.saturating_add(1));
        }
        for node in nodes.into_iter().flatten() {
            self.next_node = self.next_node.max(node.saturating_add(1));
        }
    }

    fn reopen(&mut self, fallback: PaneId) {
        match self.closed.pop() {
            Some(Closed::Pane { pane, place }) => self.put(pane, place),
            Some(Closed::Tab { tab, pane, index }) => {
                if self.pane(pane).is_some() {
                    self.insert_tab(pane, tab, index);
                } else if self.pane(fallback).is_some() {
                    self.insert_tab(fallback, tab, usize::MAX);
                } else {
                    self.put(Pane { id: fallback, tabs: vec![tab], active: tab.number }, None);
                }
            }
            None => {}
        }
    }

    fn pane_mut(&mut self, id: PaneId) -> Option<&mut Pane> {
        self.root.as_mut()?.pane_mut(id)
    }

    fn put(&mut self, pane: Pane, place: Option<Place>) {
        self.root = Some(match (self.root.take(), place) {
            (None, _) => Node::Pane(pane),
            (Some(root), Some(place)) => root.insert(pane, place),
            // It was alone when it was closed, and is no longer.
            (Some(root), None) => {
                let place = self.beside_all(&root);
                root.insert(pane, place)
            }
        });
    }

    fn take(&mut self, id: PaneId) -> Option<(Pane, Option<Place>)> {
        let (rest, found) = self.root.take()?.remove(id);
        self.root = rest;
        found
    }

    /// Takes a tab out of its pane; a pane must not be left empty, so the last one takes its pane along.
    fn take_tab(&mut self, number: TabNumber) -> Option<(Tab, PaneId, usize)> {
        let (tab, pane, index) = self.take_tab_of_many(number, PaneId(u32::MAX))?;
        self.drop_if_empty(pane);
        Some((tab, pane, index))
    }

    /// Takes a tab out and leaves a pane empty, unless that is the one it goes back to.
    fn take_tab_of_many(&mut self, number: TabNumber, to: PaneId) -> Option<(Tab, PaneId, usize)> {
        let from = self.tab(number).map(|(pane, _)| pane.id)?;
        let pane = self.pane_mut(from)?;
        if pane.tabs.len() == 1 && from == to {
            return None;
        }
        let index = pane.tabs.iter().position(|tab| tab.number == number)?;
        let tab = pane.tabs.remove(index);
        if pane.active == number
            && let Some(next) = pane.tabs.get(index).or(pane.tabs.last())
        {
            pane.active = next.number;
        }
        Some((tab, from, index))
    }

    fn insert_tab(&mut self, pane: PaneId, tab: Tab, index: usize) {
        if let Some(pane) = self.pane_mut(pane) {
            pane.tabs.insert(index.min(pane.tabs.len()), tab);
            pane.active = tab.number;
        }
    }

    fn drop_if_empty(&mut self, id: PaneId) {
        if self.pane(id).is_some_and(|pane| pane.tabs.is_empty()) {
            self.take(id);
        }
    }

    fn remember(&mut self, closed: Closed) {
        self.closed.push(closed);
        let surplus = self.closed.len().saturating_sub(CLOSED_MAX);
        self.closed.drain(..surplus);
    }

    /// What is open again is not brought back a second time.
    fn forget_closed(&mut self, content: Content) {
        for closed in &mut self.closed {
            if let Closed::Pane { pane, .. } = closed {
                pane.tabs.retain(|tab| tab.content != content);
                if let Some(first) = pane.tabs.first().filter(|_| pane.active_tab().is_none()) {
                    pane.active = first.number;
                }
            }
        }
        self.closed.retain(|closed| match closed {
            Closed::Pane { pane, .. } => !pane.tabs.is_empty(),
            Closed::Tab { tab, .. } => tab.content != content,
        });
    }
}

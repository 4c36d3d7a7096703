//! Dragging a tab or a whole pane to another place: among tabs, or to an edge of a pane, which it then shares.

use domain::layout::{Edge, Input, Layout, PaneId, TabNumber, Target};
use leptos::{ev::DragEvent, prelude::*};

use super::Panes;

/// This close to an edge, as a part of the pane, what is dropped splits the pane.
const EDGE_PART: f64 = 0.25;

/// What is being dragged, and where it would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drag {
    what: Dragged,
    over: Option<(PaneId, Spot)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dragged {
    Tab(TabNumber),
    /// With all of its tabs, by the room beside them.
    Pane(PaneId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spot {
    Middle,
    /// Before the tab at this place, counted without the one that is dragged.
    Among(usize),
    Edge(Edge),
}

impl Spot {
    /// None where the tabs show it themselves.
    fn word(self) -> Option<&'static str> {
        Some(match self {
            Self::Middle => "middle",
            Self::Among(_) => return None,
            Self::Edge(Edge::Left) => "left",
            Self::Edge(Edge::Right) => "right",
            Self::Edge(Edge::Top) => "top",
            Self::Edge(Edge::Bottom) => "bottom",
        })
    }
}

impl Dragged {
    /// What dropping it there asks for.
    fn dropped(self, pane: PaneId, spot: Spot) -> Option<Input> {
        let moved = |tab, target, index| Some(Input::MoveTab { tab, target, index });
        match (self, spot) {
            (Self::Tab(tab), Spot::Middle) => moved(tab, Target::Tab { pane: Some(pane) }, None),
            (Self::Tab(tab), Spot::Among(place)) => moved(tab, Target::Tab { pane: Some(pane) }, Some(place)),
            (Self::Tab(tab), Spot::Edge(edge)) => moved(tab, Target::Split { pane, edge }, None),
            (Self::Pane(dragged), Spot::Edge(edge)) if dragged != pane => {
                Some(Input::MovePane { pane: dragged, beside: pane, edge })
            }
            (Self::Pane(_), _) => None,
        }
    }

    fn tab(self) -> Option<TabNumber> {
        match self {
            Self::Tab(tab) => Some(tab),
            Self::Pane(_) => None,
        }
    }
}

pub fn start(panes: Panes, what: Dragged, event: &DragEvent) {
    // The tabs lie in what moves the pane.
    event.stop_propagation();
    // A browser starts no drag without data.
    #[cfg(feature = "hydrate")]
    if let Some(data) = event.data_transfer() {
        data.set_data("text/plain", "").ok();
        data.set_effect_allowed("move");
    }
    panes.drag.set(Some(Drag { what, over: None }));
}

pub fn end(panes: Panes) {
    panes.drag.set(None);
}

pub fn over(panes: Panes, pane: PaneId, event: &DragEvent) {
    let Some(drag) = panes.drag.get_untracked() else { return };
    let spot = within(event).map(|within| match drag.what {
        Dragged::Tab(tab) if within.y < 0.0 => {
            let tabs = panes.layout.with_untracked(|layout| numbers(layout, pane));
            Spot::Among(place_among(&tabs, &within.tabs_before, tab))
        }
        Dragged::Tab(_) => spot_at(within.x, within.y),
        Dragged::Pane(_) => Spot::Edge(nearest_edge(within.x, within.y.max(0.0)).1),
    });
    // Where nothing would come of it, nothing is offered.
    let changes = |spot: &Spot| {
        let asked = drag.what.dropped(pane, *spot)?;
        let changes = panes.layout.with_untracked(|layout| layout.decide(asked)).ok()?;
        (!changes.is_empty()).then_some(())
    };
    let over = spot.filter(|spot| changes(spot).is_some()).map(|spot| (pane, spot));
    if over.is_some() {
        event.prevent_default();
    }
    if drag.over != over {
        panes.drag.set(Some(Drag { over, ..drag }));
    }
}

pub fn drop_on(panes: Panes, event: &DragEvent) {
    let Some(Drag { what, over: Some((pane, spot)) }) = panes.drag.get_untracked() else { return };
    event.prevent_default();
    panes.drag.set(None);
    if let Some(input) = what.dropped(pane, spot) {
        panes.ask(input);
        // It is in front for everybody, so here too.
        if let Some(tab) = what.tab() {
            panes.await_tab(tab);
        }
    }
}

/// Shows where in this pane it would go.
#[component]
pub fn DropZone(pane: PaneId) -> impl IntoView {
    let panes = expect_context::<Panes>();
    let spot = move || panes.drag.get()?.over.filter(|(over, _)| *over == pane)?.1.word();
    move || spot().map(|edge| view! { <div class="drop-zone" data-edge=edge></div> })
}

/// On which side of a tab the dragged one would go.
pub fn side(panes: Panes, pane: PaneId, tab: TabNumber) -> Option<&'static str> {
    let Drag { what, over: Some((over, Spot::Among(place))) } = panes.drag.get()? else { return None };
    let dragged = what.tab().filter(|_| over == pane)?;
    let mut others = panes.layout.with(|layout| numbers(layout, pane));
    others.retain(|other| *other != dragged);
    match others.iter().position(|other| *other == tab)? {
        at if at == place => Some("before"),
        at if at + 1 == place && place == others.len() => Some("after"),
        _ => None,
    }
}

fn numbers(layout: &Layout, pane: PaneId) -> Vec<TabNumber> {
    layout.pane(pane).map(|pane| pane.tabs.iter().map(|tab| tab.number).collect()).unwrap_or_default()
}

/// Where the pointer is.
struct Within {
    /// In the body of the pane, each from 0 to 1. Above it are the tabs.
    x: f64,
    y: f64,
    /// For each tab, whether its middle is before the pointer.
    tabs_before: Vec<bool>,
}

#[cfg(feature = "hydrate")]
fn within(event: &DragEvent) -> Option<Within> {
    use wasm_bindgen::JsCast as _;
    let pane = event.current_target()?.dyn_into::<web_sys::Element>().ok()?;
    let (at_x, at_y) = (f64::from(event.client_x()), f64::from(event.client_y()));
    let is_before = |tab: web_sys::HtmlElement| {
        let tab = tab.get_bounding_client_rect();
        tab.left() + tab.width() / 2.0 < at_x
    };
    let tabs_before = crate::ui::parts(&pane, "pane-tab").into_iter().map(is_before).collect();
    let top = pane.query_selector(".pane-head").ok()??.get_bounding_client_rect().bottom();
    let pane = pane.get_bounding_client_rect();
    let (x, y) = ((at_x - pane.left()) / pane.width(), (at_y - top) / (pane.bottom() - top));
    Some(Within { x, y, tabs_before })
}

#[cfg(not(feature = "hydrate"))]
fn within(_event: &DragEvent) -> Option<Within> {
    None
}

/// How many others a tab would have before it.
fn place_among(tabs: &[TabNumber], before: &[bool], dragged: TabNumber) -> usize {
    tabs.iter().zip(before).filter(|(tab, is_before)| **tab != dragged && **is_before).count()
}

fn spot_at(x: f64, y: f64) -> Spot {
    match nearest_edge(x, y) {
        (distance, edge) if distance < EDGE_PART => Spot::Edge(edge),
        _ => Spot::Middle,
    }
}

fn nearest_edge(x: f64, y: f64) -> (f64, Edge) {
    let others = [(1.0 - x, Edge::Right), (y, Edge::Top), (1.0 - y, Edge::Bottom)];
    others.into_iter().fold((x, Edge::Left), |best, edge| if edge.0 < best.0 { edge } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_an_edge_a_pane_is_split() {
        let check = |(x, y), expected| assert_eq!(spot_at(x, y), expected, "{x} {y}");
        check((0.5, 0.5), Spot::Middle);
        check((0.1, 0.5), Spot::Edge(Edge::Left));
        check((0.9, 0.4), Spot::Edge(Edge::Right));
        check((0.4, 0.05), Spot::Edge(Edge::Top));
        check((0.3, 0.95), Spot::Edge(Edge::Bottom));
    }

    #[test]
    fn among_tabs_a_place_is_counted_without_the_dragged_one() {
        let tabs = [3, 5, 8].map(TabNumber);
        let check = |dragged, before: &[bool], expected| {
            assert_eq!(place_among(&tabs, before, TabNumber(dragged)), expected, "{dragged} {before:?}");
        };
        check(3, &[true, true, false], 1);
        check(8, &[true, false, false], 1);
        check(8, &[false; 3], 0);
        check(5, &[true; 3], 2);
        // One of another pane.
        check(9, &[true; 3], 3);
    }

    #[test]
    fn a_pane_goes_beside_another_and_nowhere_else() {
        let (dragged, other) = (Dragged::Pane(PaneId(0)), PaneId(1));
        let edge = Edge::Left;
        let moved = Input::MovePane { pane: PaneId(0), beside: other, edge };
        assert_eq!(dragged.dropped(other, Spot::Edge(edge)), Some(moved));
        assert_eq!(dragged.dropped(PaneId(0), Spot::Edge(edge)), None);
        assert_eq!(dragged.dropped(other, Spot::Middle), None);
    }
}

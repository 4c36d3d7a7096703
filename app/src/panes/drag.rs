//! Dragging a tab to another place: among other tabs, or to an edge of a pane, which it then shares.

use domain::layout::{Edge, Input, PaneId, TabNumber, Target};
use leptos::{ev::DragEvent, prelude::*};

use super::Panes;

/// This close to an edge, as a part of the pane, what is dropped splits the pane.
const EDGE_PART: f64 = 0.25;

/// What is being dragged, and where it would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drag {
    tab: TabNumber,
    over: Option<(PaneId, Spot)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spot {
    Middle,
    Edge(Edge),
}

impl Spot {
    fn word(self) -> &'static str {
        match self {
            Self::Middle => "middle",
            Self::Edge(Edge::Left) => "left",
            Self::Edge(Edge::Right) => "right",
            Self::Edge(Edge::Top) => "top",
            Self::Edge(Edge::Bottom) => "bottom",
        }
    }
}

pub fn start(panes: Panes, tab: TabNumber, event: &DragEvent) {
    // A browser starts no drag without data.
    #[cfg(feature = "hydrate")]
    if let Some(data) = event.data_transfer() {
        data.set_data("text/plain", "").ok();
        data.set_effect_allowed("move");
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = event;
    panes.drag.set(Some(Drag { tab, over: None }));
}

pub fn end(panes: Panes) {
    panes.drag.set(None);
}

pub fn over(panes: Panes, pane: PaneId, event: &DragEvent) {
    let Some(drag) = panes.drag.get_untracked() else { return };
    event.prevent_default();
    let over = within(event).map(|at| (pane, spot_at(at)));
    if drag.over != over {
        panes.drag.set(Some(Drag { over, ..drag }));
    }
}

pub fn drop_on(panes: Panes, event: &DragEvent) {
    let Some(Drag { tab, over: Some((pane, spot)) }) = panes.drag.get_untracked() else { return };
    event.prevent_default();
    panes.drag.set(None);
    let target = match spot {
        Spot::Middle => Target::Tab { pane: Some(pane) },
        Spot::Edge(edge) => Target::Split { pane, edge },
    };
    panes.ask(Input::MoveTab { tab, target, index: None });
}

/// Shows where in this pane the tab would go.
#[component]
pub fn DropZone(pane: PaneId) -> impl IntoView {
    let panes = expect_context::<Panes>();
    let spot = move || panes.drag.get()?.over.filter(|(over, _)| *over == pane).map(|(_, spot)| spot.word());
    move || spot().map(|edge| view! { <div class="drop-zone" data-edge=edge></div> })
}

/// Where in the body of a pane the pointer is, each from 0 to 1. Above it are the tabs.
#[cfg(feature = "hydrate")]
fn within(event: &DragEvent) -> Option<(f64, f64)> {
    use wasm_bindgen::JsCast as _;
    let pane = event.current_target()?.dyn_into::<web_sys::Element>().ok()?;
    let top = pane.query_selector(".pane-head").ok()??.get_bounding_client_rect().bottom();
    let pane = pane.get_bounding_client_rect();
    let x = (f64::from(event.client_x()) - pane.left()) / pane.width();
    let y = (f64::from(event.client_y()) - top) / (pane.bottom() - top);
    Some((x, y))
}

#[cfg(not(feature = "hydrate"))]
fn within(_event: &DragEvent) -> Option<(f64, f64)> {
    None
}

fn spot_at((x, y): (f64, f64)) -> Spot {
    // Among tabs it becomes one of them.
    if y < 0.0 {
        return Spot::Middle;
    }
    let edges = [(x, Edge::Left), (1.0 - x, Edge::Right), (y, Edge::Top), (1.0 - y, Edge::Bottom)];
    let nearest = edges.into_iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
    match nearest {
        Some((distance, edge)) if distance < EDGE_PART => Spot::Edge(edge),
        _ => Spot::Middle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_an_edge_a_pane_is_split() {
        let check = |at, expected| assert_eq!(spot_at(at), expected, "{at:?}");
        check((0.5, 0.5), Spot::Middle);
        check((0.1, 0.5), Spot::Edge(Edge::Left));
        check((0.9, 0.4), Spot::Edge(Edge::Right));
        check((0.4, 0.05), Spot::Edge(Edge::Top));
        check((0.3, 0.95), Spot::Edge(Edge::Bottom));
        check((0.05, -0.1), Spot::Middle);
    }
}

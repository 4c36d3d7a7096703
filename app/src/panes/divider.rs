//! The lines between panes: dragged, or moved with the arrow keys.

use domain::layout::{Axis, Divider, Input, SHARE_EVEN, SHARE_MAX, SHARE_MIN, SplitId};
use leptos::{
    ev::{KeyboardEvent, PointerEvent},
    html::Div,
    prelude::*,
};

use super::{Panes, place};
use crate::{
    erased::{Erase, For},
    ui::is_held_with,
};

/// Of the arrow keys, in thousandths.
const STEP: u16 = 20;

#[component]
pub fn Dividers() -> impl IntoView {
    let panes = expect_context::<Panes>();
    let splits = Memo::new(move |_| {
        panes.layout.read().dividers().iter().map(|divider| divider.split).collect::<Vec<_>>()
    });
    view! { <For each=move || splits.get() key=|split| *split children=|split| view! { <DividerView split /> } /> }
}

#[component]
fn DividerView(split: SplitId) -> impl IntoView {
    let panes = expect_context::<Panes>();
    let divider =
        Memo::new(move |_| panes.drawn().dividers().into_iter().find(|divider| divider.split == split));
    let rect = Signal::derive(move || divider.get().map(|divider| divider.line));
    let percent = move |place: usize| rect.get().map(|rect| place::percents(rect)[place].to_string());
    let element = NodeRef::<Div>::new();
    place::keep(element, rect);
    let axis = move || divider.read().as_ref().map_or(Axis::Row, |divider| divider.axis);
    let share = move || divider.read().as_ref().map_or(SHARE_EVEN, |divider| divider.share);
    let set = move |share: u16| panes.ask(Input::Resize { split, share });

    let on_key = move |key: KeyboardEvent| {
        // With those, arrows go to panes and move them.
        if is_held_with(&key) {
            return;
        }
        let share = untrack(share);
        let next = match key.key().as_str() {
            "ArrowLeft" | "ArrowUp" => share.saturating_sub(STEP).max(SHARE_MIN),
            "ArrowRight" | "ArrowDown" => (share + STEP).min(SHARE_MAX),
            "Home" => SHARE_MIN,
            "End" => SHARE_MAX,
            "Enter" => SHARE_EVEN,
            _ => return,
        };
        key.prevent_default();
        // Drawn at once and asked for when the key is let go, so that a held one loses no step.
        panes.resizing.set(Some((split, next)));
    };
    let settle = move || {
        let Some((_, share)) = panes.resizing.get_untracked().filter(|(moved, _)| *moved == split) else {
            return;
        };
        if panes.layout.with_untracked(|layout| layout.share(split)) == Some(share) {
            panes.resizing.set(None);
        } else {
            set(share);
        }
    };
    let on_move = move |event: PointerEvent| {
        if panes.resizing.get_untracked().is_some_and(|(dragged, _)| dragged == split)
            && let Some(divider) = divider.get_untracked()
            && let Some(share) = share_at(&event, &divider)
        {
            panes.resizing.set(Some((split, share)));
        }
    };
    view! {
        <div
            class="divider"
            role="separator"
            tabindex="0"
            aria-label="Resize the panes"
            aria-orientation=move || if axis() == Axis::Row { "vertical" } else { "horizontal" }
            aria-valuenow=move || (share() / 10).to_string()
            aria-valuemin=(SHARE_MIN / 10).to_string()
            aria-valuemax=(SHARE_MAX / 10).to_string()
            data-axis=move || if axis() == Axis::Row { "row" } else { "column" }
            data-left=move || percent(0)
            data-top=move || percent(1)
            data-width=move || percent(2)
            data-height=move || percent(3)
            node_ref=element
            on:keydown=on_key
            on:keyup=move |_| settle()
            on:blur=move |_| settle()
            on:dblclick=move |_| set(SHARE_EVEN)
            on:pointerdown=move |event: PointerEvent| {
                event.prevent_default();
                hold(element, &event);
                panes.resizing.set(Some((split, untrack(share))));
            }
            on:pointermove=on_move
            // What was dragged stays as it is drawn until the new share is everybody's.
            on:pointerup=move |_| settle()
            on:pointercancel=move |_| panes.resizing.set(None)
        ></div>
    }
    .erase()
}

/// The share that puts the divider under the pointer.
#[cfg(feature = "hydrate")]
fn share_at(event: &PointerEvent, divider: &Divider) -> Option<u16> {
    use wasm_bindgen::JsCast as _;
    // A pointer that passes by drags nothing.
    if event.buttons() == 0 {
        return None;
    }
    let line = event.current_target()?.dyn_into::<web_sys::HtmlElement>().ok()?;
    let frame = line.parent_element()?.get_bounding_client_rect();
    let whole = |size: f64, part: u32| size * f64::from(part) / 1_000_000.0;
    let (at, from, size) = match divider.axis {
        Axis::Row => (
            f64::from(event.client_x()) - frame.left(),
            whole(frame.width(), divider.whole.left),
            whole(frame.width(), divider.whole.width),
        ),
        Axis::Column => (
            f64::from(event.client_y()) - frame.top(),
            whole(frame.height(), divider.whole.top),
            whole(frame.height(), divider.whole.height),
        ),
    };
    let share = (at - from) / size * 1000.0;
    Some(share.round().clamp(f64::from(SHARE_MIN), f64::from(SHARE_MAX)) as u16)
}

#[cfg(not(feature = "hydrate"))]
fn share_at(_event: &PointerEvent, _divider: &Divider) -> Option<u16> {
    None
}

/// The pointer belongs to the divider until it is released, wherever it goes.
fn hold(element: NodeRef<Div>, event: &PointerEvent) {
    #[cfg(feature = "hydrate")]
    if let Some(element) = element.get_untracked() {
        element.set_pointer_capture(event.pointer_id()).ok();
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = (element, event);
}

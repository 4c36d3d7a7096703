//! Where typing goes: what has the focus among the panes has the keyboard's too.

use domain::layout::PaneId;
use leptos::{
    prelude::*,
    wasm_bindgen::JsCast as _,
    web_sys::{Element, HtmlElement},
};

use super::Panes;
use crate::device;

/// Of what is in front in a pane. Others stay alive behind it.
const BODY: &str = ".pane-body:not([hidden])";
const FIELD: &str = ".composer-input";

/// The element of a pane.
pub fn id(pane: PaneId) -> String {
    format!("pane-{}", pane.0)
}

/// Into the composer of what is in front, or onto its pane where there is none. A phone would bring up its keyboard for
/// a field, so there it is the pane.
pub fn now(panes: Panes) {
    // What comes to the front is drawn by then.
    request_animation_frame(move || {
        let pane = panes.focused.try_get_untracked().flatten();
        let Some(pane) = pane.and_then(|pane| document().get_element_by_id(&id(pane))) else { return };
        let Some(body) = pane.query_selector(BODY).ok().flatten() else { return };
        if body.contains(document().active_element().as_deref()) {
            return;
        }
        let field = body.query_selector(FIELD).ok().flatten().filter(|_| !device::is_narrow());
        focus(field.unwrap_or(pane));
    });
}

/// The same, where the focus was lost with what had it.
pub fn unless_somewhere(panes: Panes) {
    request_animation_frame(move || {
        if is_nowhere() {
            now(panes);
        }
    });
}

/// What has the keyboard now. A dialog gives it back by itself when it closes, which says nothing of anybody's will.
pub fn holder() -> Option<Element> {
    let is_in_dialog = |it: &Element| it.closest("dialog").is_ok_and(|dialog| dialog.is_some());
    document().active_element().filter(|active| !is_in_dialog(active))
}

/// The same, unless somebody took the keyboard from what had it before to something else. A drawer that closes with what
/// is in it gives it back by itself too.
pub fn unless_left(panes: Panes, before: Option<Element>) {
    request_animation_frame(move || {
        let is_hidden =
            |it: &Element| it.dyn_ref::<HtmlElement>().is_some_and(|it| it.offset_parent().is_none());
        let is_left = before.is_some_and(|before| {
            let could_stay = !before.is_connected() || !is_hidden(&before);
            could_stay && document().active_element().is_some_and(|active| active != before)
        });
        if is_nowhere() || !is_left {
            now(panes);
        }
    });
}

fn is_nowhere() -> bool {
    let body: Option<Element> = document().body().map(Into::into);
    document().active_element().is_none_or(|active| Some(active) == body)
}

fn focus(element: Element) {
    if let Ok(element) = element.dyn_into::<HtmlElement>() {
        element.focus().ok();
    }
}

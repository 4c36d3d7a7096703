//! A question, or a form, that comes before everything else.

use leptos::{
    ev::{KeyboardEvent, PointerEvent},
    html,
    prelude::*,
    wasm_bindgen::JsCast as _,
    web_sys::{HtmlDialogElement, HtmlElement},
};

use super::place::Edges;
use crate::{
    device,
    erased::{Erase, InsideFn, effect},
    icon::Icon,
};

const FIRST: &str =
    ":is(a[href], button, input, select, textarea, [tabindex=\"0\"]):not(:disabled, [hidden], [type=hidden])";
const LAST: &str = ".dialog-close";

/// The browser's own dialog: it keeps the rest of the page out of reach, closes on Escape and gives the focus back.
/// What it holds is in the page only while it is open. Its buttons stand in a `.dialog-actions`.
#[component]
pub fn Dialog(
    #[prop(into)] id: String,
    #[prop(into)] title: Signal<String>,
    open: RwSignal<bool>,
    /// For more than a question: wider, and the whole screen of a phone.
    #[prop(optional)]
    wide: bool,
    /// A press beside it closes it, where nothing in it can be lost.
    #[prop(optional)]
    light: bool,
    children: InsideFn,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    effect(move || {
        let is_open = open.get();
        let Some(dialog) = dialog.get() else { return };
        if is_open && !dialog.open() {
            // What it holds is there by then, so that its first field gets the focus.
            request_animation_frame(move || drop(dialog.show_modal()));
        } else if !is_open && dialog.open() {
            dialog.close();
        }
    });
    let title_id = format!("{id}-title");
    let labelled = title_id.clone();
    let content = move || {
        open.get().then(|| {
            view! {
                <h2 class="dialog-title" id=title_id.clone()>{title}</h2>
                <div class="dialog-body">{children.view()}</div>
                // Last, so that it is not the first to get the focus.
                <button
                    class="icon-button dialog-close"
                    type="button"
                    aria-label="Close"
                    on:click=move |_| open.set(false)
                >
                    {Icon::Close.view()}
                </button>
            }
            .erase()
        })
    };
    view! {
        <dialog
            class=if wide { "dialog wide" } else { "dialog" }
            id=id
            aria-labelledby=labelled
            node_ref=dialog
            on:close=move |_| open.set(false)
            on:pointerdown=move |press| {
                if light && dialog.get_untracked().is_some_and(|dialog| is_beside(&press, &dialog)) {
                    open.set(false);
                }
            }
            on:keydown=move |key| {
                if let Some(dialog) = dialog.get_untracked() {
                    keep_inside(&key, &dialog);
                }
            }
        >
            {content}
        </dialog>
    }
    .erase()
}

/// Whether it meets what lies behind the dialog, which the browser gives to the dialog too.
fn is_beside(press: &PointerEvent, dialog: &HtmlDialogElement) -> bool {
    let (x, y) = (f64::from(press.client_x()), f64::from(press.client_y()));
    device::edges(dialog)
        .is_some_and(|Edges { left, top, right, bottom }| x < left || x > right || y < top || y > bottom)
}

/// The browser would lead from the last part to its own bars before it comes back to the first.
fn keep_inside(key: &KeyboardEvent, dialog: &HtmlDialogElement) {
    if key.key() != "Tab" {
        return;
    }
    let find = |which| dialog.query_selector(which).ok().flatten();
    let (edge, beyond) = if key.shift_key() { (FIRST, LAST) } else { (LAST, FIRST) };
    if find(edge).is_some() && find(edge) == document().active_element() {
        key.prevent_default();
        if let Some(beyond) = find(beyond).and_then(|part| part.dyn_into::<HtmlElement>().ok()) {
            beyond.focus().ok();
        }
    }
}

//! A button that opens a list of things to do. The list is a popover, so nothing around it can clip it.

mod item;

use leptos::{
    ev::KeyboardEvent,
    html::{Button, Div},
    prelude::*,
};

use super::{
    focus::{Axis, parts, rove, typed_ahead},
    place::{Align, put},
};
use crate::{device, erased::Erase, icon::Icon};
pub use item::{MenuGroup, MenuItem};

/// Letters that follow each other this quickly are one word.
const TYPING_MS: i64 = 600;

#[component]
pub fn Menu(
    /// Of the list; one a page.
    #[prop(into)]
    id: String,
    /// Of the button and of the list.
    #[prop(into)]
    name: Signal<String>,
    icon: Icon,
    /// Words on the button; without them it is an icon button.
    #[prop(optional, into)]
    label: Option<Signal<String>>,
    /// Asked for when the menu opens.
    #[prop(into)]
    groups: Signal<Vec<MenuGroup>>,
) -> impl IntoView {
    let (button, list) = (NodeRef::<Button>::new(), NodeRef::<Div>::new());
    let is_open = RwSignal::new(false);
    let hide = Callback::new(move |()| {
        if let Some(list) = list.get_untracked() {
            list.hide_popover().ok();
        }
    });
    let show = move |from_end: bool| {
        is_open.set(true);
        // Its items are there by then, so that it can be measured.
        request_animation_frame(move || open(button, list, from_end));
    };
    let on_click = move |_| if is_open.get_untracked() { hide.run(()) } else { show(false) };
    let on_button_key = move |key: KeyboardEvent| {
        let from_end = match key.key().as_str() {
            "ArrowDown" => false,
            "ArrowUp" => true,
            _ => return,
        };
        key.prevent_default();
        show(from_end);
    };
    let typed = StoredValue::new((String::new(), 0));
    let on_list_key = move |key: KeyboardEvent| {
        let Some(list) = list.get_untracked() else { return };
        match key.key().as_str() {
            // From the button, which has the focus again by then, the browser leads on.
            "Tab" => hide.run(()),
            _ if rove(&key, &list, "menu-item", Axis::Column).is_some() => {}
            typed_key if is_letter(typed_key, &key) => type_ahead(&list, typed_key, typed),
            _ => {}
        }
    };
    let follow = move |_| {
        is_open.set(list.get_untracked().is_some_and(|list| list.matches(":popover-open").unwrap_or(false)));
    };
    let prefix = id.clone();
    let items = move || {
        is_open.get().then(|| {
            let groups = groups.get().into_iter().enumerate();
            groups
                .map(|(n, group)| item::group_view(&format!("{prefix}-{n}"), group, hide))
                .collect::<Vec<_>>()
        })
    };
    let words = label.map(|label| view! { <span class="button-label">{label}</span> {Icon::Down.view()} });
    view! {
        <button
            class=if label.is_some() { "button ghost menu-button" } else { "icon-button menu-button" }
            type="button"
            aria-label=name
            aria-haspopup="menu"
            aria-expanded=move || if is_open.get() { "true" } else { "false" }
            // Without it, the browser would close the list before the click that is to close it.
            popovertarget=id.clone()
            node_ref=button
            on:click=move |click| {
                click.prevent_default();
                on_click(());
            }
            on:keydown=on_button_key
        >
            {icon.view()}
            {words}
        </button>
        <div
            class="menu"
            id=id
            role="menu"
            aria-label=name
            popover="auto"
            node_ref=list
            on:toggle=follow
            on:keydown=on_list_key
        >
            {items}
        </div>
    }
    .erase()
}

fn open(button: NodeRef<Button>, list: NodeRef<Div>, from_end: bool) {
    let (Some(button), Some(list)) = (button.get_untracked(), list.get_untracked()) else { return };
    // Not every browser focuses what is clicked, and the focus comes back to where it was.
    button.focus().ok();
    list.show_popover().ok();
    put(&list, &button, Align::Start);
    let items = parts(&list, "menu-item");
    if let Some(item) = if from_end { items.last() } else { items.first() } {
        item.focus().ok();
    }
}

fn is_letter(key: &str, event: &KeyboardEvent) -> bool {
    key.chars().count() == 1 && key != " " && !event.ctrl_key() && !event.meta_key() && !event.alt_key()
}

fn type_ahead(list: &leptos::web_sys::Element, key: &str, typed: StoredValue<(String, i64)>) {
    let now_ms = device::now_ms().unwrap_or_default();
    typed.update_value(|(word, at_ms)| {
        if now_ms - *at_ms > TYPING_MS {
            word.clear();
        }
        word.push_str(key);
        *at_ms = now_ms;
    });
    let word = typed.with_value(|(word, _)| word.clone());
    let items = parts(list, "menu-item");
    let words: Vec<_> =
        items.iter().map(|item| item.get_attribute("aria-label").unwrap_or_default()).collect();
    let focused = document().active_element();
    let at = items.iter().position(|item| focused.as_ref() == Some(item.as_ref())).unwrap_or_default();
    // A first letter leads on from where we are; more letters may still mean the same item.
    let from = if word.chars().count() == 1 { at + 1 } else { at };
    if let Some(found) = typed_ahead(&words, &word, from).and_then(|found| items.get(found)) {
        found.focus().ok();
    }
}

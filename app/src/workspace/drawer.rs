//! What a phone needs in its header, because the sidebar is a drawer there.

use leptos::{
    ev::{self, KeyboardEvent, MouseEvent},
    prelude::*,
    wasm_bindgen::JsCast as _,
    web_sys::Element,
};

use crate::{
    actions::is_covered,
    device,
    erased::{Erase, effect, effect_first},
    feed::{Feed, line::Shown},
    icon::Icon,
    ui::parts,
};

/// Whether the sidebar covers the page, on a phone.
#[derive(Clone, Copy)]
pub struct Drawer(pub RwSignal<bool>);

impl Drawer {
    /// The keyboard goes into what opens and comes back from what closes. A wide page has no drawer.
    pub fn follow(self) {
        let is_open = Memo::new(move |_| self.0.get());
        effect_first(move |is_first| {
            let is_open = is_open.get();
            if !is_first {
                // Shown or hidden by then.
                request_animation_frame(move || focus(is_open));
            }
        });
        effect(move || {
            let listener = window_event_listener(ev::resize, move |_| {
                if is_open.get_untracked() && !device::is_narrow() {
                    self.0.set(false);
                }
            });
            on_cleanup(move || listener.remove());
        });
        // Wherever the focus is: with the page behind it out of reach, that may be nowhere.
        effect(move || {
            let listener = window_event_listener(ev::keydown, move |key: KeyboardEvent| {
                if key.key() == "Escape" && is_open.get_untracked() && !is_covered() {
                    self.0.set(false);
                }
            });
            on_cleanup(move || listener.remove());
        });
    }
}

/// On a phone the drawer covers the page that was just chosen in it, also where that was in front already.
pub fn close_behind_link(drawer: Option<Drawer>, click: &MouseEvent) {
    let pressed = click.target().and_then(|target| target.dyn_into::<Element>().ok());
    let is_link = pressed.is_some_and(|pressed| pressed.closest("a[href]").is_ok_and(|link| link.is_some()));
    if let Some(Drawer(is_open)) = drawer.filter(|_| is_link) {
        is_open.set(false);
    }
}

fn focus(is_open: bool) {
    let Some(root) = document().document_element() else { return };
    // Whoever went elsewhere meanwhile is left there.
    let is_inside = |active: Element| active.matches("body, #sidebar *, .scrim").unwrap_or_default();
    if is_open || document().active_element().is_none_or(is_inside) {
        let parts = parts(&root, if is_open { "drawer-close" } else { "drawer-toggle" });
        if let Some(part) = parts.iter().find(|part| part.offset_parent().is_some()) {
            part.focus().ok();
        }
    }
}

/// In the drawer itself: what opened it lies behind it.
#[component]
pub fn DrawerClose() -> impl IntoView {
    let drawer = use_context::<Drawer>();
    let close = move || drawer.map(|Drawer(is_open)| is_open.set(false)).is_some();
    view! {
        <a
            class="icon-button drawer-close"
            href="#"
            role="button"
            aria-label="Close the list"
            on:keydown=move |key: KeyboardEvent| {
                if key.key() == " " && close() {
                    key.prevent_default();
                }
            }
            on:click=move |click| {
                if close() {
                    click.prevent_default();
                }
            }
        >
            {Icon::Close.view()}
        </a>
    }
    .erase()
}

/// Opens and closes the drawer. A link underneath: without scripts it leads to the sidebar.
#[component]
pub fn DrawerToggle() -> impl IntoView {
    let Drawer(is_open) = expect_context::<Drawer>();
    let toggle = move || is_open.update(|open| *open = !*open);
    // A link does not answer to the space bar, a button does.
    let on_key = move |key: KeyboardEvent| {
        if key.key() == " " {
            key.prevent_default();
            toggle();
        }
    };
    view! {
        <a
            class="icon-button drawer-toggle"
            href="#sidebar"
            role="button"
            aria-label="Projects and chats"
            aria-controls="sidebar"
            aria-expanded=move || if is_open.get() { "true" } else { "false" }
            on:keydown=on_key
            on:click=move |click| {
                click.prevent_default();
                toggle();
            }
        >
            {Icon::Menu.view()}
        </a>
    }
    .erase()
}

/// The connection where the drawer hides it. A dot while it is made, since that passes; words when it is lost, which
/// are not seen beside tabs.
#[component]
pub fn HeadConnection() -> impl IntoView {
    let feed = expect_context::<Feed>();
    move || {
        let shown = feed.connection.get();
        (shown != Shown::Live).then(|| {
            let words = (shown != Shown::Connecting).then(|| shown.words());
            view! { <span class="head-connection" data-state=shown.mark()><span>{words}</span></span> }
        })
    }
}

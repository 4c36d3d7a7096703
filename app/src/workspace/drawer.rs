//! What a phone needs in its header, because the sidebar is a drawer there.

use leptos::{ev::KeyboardEvent, prelude::*};

use crate::{
    erased::Erase,
    feed::{Feed, line::Shown},
    icon::Icon,
};

/// Whether the sidebar covers the page, on a phone.
#[derive(Clone, Copy)]
pub struct Drawer(pub RwSignal<bool>);

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

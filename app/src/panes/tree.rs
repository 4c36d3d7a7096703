//! The panes of the session that is shown, or what to do when there is none.

use domain::layout::{Kind, Target};
use leptos::prelude::*;

use super::{Panes, bar::PaneBar, divider::Dividers, pane::PaneView};
use crate::{
    archive::ArchivedLine,
    erased::{Erase, For},
    feed::Feed,
    icon::Icon,
};

#[component]
pub fn PaneTree() -> impl IntoView {
    let (panes, feed) = (expect_context::<Panes>(), expect_context::<Feed>());
    let ids = Memo::new(move |_| {
        // Panes of two sessions may be called the same.
        let session = feed.page(|page| page.session.as_ref().map(|open| open.id));
        panes.layout.read().panes().iter().map(|pane| (session, pane.id)).collect::<Vec<_>>()
    });
    let is_empty = Memo::new(move |_| ids.read().is_empty());
    let tiles = move || {
        view! {
            <div class="panes" data-maximised=move || panes.is_maximised.get().then_some("")>
                <For each=move || ids.get() key=|id| *id children=|(_, id)| view! { <PaneView id /> } />
                <Dividers />
            </div>
            <PaneBar />
        }
        .erase()
    };
    (move || if is_empty.get() { view! { <NoPanes /> }.erase() } else { tiles() }).erase()
}

#[component]
fn NoPanes() -> impl IntoView {
    let panes = expect_context::<Panes>();
    view! {
        <div class="empty-state">
            <ArchivedLine chat=None />
            {Icon::Chat.view()}
            <h1>"Nothing is open here"</h1>
            <p>"What you close is kept: the sidebar and History lead back to it."</p>
            <div class="notice-actions">
                <button
                    class="button primary"
                    type="button"
                    on:click=move |_| panes.open_new(Kind::Chat, Target::Tab { pane: None })
                >
                    "New chat"
                </button>
                <button class="button" type="button" on:click=move |_| panes.reopen()>"Reopen the last one"</button>
            </div>
        </div>
    }
    .erase()
}

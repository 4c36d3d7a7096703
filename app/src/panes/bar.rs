//! On a phone one pane is shown at a time; the bar at the bottom switches between them.

use domain::{layout::Pane, page::Wanted};
use leptos::prelude::*;

use super::{Panes, kinds};
use crate::{
    erased::{Erase, For},
    feed::Feed,
};

#[component]
pub fn PaneBar() -> impl IntoView {
    let (panes, feed) = (expect_context::<Panes>(), expect_context::<Feed>());
    let shown = Memo::new(move |_| {
        let layout = panes.layout.read();
        layout.panes().into_iter().filter_map(|pane| Some((pane.id, Pane::shows(pane)?))).collect::<Vec<_>>()
    });
    let href = move |content| {
        panes.session.get().map(|session| Wanted::to_content(session, content).path()).unwrap_or_default()
    };
    view! {
        <nav class="pane-bar" aria-label="Panes" hidden=move || shown.read().len() < 2>
            <For
                each=move || shown.get()
                key=|entry| *entry
                children=move |(pane, content)| {
                    let current = move || (panes.focused.get() == Some(pane)).then_some("page");
                    view! {
                        <a class="pane-bar-item" href=move || href(content) aria-current=current>
                            {move || kinds::icon(feed, content).view()}
                            <span>{move || kinds::title(feed, content)}</span>
                        </a>
                    }
                }
            />
        </nav>
    }
    .erase()
}

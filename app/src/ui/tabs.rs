//! Several views in one place. One stop of the Tab key; arrow keys move along and show at once.

use leptos::{ev::KeyboardEvent, html::Div, prelude::*};

use super::focus::{Axis, rove};
use crate::{
    erased::{Erase, Erased, InsideFn},
    icon::Icon,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    pub value: &'static str,
    pub label: String,
    pub icon: Option<Icon>,
}

#[component]
pub fn Tabs(
    /// The panels repeat it.
    id: &'static str,
    #[prop(into)] label: String,
    tabs: Vec<Tab>,
    selected: RwSignal<String>,
) -> impl IntoView {
    let list = NodeRef::<Div>::new();
    let on_key = move |key: KeyboardEvent| {
        let moved = list.get_untracked().and_then(|list| rove(&key, &list, "tab", Axis::Row));
        if let Some(tab) = moved {
            tab.click();
        }
    };
    let tabs: Vec<_> = tabs.into_iter().map(|tab| tab_view(id, tab, selected)).collect();
    view! {
        <div class="tabs" role="tablist" aria-label=label node_ref=list on:keydown=on_key>
            {tabs}
        </div>
    }
    .erase()
}

/// What a tab shows. It is in the page only while its tab is selected.
#[component]
pub fn TabPanel(
    id: &'static str,
    value: &'static str,
    selected: RwSignal<String>,
    children: InsideFn,
) -> impl IntoView {
    let is_selected = Memo::new(move |_| selected.with(|selected| selected == value));
    view! {
        <div
            class="tab-panel"
            role="tabpanel"
            id=panel_id(id, value)
            aria-labelledby=tab_id(id, value)
            tabindex="0"
            hidden=move || !is_selected.get()
        >
            {move || is_selected.get().then(|| children.view())}
        </div>
    }
    .erase()
}

fn tab_view(id: &'static str, tab: Tab, selected: RwSignal<String>) -> Erased {
    let Tab { value, label, icon } = tab;
    let is_selected = Memo::new(move |_| selected.with(|selected| selected == value));
    view! {
        <button
            class="tab"
            type="button"
            role="tab"
            id=tab_id(id, value)
            aria-controls=panel_id(id, value)
            aria-selected=move || if is_selected.get() { "true" } else { "false" }
            tabindex=move || if is_selected.get() { "0" } else { "-1" }
            on:click=move |_| selected.set(value.to_owned())
        >
            {icon.map(Icon::view)}
            <span>{label}</span>
        </button>
    }
    .erase()
}

fn tab_id(id: &str, value: &str) -> String {
    format!("{id}-{value}")
}

fn panel_id(id: &str, value: &str) -> String {
    format!("{id}-{value}-panel")
}

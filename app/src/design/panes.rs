//! The frame of the workspace, standing still.

use leptos::prelude::*;

use super::{section, specimen};
use crate::{
    erased::{Erase, Erased},
    icon::Icon,
    ui::IconButton,
};

#[component]
pub fn Panes() -> impl IntoView {
    let tree = view! {
        <div class="panes-sample">
            <div class="panes">
                {pane("Chat", [0, 0, 50, 100], &[("Why the head row is last", Icon::Chat), ("New", Icon::Chat)], None)}
                {pane("Terminal", [50, 0, 50, 50], &[("Terminal 1", Icon::Terminal)], Some("right"))}
                {pane("Arena", [50, 50, 50, 50], &[("Arena", Icon::Swords)], None)}
                {divider("row", "vertical", [50, 0, 0, 100])} {divider("column", "horizontal", [50, 50, 50, 0])}
            </div>
            <nav class="pane-bar" aria-label="Panes">
                <a class="pane-bar-item" href="#panes" aria-current="page">{Icon::Chat.view()} <span>"Chat"</span></a>
                <a class="pane-bar-item" href="#panes">{Icon::Terminal.view()} <span>"Terminal"</span></a>
                <a class="pane-bar-item" href="#panes">{Icon::Swords.view()} <span>"Arena"</span></a>
            </nav>
        </div>
    };
    section("panes", "Panes", specimen("Panes of a session", tree.erase()))
}

/// At a place of left, top, width and height in percents. The first one has the focus.
fn pane(
    name: &'static str,
    place: [u32; 4],
    tabs: &[(&'static str, Icon)],
    drop: Option<&'static str>,
) -> Erased {
    let tab = |(n, (label, icon)): (usize, &(&'static str, Icon))| {
        view! {
            <li class="pane-tab" data-active=(n == 0).then_some("")>
                <a href="#panes" aria-current=(n == 0).then_some("true")>
                    {icon.view()}
                    <span class="pane-tab-title">{*label}</span>
                </a>
                <button class="tab-close" type="button" aria-label=format!("Close {label}")>
                    {Icon::Close.view()}
                </button>
            </li>
        }
        .erase()
    };
    let strip: Vec<_> = tabs.iter().enumerate().map(tab).collect();
    let [left, top, width, height] = place.map(|part| part.to_string());
    view! {
        <section
            class="pane"
            aria-label=name
            data-focused=(place == [0, 0, 50, 100]).then_some("")
            data-left=left
            data-top=top
            data-width=width
            data-height=height
        >
            <header class="pane-head">
                <nav class="pane-tabs" aria-label=format!("Tabs of {name}")><ul>{strip}</ul></nav>
                <div class="pane-tools">
                    <IconButton icon=Icon::Plus name=format!("New in {name}") />
                    <IconButton icon=Icon::Columns name=format!("Split {name}") />
                    <IconButton icon=Icon::Maximise name=format!("Maximise {name}") />
                    <IconButton icon=Icon::Close name=format!("Close {name} pane") />
                </div>
            </header>
            <div class="pane-body"></div>
            {drop.map(|edge| view! { <div class="drop-zone" data-edge=edge></div> })}
        </section>
    }
    .erase()
}

fn divider(axis: &'static str, orientation: &'static str, place: [u32; 4]) -> Erased {
    let [left, top, width, height] = place.map(|part| part.to_string());
    view! {
        <div
            class="divider"
            role="separator"
            tabindex="0"
            aria-label="Share of the panes"
            aria-orientation=orientation
            aria-valuenow="50"
            aria-valuemin="10"
            aria-valuemax="90"
            data-axis=axis
            data-left=left
            data-top=top
            data-width=width
            data-height=height
        ></div>
    }
    .erase()
}

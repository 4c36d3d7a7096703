//! What is above the rows: how much changed, how it is looked at, and the search.

use leptos::{ev::KeyboardEvent, html, prelude::*};

use super::{sides::Sides, state::Diff};
use crate::{
    erased::{Erase, Erased, Show, effect},
    icon::Icon,
    ui::{IconButton, Segment, Segmented},
};

#[component]
pub fn Bar(diff: Diff) -> impl IntoView {
    let turn = move |signal: RwSignal<bool>| {
        Callback::new(move |()| {
            signal.update(|is_on| *is_on = !*is_on);
            diff.relayout();
        })
    };
    let way = Signal::derive(move || if diff.is_split.get() { "split" } else { "unified" }.to_owned());
    let choose = Callback::new(move |way: String| {
        diff.is_split.set(way == "split");
        diff.relayout();
    });
    let find = Callback::new(move |()| diff.is_finding.update(|is_on| *is_on = !*is_on));
    let tree = Callback::new(move |()| diff.is_tree_open.update(|is_on| *is_on = !*is_on));
    view! {
        <header class="diff-bar">
            <IconButton icon=Icon::PanelLeft name="Files" pressed=Signal::from(diff.is_tree_open) on_click=tree />
            <p class="diff-sum">{move || sum(diff)}</p>
            {use_context::<Sides>().map(Sides::view)}
            <div class="diff-tools">
                <div class="diff-ways">
                    <Segmented
                        id=diff.name.with_value(|name| format!("{name}-way"))
                        label="View"
                        segments=vec![
                            Segment { value: "unified", label: "Unified", icon: None },
                            Segment { value: "split", label: "Split", icon: None },
                        ]
                        value=way
                        on_choose=choose
                    />
                </div>
                <IconButton
                    icon=Icon::Eye
                    name="Hide changes of whitespace"
                    pressed=Signal::from(diff.ignores_whitespace)
                    on_click=turn(diff.ignores_whitespace)
                />
                <span class="diff-wrap">
                    <IconButton
                        icon=Icon::Wrap
                        name="Break long lines"
                        pressed=Signal::from(diff.wraps)
                        on_click=turn(diff.wraps)
                    />
                </span>
                <IconButton
                    icon=Icon::Search
                    name="Find in the changes"
                    shortcut="/"
                    pressed=Signal::from(diff.is_finding)
                    on_click=find
                />
            </div>
            <Show when=diff.is_finding>{finder(diff)}</Show>
        </header>
    }
    .erase()
}

fn sum(diff: Diff) -> Erased {
    let sums = diff.outline.with(|outline| {
        outline.as_ref().map(|outline| (outline.files.len(), outline.added(), outline.removed()))
    });
    let Some((files, added, removed)) = sums else { return "Loading the changes…".erase() };
    let files = match files {
        0 => "Nothing changed".to_owned(),
        1 => "1 file changed".to_owned(),
        files => format!("{files} files changed"),
    };
    view! {
        <span>{files}</span>
        <span class="plus">{format!("+{added}")}</span>
        <span class="minus">{format!("−{removed}")}</span>
    }
    .erase()
}

fn finder(diff: Diff) -> Erased {
    let input = NodeRef::<html::Input>::new();
    effect(move || {
        if let Some(input) = input.get() {
            input.focus().ok();
            input.select();
        }
    });
    let close = move || {
        diff.is_finding.set(false);
        diff.query.set(String::new());
        diff.look_for();
        diff.focus_rows();
    };
    let on_key = move |key: KeyboardEvent| match key.key().as_str() {
        "Enter" => {
            key.prevent_default();
            turn(diff, !key.shift_key());
        }
        "Escape" => {
            key.stop_propagation();
            close();
        }
        _ => {}
    };
    let count = move || {
        let (total, told) = diff.found.with(|found| (found.total, found.rows.len()));
        let at = diff.found.with(|found| found.rows.binary_search(&diff.current.get()).ok());
        match (total, at) {
            (0, _) if diff.query.with(String::is_empty) => String::new(),
            (0, _) => "Nothing found".to_owned(),
            (total, Some(at)) => format!("{} of {total}", at + 1),
            (total, None) if told as u32 == total => format!("{total} found"),
            (total, None) => format!("{total} found, the first {told} are shown"),
        }
    };
    view! {
        <div class="diff-find" role="search">
            {Icon::Search.view()}
            <input
                class="input"
                type="text"
                aria-label="Find in the changes"
                placeholder="Find in all changes"
                autocomplete="off"
                node_ref=input
                prop:value=move || diff.query.get()
                on:input:target=move |typed| {
                    diff.query.set(typed.target().value());
                    diff.look_for();
                }
                on:keydown=on_key
            />
            <output class="diff-found">{count}</output>
            <IconButton icon=Icon::Up name="Previous place" on_click=Callback::new(move |()| turn(diff, false)) />
            <IconButton icon=Icon::Down name="Next place" on_click=Callback::new(move |()| turn(diff, true)) />
            <IconButton icon=Icon::Close name="Stop finding" on_click=Callback::new(move |()| close()) />
        </div>
    }
    .erase()
}

#[cfg(feature = "hydrate")]
fn turn(diff: Diff, is_forward: bool) {
    diff.turn_found(is_forward);
}

#[cfg(not(feature = "hydrate"))]
fn turn(_diff: Diff, _is_forward: bool) {}

//! The files of the change as a tree. It may have thousands, so it too draws only what is in sight.

use domain::diff::{FileOutline, tree::entries};
use leptos::{html, prelude::*};

use super::state::Diff;
use crate::{
    device,
    erased::{Erase, Erased, For},
    icon::Icon,
};

/// As the stylesheet has it.
const ENTRY_PX: u32 = 28;
const ENTRY_TALL_PX: u32 = 44;
/// More than a screen has.
const SHOWN: usize = 40;

/// A line of the tree, ready to be shown.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Line {
    /// From the top.
    place: usize,
    depth: u16,
    name: String,
    path: String,
    file: Option<u32>,
    letter: &'static str,
    counts: (u32, u32),
    is_folded: bool,
}

#[component]
pub fn Tree(diff: Diff) -> impl IntoView {
    let list = NodeRef::<html::Ul>::new();
    let nav = NodeRef::<html::Nav>::new();
    let first = RwSignal::new(0usize);
    let lines = Memo::new(move |_| lines(diff));
    let entry_px = move || if device::is_narrow() { ENTRY_TALL_PX } else { ENTRY_PX };
    // Sizes go through the CSSOM: the page's policy forbids them in its markup.
    crate::erased::effect(move || {
        let height = lines.with(Vec::len) as u32 * entry_px();
        if let Some(list) = list.get() {
            size(&list, "height", height);
        }
    });
    let on_scroll = move |_| {
        if let Some(nav) = nav.get_untracked() {
            let top = nav.scroll_top().max(0) as usize / entry_px() as usize;
            first.set(top.saturating_sub(5) / 5 * 5);
        }
    };
    let shown = move || {
        let first = first.get();
        lines.with(|lines| lines.iter().skip(first).take(SHOWN).cloned().collect::<Vec<_>>())
    };
    view! {
        <nav
            class="diff-tree"
            aria-label="Changed files"
            data-open=move || diff.is_tree_open.get().then_some("")
            node_ref=nav
            on:scroll=on_scroll
        >
            <ul class="diff-entries" node_ref=list>
                <For each=shown key=|line| line.clone() children=move |line| entry(diff, line, entry_px()) />
            </ul>
        </nav>
    }
    .erase()
}

fn lines(diff: Diff) -> Vec<Line> {
    let folded = diff.folded.get();
    diff.outline.with(|outline| {
        let Some(outline) = outline else { return Vec::new() };
        let line = |(place, entry): (usize, domain::diff::tree::Entry)| {
            let file = entry.file.and_then(|file| outline.files.get(file as usize));
            Line {
                place,
                depth: entry.depth,
                name: entry.name,
                file: entry.file,
                letter: file.map_or("", |file| file.status.letter()),
                counts: file.map_or((0, 0), |file: &FileOutline| (file.added, file.removed)),
                is_folded: folded.contains(&entry.path),
                path: entry.path,
            }
        };
        entries(outline, &folded).into_iter().enumerate().map(line).collect()
    })
}

fn entry(diff: Diff, line: Line, entry_px: u32) -> Erased {
    let Line { place, depth, name, path, file, letter, counts, is_folded } = line;
    let own = NodeRef::<html::Li>::new();
    crate::erased::effect(move || {
        if let Some(own) = own.get() {
            size(&own, "top", place as u32 * entry_px);
            size(&own, "padding-inline-start", u32::from(depth.min(8)) * 14);
        }
    });
    let inside = match file {
        Some(file) => {
            let is_current = move || (diff.file.get() == file as usize).then_some("true");
            view! {
                <button
                    class="diff-entry"
                    type="button"
                    data-tip=path.clone()
                    aria-current=is_current
                    on:click=move |_| {
                        if let Some(row) = diff.start_of(file as usize) {
                            diff.go(row);
                        }
                        if device::is_narrow() {
                            diff.is_tree_open.set(false);
                        }
                    }
                >
                    <span class="file-status" data-status=letter aria-hidden="true">{letter}</span>
                    <span class="entry-name">{name}</span>
                    <span class="file-counts">
                        <span class="plus">{format!("+{}", counts.0)}</span>
                        <span class="minus">{format!("−{}", counts.1)}</span>
                    </span>
                </button>
            }
            .erase()
        }
        None => view! {
            <button
                class="diff-entry folder"
                type="button"
                aria-expanded=if is_folded { "false" } else { "true" }
                on:click=move |_| {
                    diff.folded
                        .update(|folded| match folded.iter().position(|own| *own == path) {
                            Some(at) => drop(folded.remove(at)),
                            None => folded.push(path.clone()),
                        })
                }
            >
                {if is_folded { Icon::Next } else { Icon::Down }.view()}
                <span class="entry-name">{name}</span>
            </button>
        }
        .erase(),
    };
    view! { <li node_ref=own>{inside}</li> }.erase()
}

fn size(element: &leptos::web_sys::HtmlElement, property: &str, px: u32) {
    leptos::web_sys::HtmlElement::style(element).set_property(property, &format!("{px}px")).ok();
}

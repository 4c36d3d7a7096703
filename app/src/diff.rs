//! A diff to be read: unified or side by side, with a tree of its files, search, and comments on lines.
//!
//! Only the rows in sight are in the page. The server lays them out, colours them and gives them by windows.

pub mod api;
mod bar;
pub mod code;
mod comments;
#[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
mod geometry;
#[cfg(feature = "hydrate")]
mod keys;
mod rows;
#[cfg(feature = "hydrate")]
mod screen;
mod sides;
mod state;
#[cfg(all(test, feature = "ssr"))]
mod tests;
mod tree;
mod written;

use domain::diff::{Comment, Of};
use leptos::{html, prelude::*};

use crate::{
    coder::left_out,
    erased::{Erase, Erased},
    notice::Failure,
};
use bar::Bar;
use comments::Comments;
use state::Diff;
pub use state::First;
use tree::Tree;

/// Keys that work while the rows have the focus.
pub const KEYS: [(&str, &str); 11] = [
    ("Next change of a diff", "N"),
    ("Previous change of a diff", "P"),
    ("Next line of a diff", "J"),
    ("Previous line of a diff", "K"),
    ("Next file of a diff", "]"),
    ("Previous file of a diff", "["),
    ("Find in a diff", "/"),
    ("Comment on a line of a diff", "C"),
    ("Show more lines of a diff", "Enter"),
    ("Copy the path of a file of a diff", "Y"),
    ("Copy the patch of a file of a diff", "Shift+Y"),
];

/// What `of` changed. `first` comes with a page that the server rendered; without it the browser asks.
#[component]
pub fn DiffView(
    of: Of,
    #[prop(optional_no_strip)] first: Option<First>,
    /// Who takes the comments that a person sends back. Where nobody does, none can be written.
    on_comments: Option<Callback<Vec<Comment>>>,
) -> impl IntoView {
    let first = first.or_else(|| of_this_page(of));
    let diff = Diff::new(of, first.as_ref().map(|first| first.outline.clone()), on_comments.is_some());
    let root = NodeRef::<html::Section>::new();
    let data = first.as_ref().map(|first| script(of, first));
    #[cfg(feature = "ssr")]
    let shown = first.as_ref().map(|first| rows::first_rows(&first.outline, &first.rows)).unwrap_or_default();
    #[cfg(not(feature = "ssr"))]
    let shown = ();
    #[cfg(feature = "hydrate")]
    come_alive(diff, root, first);
    let rows = move || diff.outline.with(|outline| outline.as_ref().map_or(0, |outline| outline.rows()));
    let columns = move || if diff.options.with(|options| options.is_split) { "4" } else { "3" };
    view! {
        <section
            class="diff"
            aria-label="Changes"
            data-columns=move || diff.options.with(|options| options.columns.to_string())
            node_ref=root
        >
            <Bar diff />
            <Failure error=diff.failure dismiss=Callback::new(move |()| diff.failure.set(None)) />
            {move || diff.outline.with(|outline| outline.as_ref().map(|outline| left_out(&outline.left_out)))}
            <div class="diff-body">
                <Tree diff />
                <div class="diff-scroll">
                    <div class="diff-stuck" hidden=true></div>
                    <div
                        class="diff-size"
                        role="grid"
                        tabindex="0"
                        aria-label="Changed lines"
                        aria-readonly="true"
                        aria-rowcount=move || rows().to_string()
                        aria-colcount=columns
                    >
                        <div class="diff-rows" role="rowgroup">{shown}</div>
                    </div>
                    {on_comments.map(|_| comments::written_here(diff))}
                </div>
            </div>
            {on_comments.map(|on_comments| view! { <Comments diff on_comments /> })}
            <p class="visually-hidden" role="status">{move || diff.said.get()}</p>
            <div class="diff-hidden" aria-hidden="true">
                <code class="diff-probe">{"0".repeat(100)}</code>
            </div>
            {rows::patterns()}
            {data}
        </section>
    }
    .erase()
}

/// Where the page holds what a view of it starts from.
fn element_of(of: Of) -> String {
    match of {
        Of::Chat(chat) => format!("diff-of-{chat}"),
        Of::Contestant(contestant) => format!("diff-of-{contestant}"),
        Of::Try(_, task) => format!("diff-of-{task}"),
        Of::Between(one, other) => format!("diff-between-{one}-{other}"),
        Of::Project(chat) => format!("diff-project-{chat}"),
        Of::Chats(one, other) => format!("diff-chats-{one}-{other}"),
        Of::Run(run) => format!("diff-of-{run}"),
        Of::Sample(sample) => format!("diff-sample-{}", sample as u8),
    }
}

#[cfg(feature = "ssr")]
fn script(of: Of, first: &First) -> Erased {
    // What cannot be written is asked for again.
    let json = serde_json::to_string(first).unwrap_or_default().replace('<', "\\u003c");
    view! { <script type="application/json" id=element_of(of) inner_html=json></script> }.erase()
}

/// It is on the page already.
#[cfg(not(feature = "ssr"))]
fn script(of: Of, _first: &First) -> Erased {
    view! { <script type="application/json" id=element_of(of)></script> }.erase()
}

#[cfg(not(feature = "hydrate"))]
fn of_this_page(_of: Of) -> Option<First> {
    None
}

#[cfg(feature = "hydrate")]
fn of_this_page(of: Of) -> Option<First> {
    let json = document().get_element_by_id(&element_of(of))?.text_content()?;
    domain::json::read(&json).ok()
}

#[cfg(feature = "hydrate")]
fn come_alive(diff: Diff, root: NodeRef<html::Section>, first: Option<First>) {
    use domain::diff::Options;
    use leptos::web_sys;

    let mut first = first;
    crate::erased::effect(move || {
        let Some(element) = root.get() else { return };
        let Some(screen) = screen::Screen::new(diff, element.as_ref() as &web_sys::Element) else { return };
        if let Some(First { outline, rows }) = first.take() {
            screen.start(&outline, rows.text, &Options::default());
        }
        diff.screen.set_value(Some(screen));
        if crate::device::is_narrow() {
            diff.is_tree_open.set(false);
        }
        keys::listen(diff, &element);
        if diff.takes_comments {
            diff.keep_written();
        }
        diff.relayout();
    });
    // Where a comment waits is marked.
    crate::erased::effect_first(move |is_first| {
        diff.comments.track();
        if !is_first {
            diff.with_screen(screen::Screen::redraw);
        }
    });
    on_cleanup(move || drop(diff.screen.try_set_value(None)));
}

/// The first rows, for a page that shows a diff.
#[cfg(feature = "ssr")]
pub async fn first(of: Of) -> Option<First> {
    use domain::diff::{Options, Window};

    let outline = api::diff_outline(of, Options::default()).await.ok()?;
    let window = Window { start: 0, count: FIRST_ROWS };
    let rows = api::diff_rows(of, Options::default(), window).await.ok()?;
    Some(First { outline, rows })
}

/// As many as a browser asks for at once.
#[cfg(feature = "ssr")]
const FIRST_ROWS: u32 = 200;

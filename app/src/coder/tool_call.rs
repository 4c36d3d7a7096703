//! Calls of tools and the plan, between what the agent says.

use domain::tool::{Call, Item, ItemStatus, Kind, Plan, Status};
use leptos::prelude::*;

use crate::{
    erased::{Erase, Erased, Show},
    icon::Icon,
};

/// One call: a line, and what went in and came out folded under it.
#[component]
pub fn ToolCall(
    #[prop(into)] lines: Signal<String>,
    /// Whether more of it may come.
    streaming: Signal<bool>,
) -> impl IntoView {
    let call = Memo::new(move |_| lines.with(|lines| Call::read(lines)));
    let title = move || {
        call.with(
            |call| if call.title.is_empty() { "A call without a name".into() } else { call.title.clone() },
        )
    };
    let state = move || call.with(|call| status(call.status, streaming.get()));
    let icon = move || call.with(|call| icon(call.kind)).view();
    let part = move |of: fn(&Call) -> &str| Memo::new(move |_| call.with(|call| of(call).to_owned()));
    let (input, output) = (part(|call| &call.input), part(|call| &call.output));
    view! {
        <details class="tool" data-status=move || state().0>
            <summary>
                {icon}
                <span class="tool-title">{title}</span>
                <span class="tool-status">{move || state().1}</span>
            </summary>
            <Show when=move || input.with(|text| !text.is_empty())>
                <pre class="tool-text" aria-label="Input">{move || input.get()}</pre>
            </Show>
            <Show when=move || output.with(|text| !text.is_empty())>
                <pre class="tool-text" aria-label="Output">{move || output.get()}</pre>
            </Show>
        </details>
    }
    .erase()
}

#[component]
pub fn PlanView(#[prop(into)] lines: Signal<String>) -> impl IntoView {
    let plan = Memo::new(move |_| lines.with(|lines| Plan::read(lines)));
    view! {
        <ul class="plan" aria-label="Plan">
            {move || plan.with(|plan| plan.iter().flat_map(|Plan(items)| items).map(item).collect::<Vec<_>>())}
        </ul>
    }
    .erase()
}

fn item(item: &Item) -> Erased {
    let (mark, words, icon) = match item.status {
        ItemStatus::Pending => ("pending", "to do", Icon::Minimise),
        ItemStatus::Running => ("running", "under way", Icon::Loader),
        ItemStatus::Done => ("done", "done", Icon::Check),
    };
    view! {
        <li data-status=mark>
            {icon.view()} <span>{item.text.clone()}</span> <span class="visually-hidden">{words}</span>
        </li>
    }
    .erase()
}

/// Nobody tells how a call ended whose turn was stopped or lost.
fn status(status: Status, is_under_way: bool) -> (&'static str, &'static str) {
    match (status, is_under_way) {
        (Status::Pending, true) => ("pending", "waits"),
        (Status::Running, true) => ("running", "runs"),
        (Status::Pending | Status::Running, false) => ("pending", "cut off"),
        (Status::Done, _) => ("done", "done"),
        (Status::Failed, _) => ("failed", "failed"),
    }
}

fn icon(kind: Kind) -> Icon {
    match kind {
        Kind::Read => Icon::Eye,
        Kind::Edit => Icon::Edit,
        Kind::Delete => Icon::Close,
        Kind::Move => Icon::Folder,
        Kind::Search => Icon::Search,
        Kind::Execute => Icon::Terminal,
        Kind::Think => Icon::Persona,
        Kind::Fetch => Icon::External,
        Kind::Other => Icon::Code,
    }
}

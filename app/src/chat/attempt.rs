//! The output of one attempt at an answer, as it grows.

use domain::{feed::StreamId, tool::beginning, transcript::Kind};
use leptos::prelude::*;

use crate::{
    coder::{PlanView, ToolCall},
    erased::{Erase, Erased, For, Show},
    feed::{Feed, LiveSegment},
    markdown::{Markdown, SHOWN_BYTES},
};

#[component]
pub fn AttemptView(
    stream: StreamId,
    /// How long it is, once that is final.
    len: Option<u64>,
    /// Whoever wrote it is gone; what was written stays.
    #[prop(into)]
    interrupted: Signal<bool>,
    #[prop(into)] streaming: Signal<bool>,
) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let text = feed.text(stream);
    let (segments, retracted) = (text.segments, text.retracted);
    let rest = len.filter(|len| !feed.has_all(stream, *len)).map(|len| {
        let segments = segments.clone();
        let is_missing = Memo::new(move |_| {
            feed.grown.track();
            segments.track();
            !feed.has_all(stream, len)
        });
        view! {
            <Show when=move || is_missing.get()>
                <p class="attempt-label">"This is not all of it: the rest comes by itself where scripts run."</p>
            </Show>
        }
        .erase()
    });
    let class = move || if interrupted.get() { "attempt interrupted" } else { "attempt message-body" };
    view! {
        <div class=class>
            <Show when=move || interrupted.get()>
                <p class="attempt-label">"Interrupted: this is as far as it came"</p>
            </Show>
            <For
                each=move || segments.get()
                key=|segment| segment.place
                children=move |segment| segment_view(segment, streaming)
            />
            {rest}
            <Show when=move || retracted.get()>
                <p class="attempt-label" role="status">
                    "The last few characters were taken back after a restart."
                </p>
            </Show>
        </div>
    }
    .erase()
}

fn segment_view(segment: LiveSegment, streaming: Signal<bool>) -> Erased {
    let text = segment.text;
    match segment.kind {
        Kind::Text => view! { <Markdown text=text streaming /> }.erase(),
        Kind::Tool => view! { <ToolCall lines=text streaming /> }.erase(),
        Kind::Plan => view! { <PlanView lines=text /> }.erase(),
        Kind::Reasoning => view! {
            <details class="reasoning">
                <summary>"Reasoning"</summary>
                <div>{move || text.with(|text| beginning(text, SHOWN_BYTES))}</div>
            </details>
        }
        .erase(),
    }
}

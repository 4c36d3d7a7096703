//! One of a few, all of them in sight. Radio buttons underneath, so the browser brings the keyboard.

use leptos::prelude::*;

use crate::{
    erased::{Erase, Erased},
    icon::Icon,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub value: &'static str,
    pub label: &'static str,
    pub icon: Option<Icon>,
}

#[component]
pub fn Segmented(
    /// Names the group of radio buttons, and what a form sends; one a form.
    #[prop(into)]
    id: String,
    #[prop(into)] label: String,
    segments: Vec<Segment>,
    #[prop(into)] value: Signal<String>,
    #[prop(into)] on_choose: Callback<String>,
) -> impl IntoView {
    let segments: Vec<_> =
        segments.into_iter().map(|segment| segment_view(id.clone(), segment, value, on_choose)).collect();
    view! { <div class="segmented" role="radiogroup" aria-label=label>{segments}</div> }.erase()
}

fn segment_view(id: String, segment: Segment, value: Signal<String>, on_choose: Callback<String>) -> Erased {
    let Segment { value: own, label, icon } = segment;
    let is_chosen = move || value.with(|value| value == own);
    view! {
        <label class="segment">
            <input
                type="radio"
                name=id
                value=own
                checked=untrack(is_chosen)
                prop:checked=is_chosen
                on:change=move |_| on_choose.run(own.to_owned())
            />
            {icon.map(Icon::view)}
            <span>{label}</span>
        </label>
    }
    .erase()
}

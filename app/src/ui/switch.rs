//! On or off, at once.

use leptos::prelude::*;

use crate::erased::Erase;

#[component]
pub fn Switch(
    #[prop(into)] label: String,
    #[prop(optional, into)] description: Option<String>,
    checked: RwSignal<bool>,
    #[prop(optional, into)] disabled: Signal<bool>,
    #[prop(optional, into)] on_change: Option<Callback<bool>>,
) -> impl IntoView {
    let name = label.clone();
    view! {
        <label class="switch">
            <input
                type="checkbox"
                role="switch"
                aria-label=name
                aria-description=description.clone()
                checked=checked.get_untracked()
                prop:checked=checked
                disabled=disabled
                on:change:target=move |change| {
                    let is_on = change.target().checked();
                    checked.set(is_on);
                    if let Some(on_change) = on_change {
                        on_change.run(is_on);
                    }
                }
            />
            <span class="switch-words">
                <span>{label}</span>
                {description.map(|description| view! { <span class="field-hint">{description}</span> })}
            </span>
        </label>
    }
    .erase()
}

//! What stands where there is nothing yet.

use leptos::prelude::*;

use crate::{
    erased::{Erase, Inside},
    icon::Icon,
};

#[component]
pub fn EmptyState(
    icon: Icon,
    #[prop(into)] title: String,
    #[prop(into)] text: String,
    /// What can be done about it.
    #[prop(optional)]
    children: Option<Inside>,
) -> impl IntoView {
    view! {
        <div class="empty-state">
            {icon.view()}
            <h2>{title}</h2>
            <p>{text}</p>
            {children.map(|children| view! { <div class="empty-actions">{children.view()}</div> })}
        </div>
    }
    .erase()
}

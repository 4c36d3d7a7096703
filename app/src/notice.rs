//! A lasting message in place.

use leptos::prelude::*;

use crate::{address::Address, erased::Erase, error::AppError, icon::Icon};

/// Says what went wrong, for as long as there is something to say.
#[component]
pub fn Failure(
    #[prop(into)] error: Signal<Option<AppError>>,
    /// Makes it go away before it is solved.
    #[prop(optional, into)]
    dismiss: Option<Callback<()>>,
) -> impl IntoView {
    let dismissal = move || {
        dismiss.map(|dismiss| {
            view! {
                <button type="button" class="icon-button" aria-label="Dismiss" on:click=move |_| dismiss.run(())>
                    {Icon::Close.view()}
                </button>
            }
        })
    };
    move || {
        error.get().map(|error| {
            let login = (error == AppError::NotLoggedIn).then(LoginLink);
            view! {
                <div class="notice error" role="alert">
                    <p>{error.to_string()}</p>
                    <div class="notice-actions">{login} {dismissal()}</div>
                </div>
            }
            .erase()
        })
    }
}

#[component]
pub fn LoginLink() -> impl IntoView {
    let address = use_context::<Address>();
    let href =
        move || format!("/login?next={}", address.map_or_else(String::new, |address| address.0.get().path()));
    view! { <a class="button small" href=href rel="external">"Log in again"</a> }
}

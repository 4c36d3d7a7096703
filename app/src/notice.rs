//! A lasting message in place.

use leptos::{prelude::*, server_fn::ServerFn};
use leptos_router::hooks::use_location;

use crate::{error::AppError, icon::Icon};

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
            .into_any()
        })
    }
}

#[component]
pub fn LoginLink() -> impl IntoView {
    let path = use_location().pathname;
    let href = move || format!("/login?next={}", path.read());
    view! { <a class="button small" href=href rel="external">"Log in again"</a> }
}

/// The error of an action's last run.
pub fn failure_of<F>(action: ServerAction<F>) -> Option<AppError>
where
    F: ServerFn<Error = AppError> + Clone + Send + Sync + 'static,
    F::Output: Send + Sync + 'static,
{
    action.value().with(|value| value.as_ref().and_then(|result| result.as_ref().err().cloned()))
}

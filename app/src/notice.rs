//! A lasting message in place.

use leptos::{prelude::*, server_fn::ServerFn};

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
        })
    }
}

#[component]
pub fn LoginLink() -> impl IntoView {
    view! { <a class="button small" href="/login" rel="external">"Log in again"</a> }
}

/// The error of an action's last run.
pub fn failure_of<F>(action: ServerAction<F>) -> Option<AppError>
where
    F: ServerFn<Error = AppError> + Clone + Send + Sync + 'static,
    F::Output: Send + Sync + 'static,
{
    action.value().with(|value| value.as_ref().and_then(|result| result.as_ref().err().cloned()))
}

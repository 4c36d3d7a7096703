//! Bringing changes into the project: to its files, or as a commit.

use std::pin::Pin;

use leptos::{prelude::*, task::spawn_local};

use crate::{
    erased::{Erase, effect},
    error::AppError,
    notice::Failure,
    ui::{Dialog, ToastKind, Toasts},
};

/// Brings them to a new branch, or to the files where its name is empty, and says how.
pub type Bring = Box<dyn Fn(String) -> Pin<Box<dyn Future<Output = Result<String, AppError>>>> + Send + Sync>;

#[component]
pub fn BringDialog(
    id: String,
    #[prop(into)] title: Signal<String>,
    is_open: RwSignal<bool>,
    bring: Bring,
) -> impl IntoView {
    let toasts = expect_context::<Toasts>();
    let (branch, is_busy) = (RwSignal::new(String::new()), RwSignal::new(false));
    let failure = RwSignal::new(None);
    let bring = StoredValue::new(bring);
    effect(move || {
        if is_open.get() {
            failure.set(None);
        }
    });
    let bring = move |branch: String| {
        is_busy.set(true);
        failure.set(None);
        let brought = bring.with_value(|bring| bring(branch));
        spawn_local(async move {
            let brought = brought.await;
            is_busy.try_set(false);
            match brought {
                Ok(how) => {
                    is_open.try_set(false);
                    toasts.push(ToastKind::Done, how, None);
                }
                Err(error) => drop(failure.try_set(Some(error))),
            }
        });
    };
    let field = format!("{id}-branch");
    view! {
        <Dialog id title open=is_open>
            <p>"To your files as they are now. What does not fit is said, and then nothing is touched."</p>
            <button
                class="button primary"
                type="button"
                disabled=move || is_busy.get()
                on:click=move |_| bring(String::new())
            >
                "Apply to my files"
            </button>
            <p>"Or as one commit on a new branch. Your files and your branch stay as they are."</p>
            <div class="field">
                <label class="field-label" for=field.clone()>"Name of the branch"</label>
                <input
                    class="input"
                    id=field.clone()
                    prop:value=branch
                    on:input:target=move |typed| branch.set(typed.target().value())
                />
            </div>
            <button
                class="button"
                type="button"
                disabled=move || is_busy.get() || branch.with(|branch| branch.trim().is_empty())
                on:click=move |_| bring(branch.get_untracked())
            >
                "Commit to this branch"
            </button>
            <Failure error=failure />
        </Dialog>
    }
    .erase()
}

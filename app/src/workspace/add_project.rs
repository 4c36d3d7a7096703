//! Adding a folder, and the offer to make it a git repository.

use leptos::prelude::*;

use super::api::AddProject;
use crate::{error::AppError, notice::failure_of};

#[component]
pub fn AddProjectForm() -> impl IntoView {
    let add = ServerAction::<AddProject>::new();
    let error = Memo::new(move |_| failure_of(add));
    let offered = move || match error.get() {
        Some(AppError::NotARepository { path }) => Some(path),
        _ => None,
    };
    let offer = move || {
        offered().map(|_| {
            view! {
                <button class="button" type="submit" name="init" value="true" disabled=move || add.pending().get()>
                    "Make it a git repository and add it"
                </button>
            }
        })
    };
    view! {
        <ActionForm action=add attr:class="card">
            <div class="field">
                <label class="field-label" for="project-path">"Folder of the project"</label>
                <input
                    id="project-path"
                    name="path"
                    type="text"
                    required
                    autocomplete="off"
                    autocapitalize="none"
                    spellcheck="false"
                    placeholder="/home/me/project"
                    value=offered
                    aria-invalid=move || error.get().map(|_| "true")
                    aria-describedby="path-hint path-error"
                />
                <span class="field-hint" id="path-hint">
                    "A folder on the machine that runs BooCode, with a git repository in it."
                </span>
                <span class="field-error" id="path-error" role="alert">
                    {move || error.get().map(|error| error.to_string())}
                </span>
            </div>
            <button class="button primary" type="submit" disabled=move || add.pending().get()>
                {move || if add.pending().get() { "Adding…" } else { "Add project" }}
            </button>
            {offer}
        </ActionForm>
    }
    .into_any()
}

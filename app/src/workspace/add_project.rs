//! Adding a folder, and the offer to make it a git repository.

use leptos::prelude::*;

use super::api::AddProject;
use crate::{
    erased::Erase,
    error::AppError,
    form::{Form, Submission},
};

#[component]
pub fn AddProjectForm() -> impl IntoView {
    let add = Submission::new::<AddProject>();
    let error = Memo::new(move |_| add.failure());
    let offered = move || matches!(error.get(), Some(AppError::NotARepository { .. }));
    let typed = move || match error.get() {
        Some(AppError::NotARepository { path: typed } | AppError::FolderRefused { typed, .. }) => Some(typed),
        _ => None,
    };
    let offer = move || {
        offered().then(|| {
            view! {
                <button class="button" type="submit" name="init" value="true" disabled=move || add.is_pending()>
                    "Make it a git repository and add it"
                </button>
            }
        })
    };
    view! {
        <Form to=add class="card">
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
                    value=typed
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
            <button class="button primary" type="submit" disabled=move || add.is_pending()>
                {move || if add.is_pending() { "Adding…" } else { "Add project" }}
            </button>
            {offer}
        </Form>
    }
    .erase()
}

//! What the worktrees of each project begin with.

use domain::{
    id::ProjectId,
    settings::{ProjectEntry, Shown},
    setup::{SECONDS_MAX, Typed},
    workspace::Project,
};
use leptos::{html, prelude::*};

use super::{api::SaveSetup, pane::Data};
use crate::{
    erased::{Erase, Erased, For, Show, effect_first},
    form::{Form, Submission},
};

pub fn view(data: Data) -> Erased {
    let entries = Memo::new(move |_| of(data));
    let projects = move || entries.get().into_iter().map(|entry| entry.project).collect();
    let is_alone = entries.with_untracked(Vec::len) == 1;
    view! {
        <For each=projects key=|project| project.id children=move |project| row(data, entries, project, is_alone) />
        <Show when=Signal::derive(move || entries.with(Vec::is_empty))>
            <p class="notice info">"There is no project yet. Add one on the start page."</p>
        </Show>
    }
    .erase()
}

fn of(data: Data) -> Vec<ProjectEntry> {
    data.with(|shown| match shown {
        Shown::Projects(projects) => Some(projects.clone()),
        _ => None,
    })
}

/// Where the sidebar's link to a project's settings leads.
pub fn anchor(project: ProjectId) -> String {
    format!("project-{project}")
}

fn row(data: Data, entries: Memo<Vec<ProjectEntry>>, project: Project, is_open: bool) -> Erased {
    let Project { id, path, .. } = project;
    let save = Submission::new::<SaveSetup>();
    data.reload_when_done(save);
    let entry =
        Memo::new(move |_| entries.with(|all| all.iter().find(|entry| entry.project.id == id).cloned()));
    let setup = Memo::new(move |_| entry.get().map(|entry| entry.setup).unwrap_or_default());
    let name = Memo::new(move |_| entry.get().map(|entry| entry.project.name).unwrap_or_default());
    // What was saved, here or elsewhere, takes the place of what stands in the fields; nothing else does.
    let typed = Memo::new(move |_| setup.with(|setup| Typed::from(setup)));
    let details = NodeRef::<html::Details>::new();
    effect_first(move |is_first| {
        if let Some(details) = details.get().filter(|_| is_first && is_led_to(id)) {
            details.set_open(true);
            details.scroll_into_view();
        }
    });
    let failure = move || save.failure().map(|error| error.to_string());
    let done = move || save.is_done().then_some("Saved. It holds for worktrees that are made from now on.");
    view! {
        <details class="settings-project" open=is_open node_ref=details>
            <summary>
                <h3>{move || name.get()}</h3>
                <span class="settings-project-path">{path}</span>
                <span class="settings-project-words">{move || setup.with(|setup| setup.words())}</span>
            </summary>
            <div id=anchor(id) class="settings-project-form" on:input=move |_| save.forget()>
                <Form to=save>
                    <input type="hidden" name="project" value=id.to_string() />
                    {field(id, "copy", "Files to copy", COPY, typed, |typed| &typed.copy)}
                    {field(id, "command", "Setup command", &command_hint(), typed, |typed| &typed.command)}
                    {field(id, "check", "Check command", CHECK, typed, |typed| &typed.check)}
                    <span class="field-error" id=format!("setup-error-{id}") role="alert">{failure}</span>
                    <div class="settings-actions">
                        <button
                            class="button"
                            type="submit"
                            aria-label=move || format!("Save the setup of {}", name.read())
                            disabled=move || save.is_pending()
                        >
                            {move || if save.is_pending() { "Saving…" } else { "Save" }}
                        </button>
                        <span class="settings-help" role="status">{done}</span>
                    </div>
                </Form>
            </div>
        </details>
    }
    .erase()
}

const COPY: &str = "Files that git does not have and work needs, such as .env: one a line, from the project's folder \
                    on. Each new worktree gets them as they are then, so an agent can read them.";
const CHECK: &str = "A command for a shell that ends with 0 where the work is good, such as make test. It is kept for Arenas.";

fn command_hint() -> String {
    format!(
        "A command for a shell, run in each new worktree before an agent begins, behind the agent's wall: it reaches no \
         network. After {} minutes it is stopped. Where it fails, the task says so and does not begin.",
        SECONDS_MAX / 60
    )
}

fn field(
    project: ProjectId,
    name: &'static str,
    label: &'static str,
    hint: &str,
    typed: Memo<Typed>,
    of: fn(&Typed) -> &String,
) -> Erased {
    let id = format!("setup-{name}-{project}");
    let now = move || typed.with(|typed| of(typed).clone());
    view! {
        <div class="field">
            <label class="field-label" for=id.clone()>{label}</label>
            <textarea
                id=id.clone()
                name=format!("setup[{name}]")
                rows="2"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                aria-describedby=format!("{id}-hint setup-error-{project}")
                prop:value=now
            >
                {untrack(now)}
            </textarea>
            <span class="field-hint" id=format!("{id}-hint")>{hint.to_owned()}</span>
        </div>
    }
    .erase()
}

#[cfg(feature = "hydrate")]
fn is_led_to(project: ProjectId) -> bool {
    window().location().hash().is_ok_and(|hash| hash.trim_start_matches('#') == anchor(project))
}

#[cfg(not(feature = "hydrate"))]
fn is_led_to(_project: ProjectId) -> bool {
    false
}

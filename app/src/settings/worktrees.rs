//! The worktrees, what they take, and the trash.

use domain::{
    page::Wanted,
    settings::{Budget, Recordings, Shown, WorktreeEntry, WorktreeSettings, counted, size},
    worktree::State,
};
use leptos::prelude::*;

use super::{
    api::{EmptyTrash, FreeRecordings, SetWorktreeBudget},
    pane::Data,
};
use crate::{
    arena::api::{DiscardWorktrees, RestoreWorktrees},
    coder::api::{DiscardChanges, RestoreChanges},
    erased::{Erase, Erased, Show},
    form::{Form, Submission},
    notice::Failure,
};

#[derive(Clone, Copy)]
struct Actions {
    discard: Submission,
    restore: Submission,
    discard_battle: Submission,
    restore_battle: Submission,
    empty: Submission,
    free: Submission,
    budget: Submission,
}

pub fn view(data: Data) -> Erased {
    let actions = Actions {
        discard: Submission::new::<DiscardChanges>(),
        restore: Submission::new::<RestoreChanges>(),
        discard_battle: Submission::new::<DiscardWorktrees>(),
        restore_battle: Submission::new::<RestoreWorktrees>(),
        empty: Submission::new::<EmptyTrash>(),
        free: Submission::new::<FreeRecordings>(),
        budget: Submission::new::<SetWorktreeBudget>(),
    };
    let Actions { discard, restore, discard_battle, restore_battle, empty, free, budget: set_budget } =
        actions;
    let all = [discard, restore, discard_battle, restore_battle, empty, free, set_budget];
    all.into_iter().for_each(|form| data.reload_when_done(form));
    let shown = Memo::new(move |_| {
        data.with(|shown| match shown {
            Shown::Worktrees(worktrees) => Some(Some(worktrees.clone())),
            _ => None,
        })
    });
    let rows = move || {
        let entries = shown.get().map(|all: WorktreeSettings| all.worktrees).unwrap_or_default();
        entries.into_iter().map(|entry| row(entry, actions)).collect::<Vec<_>>().erase()
    };
    let total = move || shown.with(|shown| shown.as_ref().map(total).unwrap_or_default());
    let warning = move || shown.with(|shown| shown.as_ref().and_then(WorktreeSettings::warning));
    let trashed = Memo::new(move |_| shown.with(|shown| shown.as_ref().map_or(0, WorktreeSettings::trashed)));
    let recordings = Memo::new(move |_| shown.with(|shown| shown.as_ref().map(|all| all.recordings)));
    let budget = Memo::new(move |_| shown.with(|shown| shown.as_ref().map(|all| all.budget)));
    let failure = move || all.into_iter().find_map(Submission::failure);
    view! {
        <Failure error=Signal::derive(failure) />
        {move || warning().map(|words| view! { <p class="notice" role="status">{words}</p> })}
        <p class="settings-note">{total}</p>
        <ul class="rows settings-rows">{rows}</ul>
        <Show when=Signal::derive(move || trashed.get() > 0)>
            <Form to=actions.empty class="settings-actions">
                <button class="button danger" type="submit" disabled=move || actions.empty.is_pending()>
                    {move || format!("Delete {} for good", counted(trashed.get(), "discarded worktree"))}
                </button>
            </Form>
        </Show>
        {move || recordings.get().filter(|kept| kept.count > 0).map(|kept| recordings_form(kept, free))}
        {move || budget.get().map(|budget| budget_form(budget, actions.budget).erase())}
    }
    .erase()
}

fn recordings_form(Recordings { count, bytes }: Recordings, free: Submission) -> Erased {
    let take = if count == 1 { "takes" } else { "take" };
    let words = format!("{} of finished runs {take} {}.", counted(count, "recording"), size(bytes));
    view! {
        <Form to=free class="settings-actions">
            <p class="settings-note">
                {words}
                " They hold the projects as they were, for what reports cite. Reports stay without them; their \
                 citations then lead nowhere."
            </p>
            <button class="button danger" type="submit" disabled=move || free.is_pending()>
                {format!("Delete {}", counted(count, "recording"))}
            </button>
        </Form>
    }
    .erase()
}

fn budget_form(budget: Budget, save: Submission) -> impl IntoView {
    let error = move || save.failure().map(|error| error.to_string());
    view! {
        <Form to=save>
            <div class="field">
                <label class="field-label" for="worktree-budget">"Budget in GB"</label>
                <div class="settings-line">
                    <input
                        class="input"
                        id="worktree-budget"
                        name="budget"
                        inputmode="numeric"
                        autocomplete="off"
                        value=budget.gb().to_string()
                        aria-invalid=move || save.failure().map(|_| "true")
                        aria-describedby="budget-hint budget-error"
                    />
                    <button class="button" type="submit" disabled=move || save.is_pending()>
                        {move || if save.is_pending() { "Saving…" } else { "Save" }}
                    </button>
                </div>
                <span class="field-hint" id="budget-hint">
                    "You are told here when worktrees and recordings take more. No worktree is deleted by itself."
                </span>
                <span class="field-error" id="budget-error" role="alert">{error}</span>
            </div>
        </Form>
    }
}

fn total(all: &WorktreeSettings) -> String {
    match all.worktrees.len() + all.strays.len() {
        0 => "There are no worktrees. A Coder makes one when its first turn begins.".to_owned(),
        count => format!("{}, {} together.", counted(count, "worktree"), size(all.bytes())),
    }
}

fn row(entry: WorktreeEntry, actions: Actions) -> Erased {
    let WorktreeEntry { of, title, project, state, bytes } = entry;
    let is_trashed = state == State::Discarded;
    let (dot, words) = if is_trashed { ("dot waiting", "in the trash") } else { ("dot done", "in use") };
    let about = match bytes {
        Some(bytes) => format!("{project} · {} · {words}", size(bytes)),
        None => format!("{project} · {words}"),
    };
    let verb = if is_trashed { "Restore" } else { "Discard" };
    // The worktrees of a battle go together.
    let (form, name, id) = match (of, is_trashed) {
        (Wanted::Battle(battle), true) => (actions.restore_battle, "battle", battle.to_string()),
        (Wanted::Battle(battle), false) => (actions.discard_battle, "battle", battle.to_string()),
        (Wanted::Chat(chat), true) => (actions.restore, "chat", chat.to_string()),
        (Wanted::Chat(chat), false) => (actions.discard, "chat", chat.to_string()),
        _ => return ().erase(),
    };
    let label = format!("{verb} the worktree of {title}");
    view! {
        <li class="row">
            <span class=dot aria-hidden="true"></span>
            <div class="row-words">
                <a class="row-title" href=of.path()>{title}</a>
                <span class="row-about">{about}</span>
            </div>
            <div class="row-end">
                <Form to=form>
                    <input type="hidden" name=name value=id />
                    <button class="button small" type="submit" aria-label=label disabled=move || form.is_pending()>
                        {verb}
                    </button>
                </Form>
            </div>
        </li>
    }
    .erase()
}

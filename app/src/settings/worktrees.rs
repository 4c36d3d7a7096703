//! The worktrees, what they take, and the trash.

use domain::{
    page::Wanted,
    settings::{Shown, WorktreeEntry, WorktreeSettings, counted, size},
    worktree::State,
};
use leptos::prelude::*;

use super::{api::EmptyTrash, pane::Data};
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
}

pub fn view(data: Data) -> Erased {
    let actions = Actions {
        discard: Submission::new::<DiscardChanges>(),
        restore: Submission::new::<RestoreChanges>(),
        discard_battle: Submission::new::<DiscardWorktrees>(),
        restore_battle: Submission::new::<RestoreWorktrees>(),
        empty: Submission::new::<EmptyTrash>(),
    };
    let Actions { discard, restore, discard_battle, restore_battle, empty } = actions;
    let all = [discard, restore, discard_battle, restore_battle, empty];
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
    let warning = move || shown.with(|shown| shown.as_ref().and_then(warning));
    let trashed = Memo::new(move |_| shown.with(|shown| shown.as_ref().map_or(0, WorktreeSettings::trashed)));
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
    }
    .erase()
}

fn total(all: &WorktreeSettings) -> String {
    match all.worktrees.len() {
        0 => "There are no worktrees. A Coder makes one when its first turn begins.".to_owned(),
        count => format!("{}, {} together.", counted(count, "worktree"), size(all.bytes())),
    }
}

fn warning(all: &WorktreeSettings) -> Option<String> {
    (all.bytes() > all.budget_bytes).then(|| {
        format!("Worktrees take more than {}. Discard what is no longer needed.", size(all.budget_bytes))
    })
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

//! What the agents of a Coder changed so far, and what becomes of it.

mod seen;

use domain::{
    id::ChatId,
    worktree::{self, Changed, State, Worktree},
};
use leptos::prelude::*;

use super::{
    api,
    bring_dialog::{Bring, BringDialog},
};
use crate::{
    chat::Pane,
    erased::{Erase, Erased, For, Show, effect},
    feed::Feed,
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
    ui::Dialog,
};
use seen::Seen;

/// A line under the messages; it unfolds into the list of files.
#[component]
pub fn Changes() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, .. } = expect_context::<Pane>();
    let worktree = Memo::new(move |_| feed.chat(chat, |chat| chat.worktree.clone()).flatten());
    let seen = Seen::keep(feed, chat);
    move || {
        worktree.get().map(|worktree| match worktree.state {
            State::Ready => view! { <Ready worktree seen /> }.erase(),
            State::Discarded => view! { <Discarded /> }.erase(),
            State::Gone => view! { <p class="changes">"The worktree is gone."</p> }.erase(),
        })
    }
}

#[component]
fn Ready(worktree: Worktree, seen: Seen) -> impl IntoView {
    let Pane { chat, reviewing, .. } = expect_context::<Pane>();
    let (is_applying, is_discarding) = (RwSignal::new(false), RwSignal::new(false));
    let feed = expect_context::<Feed>();
    let is_changed = move || seen.changes.with(|changes| !changes.files.is_empty());
    // What was applied and is not changed any more goes back.
    let is_to_apply = move || is_changed() || seen.changes.with(|changes| changes.is_applied);
    // What an agent is still writing is neither brought anywhere nor thrown away.
    let is_busy = Memo::new(move |_| feed.chat(chat, |chat| chat.active_turn().is_some()) == Some(true));
    let why_not = move || is_busy.get().then_some("The agent is at work; stop it or wait until it is done");
    let files = move || seen.changes.with(|changes| changes.files.clone());
    let base =
        format!("from {}{}", worktree.short_base(), if worktree.carried { " with your changes" } else { "" });
    let bring: Bring = Box::new(move |branch| Box::pin(api::apply_changes(chat, branch)));
    view! {
        <section class="changes" aria-label="Changes">
            <details>
                <summary>
                    {Icon::Branch.view()}
                    <span class="changes-count" role="status">{move || seen.changes.with(counted)}</span>
                    <span class="changes-base">{base}</span>
                </summary>
                <ul class="changed-files">
                    <For each=files key=Changed::clone children=|file| changed(&file) />
                </ul>
                {move || seen.changes.with(|changes| left_out(&changes.left_out))}
            </details>
            <div class="changes-actions">
                <button
                    class="button small"
                    type="button"
                    aria-pressed=move || reviewing.get().to_string()
                    disabled=move || !is_changed() && !reviewing.get()
                    on:click=move |_| reviewing.update(|is_open| *is_open = !*is_open)
                >
                    {move || if reviewing.get() { "Back to the work" } else { "Review" }}
                </button>
                <button
                    class="button small primary"
                    type="button"
                    title=why_not
                    disabled=move || !is_to_apply() || is_busy.get()
                    on:click=move |_| is_applying.set(true)
                >
                    "Apply…"
                </button>
                <button
                    class="button small"
                    type="button"
                    title=why_not
                    disabled=is_busy
                    on:click=move |_| is_discarding.set(true)
                >
                    "Discard…"
                </button>
            </div>
            <Failure error=seen.failure />
            <BringDialog id=format!("apply-{chat}") title="Apply the changes" is_open=is_applying bring />
            <DiscardDialog chat is_open=is_discarding />
        </section>
    }
    .erase()
}

fn counted(changes: &worktree::Changes) -> String {
    match changes.files.len() {
        0 => "Nothing changed yet".to_owned(),
        1 => format!("1 file changed, +{} −{}", changes.added, changes.deleted),
        count => format!("{count} files changed, +{} −{}", changes.added, changes.deleted),
    }
}

fn changed(file: &Changed) -> Erased {
    let counts = match file.is_binary {
        true => "binary".to_owned(),
        false => format!("+{} −{}", file.added, file.deleted),
    };
    view! {
        <li class="changed-file">
            <span class="changed-status" title=file.status.words()>{file.status.letter()}</span>
            <span class="changed-path">{file.path.clone()}</span>
            <span class="changed-counts">{counts}</span>
        </li>
    }
    .erase()
}

/// What no patch can hold, for whoever would look for it in vain.
pub fn left_out(lines: &[String]) -> Erased {
    let line = |line: &String| view! { <li>{line.clone()}</li> };
    (!lines.is_empty())
        .then(|| {
            view! {
                <div class="left-out">
                    <p>"Not part of the changes:"</p>
                    <ul>{lines.iter().map(line).collect::<Vec<_>>()}</ul>
                </div>
            }
        })
        .erase()
}

#[component]
fn DiscardDialog(chat: ChatId, is_open: RwSignal<bool>) -> impl IntoView {
    let discard = Submission::new::<api::DiscardChanges>();
    discard.close_when_done(is_open);
    view! {
        <Dialog id=format!("discard-{chat}") title="Discard the changes" open=is_open>
            <p>"The worktree goes to the trash, from where it can be restored until that is emptied."</p>
            <Form to=discard class="dialog-actions">
                <input type="hidden" name="chat" value=chat.to_string() />
                <button class="button danger" type="submit" disabled=move || discard.is_pending()>
                    "Discard"
                </button>
            </Form>
            <Failure error=Signal::derive(move || discard.failure()) />
        </Dialog>
    }
    .erase()
}

#[component]
fn Discarded() -> impl IntoView {
    let Pane { chat, reviewing, .. } = expect_context::<Pane>();
    // There is nothing to review, and no way back from there.
    effect(move || reviewing.set(false));
    let restore = Submission::new::<api::RestoreChanges>();
    view! {
        <section class="changes" aria-label="Changes">
            <p>"The worktree is in the trash."</p>
            <Form to=restore class="changes-actions">
                <input type="hidden" name="chat" value=chat.to_string() />
                <button class="button small" type="submit" disabled=move || restore.is_pending()>"Restore"</button>
            </Form>
            <Show when=move || restore.failure().is_some()>
                <Failure error=Signal::derive(move || restore.failure()) />
            </Show>
        </section>
    }
    .erase()
}

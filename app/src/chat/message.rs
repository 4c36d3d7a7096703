//! One message with what can be done to it.

use domain::{
    chat::{Body, Message},
    feed::StreamId,
    id::{Attempt, MessageId, TaskId},
    output::Outcome,
    task::{Status, Task},
};
use leptos::{form::ActionForm, prelude::*, task::spawn_local};

use super::{Pane, api, attempt::AttemptView, sending::Sending, status};
use crate::{
    error::AppError, feed::Feed, icon::Icon, markdown::CopyButton, notice::failure_of, workspace::Clock,
};

#[component]
pub fn MessageView(id: MessageId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    // What a message says never changes; only what is derived from its task and its siblings does.
    let body = untrack(|| feed.chat(|chat| chat.message(id).map(|message| message.body.clone()))).flatten();
    match body {
        Some(Body::User { text }) => view! { <Question id text /> }.into_any(),
        Some(Body::Assistant { task }) => view! { <Answer id task /> }.into_any(),
        None => ().into_any(),
    }
}

#[component]
fn Question(id: MessageId, text: String) -> impl IntoView {
    let is_editing = RwSignal::new(false);
    let (copied, edited) = (text.clone(), text.clone());
    let body = move || {
        if is_editing.get() {
            view! { <EditForm id text=edited.clone() is_editing /> }.into_any()
        } else {
            view! { <div class="message-body">{text.clone()}</div> }.into_any()
        }
    };
    view! {
        <li class="message user">
            <span class="visually-hidden">"You wrote:"</span>
            {body}
            <div class="message-actions">
                <BranchSwitch id />
                <CopyButton name="Copy this message" text=move || copied.clone() />
                <button
                    type="button"
                    class="icon-button"
                    aria-label="Edit and send again"
                    title="Edit and send again"
                    on:click=move |_| is_editing.update(|editing| *editing = !*editing)
                >
                    {Icon::Edit.view()}
                </button>
            </div>
        </li>
    }
    .into_any()
}

/// Asks again in other words, beside the old question.
#[component]
fn EditForm(id: MessageId, text: String, is_editing: RwSignal<bool>) -> impl IntoView {
    let Pane { chat, actions, model, .. } = expect_context::<Pane>();
    let typed = RwSignal::new(text.clone());
    let sending = Sending::new();
    let message = Memo::new(move |_| typed.with(|typed| sending.id_for(typed)));
    Effect::new(move || {
        if let Some(input) = actions.resend.input().get().filter(|input| input.of == id) {
            sending.sent(input.message, &input.text);
        }
    });
    Effect::new(move || {
        if matches!(failure_of(actions.resend), Some(AppError::Rejected(_) | AppError::Invalid(_))) {
            sending.settle();
        }
    });
    view! {
        <ActionForm action=actions.resend attr:class="card">
            <input type="hidden" name="chat" value=chat.to_string() />
            <input type="hidden" name="of" value=id.to_string() />
            <input type="hidden" name="message" prop:value=move || message.get().to_string() />
            <input type="hidden" name="model" prop:value=model />
            <label class="field">
                <span class="field-label">"Your message in other words"</span>
                <textarea
                    name="text"
                    required
                    rows="4"
                    on:input:target=move |input| typed.set(input.target().value())
                >{text}</textarea>
            </label>
            <div class="notice-actions">
                <button class="button small primary" type="submit" disabled=move || actions.resend.pending().get()>
                    "Send as a new branch"
                </button>
                <button class="button small ghost" type="button" on:click=move |_| is_editing.set(false)>
                    "Cancel"
                </button>
            </div>
        </ActionForm>
    }
    .into_any()
}

#[component]
fn Answer(id: MessageId, task: TaskId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let now = Memo::new(move |_| feed.chat(|chat| chat.tasks.get(&task).cloned()).flatten());
    let name = untrack(|| now.get()).map(|task| task.model.model).unwrap_or_default();
    let attempts = Memo::new(move |_| now.read().as_ref().map(|task| task.attempts()).unwrap_or_default());
    let copied = move || {
        let last = untrack(|| attempts.get()).last().map(|(attempt, _)| StreamId { task, attempt: *attempt });
        last.map(|stream| feed.text(stream).answer()).unwrap_or_default()
    };
    view! {
        <li class="message assistant">
            <p class="message-author">{name}</p>
            <For
                each=move || attempts.get()
                key=|(attempt, _)| *attempt
                children=move |(attempt, _)| {
                    let interrupted = Memo::new(move |_| now.read().as_ref().is_some_and(|task| is_lost(task, attempt)));
                    let streaming = Memo::new(move |_| now.read().as_ref().is_some_and(|task| writes(task, attempt)));
                    view! { <AttemptView stream=StreamId { task, attempt } interrupted streaming /> }
                }
            />
            <StatusLine task=now />
            <Fault id task=now />
            <div class="message-actions">
                <BranchSwitch id />
                <CopyButton name="Copy this answer" text=copied />
                <Show when=move || now.read().as_ref().is_some_and(Task::is_settled)>
                    <RetryForm id label=None />
                </Show>
                <span class="message-facts">{move || now.read().as_ref().and_then(status::facts)}</span>
            </div>
        </li>
    }
    .into_any()
}

#[component]
fn StatusLine(task: Memo<Option<Task>>) -> impl IntoView {
    let Clock(now_ms) = expect_context::<Clock>();
    let ahead = RwSignal::new(None);
    let is_queued =
        Memo::new(move |_| task.read().as_ref().is_some_and(|task| task.status == Status::Queued));
    // Nobody tells when another chat's task moves up, so it is asked for while it matters.
    Effect::new(move || {
        let Some(id) = is_queued.get().then(|| task.with_untracked(|task| task.as_ref().map(|task| task.id)))
        else {
            return ahead.set(None);
        };
        let is_due = now_ms.get().is_some_and(|now_ms| now_ms / 1_000 % 2 == 0);
        if let (Some(id), true) = (id, is_due) {
            spawn_local(async move {
                if let Ok(position) = api::queue_position(id).await {
                    ahead.try_set(Some(position));
                }
            });
        }
    });
    let is_running = Memo::new(move |_| task.read().as_ref().is_some_and(|task| !task.is_settled()));
    move || {
        // A settled turn does not look at the clock, so it is not woken every second.
        let now_ms = is_running.get().then(|| now_ms.get()).flatten();
        let line = task.read().as_ref().and_then(|task| status::line(task, ahead.get(), now_ms));
        line.map(|line| {
            view! {
                <p class="message-status">
                    <span class=format!("dot {}", line.dot)></span>
                    {line.words}
                </p>
            }
        })
    }
}

#[component]
fn Fault(id: MessageId, task: Memo<Option<Task>>) -> impl IntoView {
    let fault = Memo::new(move |_| task.read().as_ref().and_then(status::fault));
    move || {
        fault.get().map(|(title, reason)| {
            view! {
                <div class="notice error" role="alert">
                    <p class="notice-title">{title}</p>
                    <p>{reason}</p>
                    <div class="notice-actions"><RetryForm id label=Some("Retry") /></div>
                </div>
            }
        })
    }
}

/// Another answer beside this one, from the model that is chosen now.
#[component]
fn RetryForm(id: MessageId, label: Option<&'static str>) -> impl IntoView {
    let Pane { chat, actions, model, .. } = expect_context::<Pane>();
    let is_pending = actions.retry.pending();
    let class = if label.is_some() { "button small" } else { "icon-button" };
    view! {
        <ActionForm action=actions.retry>
            <input type="hidden" name="chat" value=chat.to_string() />
            <input type="hidden" name="of" value=id.to_string() />
            <input type="hidden" name="model" value=model.get_untracked() prop:value=model />
            <button
                class=class
                type="submit"
                title="Another answer from the chosen model"
                aria-label=label.is_none().then_some("Retry")
                disabled=move || is_pending.get()
            >
                {Icon::Retry.view()}
                {label}
            </button>
        </ActionForm>
    }
    .into_any()
}

/// Leads to the versions of a message, where there are several.
#[component]
fn BranchSwitch(id: MessageId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let versions = Memo::new(move |_| {
        let siblings = feed.chat(|chat| chat.message(id).map(|message: &Message| chat.siblings(message)));
        siblings.flatten().filter(|all| all.len() > 1).unwrap_or_default()
    });
    move || {
        let all = versions.get();
        let place = all.iter().position(|other| *other == id)?;
        let previous = place.checked_sub(1).map(|before| all[before]);
        let next = all.get(place + 1).copied();
        Some(view! {
            <span class="branch-switch" role="group" aria-label="Versions of this message">
                <SwitchForm to=previous icon=Icon::Previous name="Previous version" />
                <span>{place + 1} "/" {all.len()}</span>
                <SwitchForm to=next icon=Icon::Next name="Next version" />
            </span>
        })
    }
}

#[component]
fn SwitchForm(to: Option<MessageId>, icon: Icon, name: &'static str) -> impl IntoView {
    let Pane { chat, actions, .. } = expect_context::<Pane>();
    view! {
        <ActionForm action=actions.switch>
            <input type="hidden" name="chat" value=chat.to_string() />
            <input type="hidden" name="to" value=to.map(|to| to.to_string()) />
            <button class="icon-button" type="submit" aria-label=name title=name disabled=to.is_none()>
                {icon.view()}
            </button>
        </ActionForm>
    }
    .into_any()
}

fn is_lost(task: &Task, attempt: Attempt) -> bool {
    let settled_lost = matches!(
        &task.status,
        Status::Settled { attempt: Some(last), outcome: Outcome::Lost, .. } if *last == attempt
    );
    settled_lost || task.lost.iter().any(|(lost, _)| *lost == attempt)
}

fn writes(task: &Task, attempt: Attempt) -> bool {
    matches!(&task.status, Status::Running { attempt: current, .. } if *current == attempt)
}

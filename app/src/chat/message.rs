//! One message with what can be done to it.

mod resend;

use domain::{
    attachment::{Attachment, LeftOut},
    chat::{self, Body, Message},
    feed::StreamId,
    id::{MessageId, TaskId},
    task::{Task, Work},
    transcript::Kind,
};
use leptos::prelude::*;

use super::{
    Pane,
    attachments::SentFiles,
    attempt::AttemptView,
    chosen::Chosen,
    editing::{EditButton, Editing},
    status,
    status_line::{StatusLine, is_lost, writes},
};
use crate::{
    coder::{Permission, WorkAgain},
    device,
    erased::{Erase, For, Show},
    feed::{Feed, LiveSegment},
    form::Form,
    icon::Icon,
    markdown::CopyButton,
};
use resend::EditForm;

#[component]
pub fn MessageView(id: MessageId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    // What a message says never changes; only what is derived from its task and its siblings does.
    let Pane { chat, .. } = expect_context::<Pane>();
    let body =
        untrack(|| feed.chat(chat, |chat| chat.message(id).map(|message| message.body.clone()))).flatten();
    match body {
        Some(Body::User { text, attachments, left_out }) => {
            view! { <Question id text files=attachments left_out /> }.erase()
        }
        Some(Body::Assistant { task }) => view! { <Answer id task /> }.erase(),
        None => ().erase(),
    }
}

#[component]
fn Question(id: MessageId, text: String, files: Vec<Attachment>, left_out: Vec<LeftOut>) -> impl IntoView {
    let Pane { kind, .. } = expect_context::<Pane>();
    let editing = Editing::of(id);
    let (copied, edited) = (text.clone(), text.clone());
    let body = move || {
        if editing.is_open() {
            view! { <EditForm id text=edited.clone() files=files.clone() editing /> }.erase()
        } else {
            view! {
                <SentFiles files=files.clone() left_out=left_out.clone() />
                <div class="message-body" hidden=text.is_empty()>{text.clone()}</div>
            }
            .erase()
        }
    };
    view! {
        <li class="message user">
            <span class="visually-hidden">"You wrote:"</span>
            {body}
            <div class="message-actions">
                <BranchSwitch id />
                <CopyButton name="Copy this message" text=move || copied.clone() />
                // What an agent did is not unsaid.
                {(kind == chat::Kind::Chat)
                    .then(|| view! { <EditButton editing name="Edit and send again" tip="Edit and send again" /> })}
            </div>
        </li>
    }
    .erase()
}

#[component]
fn Answer(id: MessageId, task: TaskId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, .. } = expect_context::<Pane>();
    let now = Memo::new(move |_| feed.chat(chat, |chat| chat.tasks.get(&task).cloned()).flatten());
    let name = untrack(|| now.get()).map(|task| author(&task)).unwrap_or_default();
    let attempts = Memo::new(move |_| now.read().as_ref().map(|task| task.attempts()).unwrap_or_default());
    let last = move || {
        let last = attempts.read().last().map(|(attempt, _)| StreamId { task, attempt: *attempt });
        last.map(|stream| feed.text(stream))
    };
    let copied = move || untrack(last).map(|text| text.answer()).unwrap_or_default();
    let has_words = move || {
        let is_text = |segment: &LiveSegment| segment.kind == Kind::Text;
        last().is_some_and(|text| text.segments.read().iter().any(is_text))
    };
    // One that failed has its retry where it says why.
    let may_retry = move || {
        let is_whole =
            |task: &Task| task.work == Work::ChatTurn && task.is_settled() && status::fault(task).is_none();
        now.read().as_ref().is_some_and(is_whole)
    };
    view! {
        <li class="message assistant">
            <p class="message-author">{name}</p>
            <For
                each=move || attempts.get()
                key=|(attempt, _)| *attempt
                children=move |(attempt, len)| {
                    let interrupted = Memo::new(move |_| now.read().as_ref().is_some_and(|task| is_lost(task, attempt)));
                    let streaming = Memo::new(move |_| now.read().as_ref().is_some_and(|task| writes(task, attempt)));
                    view! { <AttemptView stream=StreamId { task, attempt } len interrupted streaming /> }
                }
            />
            <StatusLine task=now />
            <Permission task=now />
            <Fault id task=now />
            <div class="message-actions">
                <BranchSwitch id />
                <Show when=has_words>
                    <CopyButton name="Copy this answer" text=copied />
                </Show>
                <Show when=may_retry>
                    <RetryForm id label=None />
                </Show>
                <span class="message-facts">{move || now.read().as_ref().and_then(status::facts)}</span>
            </div>
        </li>
    }
    .erase()
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

/// Who answers: the model, and as whom.
fn author(task: &Task) -> String {
    let agent = task.coder.as_ref().map(|coder| &coder.backend).filter(|backend| !backend.is_native());
    match (agent, &task.persona) {
        (Some(agent), _) => format!("{agent} · {}", task.model.model),
        (None, Some(persona)) => format!("{persona} · {}", task.model.model),
        (None, None) => task.model.model.clone(),
    }
}

/// Another answer beside this one, from the model that is chosen now.
#[component]
fn RetryForm(id: MessageId, label: Option<&'static str>) -> impl IntoView {
    let Pane { chat, kind, actions, chosen: Chosen { model, persona, .. }, .. } = expect_context::<Pane>();
    let class = if label.is_some() { "button small" } else { "icon-button" };
    // The form goes when its answer is there, so one id serves it however often it is sent. The browser must not
    // fill in the one of a form before this one.
    let reply = device::fresh_id().to_string();
    let again = (kind == chat::Kind::Coder).then(|| view! { <WorkAgain /> });
    view! {
        <Form to=actions.retry>
            <input type="hidden" name="chat" value=chat.to_string() />
            <input type="hidden" name="of" value=id.to_string() />
            <input type="hidden" name="reply" value=reply autocomplete="off" />
            <input type="hidden" name="model" value=model.get_untracked() prop:value=model />
            <input type="hidden" name="persona" value=persona.get_untracked() prop:value=persona />
            {again}
            <button
                class=class
                type="submit"
                data-tip="Another answer from the chosen model"
                aria-label=label.is_none().then_some("Retry")
                disabled=move || actions.retry.is_pending()
            >
                {Icon::Retry.view()}
                {label}
            </button>
        </Form>
    }
    .erase()
}

/// Leads to the versions of a message, where there are several.
#[component]
fn BranchSwitch(id: MessageId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, .. } = expect_context::<Pane>();
    let versions = Memo::new(move |_| {
        let siblings =
            feed.chat(chat, |chat| chat.message(id).map(|message: &Message| chat.siblings(message)));
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
        <Form to=actions.switch>
            <input type="hidden" name="chat" value=chat.to_string() />
            <input type="hidden" name="to" value=to.map(|to| to.to_string()) />
            <button class="icon-button" type="submit" aria-label=name disabled=to.is_none()>
                {icon.view()}
            </button>
        </Form>
    }
    .erase()
}

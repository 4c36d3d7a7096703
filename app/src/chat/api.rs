//! What can be asked of a chat. Each function parses, calls and returns; what is allowed is decided in `domain`.

#[cfg(feature = "ssr")]
use domain::{
    attachment::{Attachment, COUNT_MAX, Enclosed},
    chat::{Choice, Input, NewTurn},
};
use domain::{
    backend::Wanted,
    catalogue::{Catalogue, Hindrance, ModelRef},
    id::{AttachmentId, ChatId, MessageId, TaskId},
    persona::Offer,
};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use crate::ports;
use crate::{error::AppError, wire::Wire};

#[cfg(feature = "ssr")]
mod mentioned;

/// What the model picker offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Models {
    pub catalogue: Catalogue,
    pub default: Option<ModelRef>,
}

impl Models {
    pub fn count(&self) -> usize {
        self.catalogue.servers.iter().map(|server| server.models.len()).sum()
    }

    pub fn offers(&self, model: &str) -> bool {
        model.parse().is_ok_and(|wanted| self.catalogue.model(&wanted).is_some())
    }
}

#[server(endpoint = "catalogue", protocol = Wire)]
pub async fn offered_models(refresh: bool) -> Result<Models, AppError> {
    let port = ports::models()?;
    if refresh {
        port.refresh().await;
    }
    Ok(Models { catalogue: port.catalogue(), default: port.default_model() })
}

/// The personas of the chat's project, as its file has them now.
#[server(endpoint = "personas", protocol = Wire)]
pub async fn offered_personas(chat: ChatId) -> Result<Offer, AppError> {
    let project = store::workspace::project_of_chat(&ports::db()?, chat).await?;
    Ok(ports::personas()?.offer(project.path).await)
}

/// Asks, or queues the question while another is being answered. The browser chooses `message`, so that a
/// question sent again after a network error is still asked once. The files that the text mentions go along
/// as they are now.
#[server(endpoint = "ask")]
pub async fn ask(
    chat: ChatId,
    message: MessageId,
    text: String,
    #[server(default)] model: String,
    #[server(default)] persona: String,
    #[server(default)] coder: Option<Wanted>,
    #[server(default)] attachments: Vec<AttachmentId>,
) -> Result<(), AppError> {
    let (turn, text) = (new_turn(message), lines(&text));
    // Before anything that it names is looked up: that may be gone since.
    if store::asks_again(&ports::db()?, chat, message, &text, &attachments).await? {
        return Ok(());
    }
    let choice = choice(chat, &model, persona, coder).await?;
    let mentions = mentioned::keep(chat, &text).await?;
    commit_with_files(chat, &attachments, |attached| {
        let enclosed = Enclosed { attached, ..mentions };
        Input::Ask { turn, text, choice, enclosed, at_ms: now_ms() }
    })
    .await
}

/// Asks again in other words, on a new branch beside the message `of`, whose attachments may be named again.
#[server(endpoint = "resend")]
pub async fn resend(
    chat: ChatId,
    of: MessageId,
    message: MessageId,
    text: String,
    #[server(default)] model: String,
    #[server(default)] persona: String,
    #[server(default)] attachments: Vec<AttachmentId>,
) -> Result<(), AppError> {
    let (turn, text) = (new_turn(message), lines(&text));
    if store::asks_again(&ports::db()?, chat, message, &text, &attachments).await? {
        return Ok(());
    }
    let choice = choice(chat, &model, persona, None).await?;
    let mentions = mentioned::keep(chat, &text).await?;
    commit_with_files(chat, &attachments, |attached| {
        let enclosed = Enclosed { attached, ..mentions };
        Input::Resend { of, turn, text, choice, enclosed, at_ms: now_ms() }
    })
    .await
}

/// Gets another answer beside the answer `of`. The browser chooses `reply`, as it does a question's id.
#[server(endpoint = "retry")]
pub async fn retry(
    chat: ChatId,
    of: MessageId,
    reply: MessageId,
    #[server(default)] model: String,
    #[server(default)] persona: String,
    #[server(default)] coder: Option<Wanted>,
) -> Result<(), AppError> {
    let as_whom = Some(persona.as_str()).filter(|persona| !persona.is_empty());
    if let Ok(model) = model.parse()
        && store::retries_again(&ports::db()?, chat, of, reply, &model, as_whom).await?
    {
        return Ok(());
    }
    let choice = choice(chat, &model, persona, coder).await?;
    let task = TaskId(uuid::Uuid::now_v7());
    commit(chat, Input::Retry { of, reply, task, choice, at_ms: now_ms() }).await
}

#[server(endpoint = "stop")]
pub async fn stop(chat: ChatId) -> Result<(), AppError> {
    commit(chat, Input::Stop).await
}

#[server(endpoint = "switch_branch")]
pub async fn switch_branch(chat: ChatId, to: MessageId) -> Result<(), AppError> {
    commit(chat, Input::Switch { to }).await
}

#[server(endpoint = "edit_queued")]
pub async fn edit_queued(chat: ChatId, message: MessageId, text: String) -> Result<(), AppError> {
    let text = lines(&text);
    let Enclosed { mentioned, left_out, .. } = mentioned::keep(chat, &text).await?;
    commit(chat, Input::EditQueued { message, text, mentioned, left_out }).await
}

#[server(endpoint = "unqueue")]
pub async fn unqueue(chat: ChatId, message: MessageId) -> Result<(), AppError> {
    commit(chat, Input::Unqueue { message }).await
}

/// Lets the queue go on after a stop or a failure.
#[server(endpoint = "send_queued")]
pub async fn send_queued(chat: ChatId) -> Result<(), AppError> {
    commit(chat, Input::SendQueued { at_ms: now_ms() }).await
}

/// Sends one that waits: in place of the turn that runs, or before the others of a held queue.
#[server(endpoint = "send_now")]
pub async fn send_now(chat: ChatId, message: MessageId) -> Result<(), AppError> {
    commit(chat, Input::SendNow { message, at_ms: now_ms() }).await
}

/// Which of the files that a browser remembers are here still.
#[server(endpoint = "present_attachments", protocol = Wire)]
pub async fn present_attachments(
    chat: ChatId,
    attachments: Vec<AttachmentId>,
) -> Result<Vec<AttachmentId>, AppError> {
    let attachments: Vec<_> = attachments.into_iter().take(COUNT_MAX).collect();
    Ok(store::attachments::present(&ports::db()?, chat, &attachments).await?)
}

/// Takes back a file that was attached and not sent.
#[server(endpoint = "remove_attachment", protocol = Wire)]
pub async fn remove_attachment(chat: ChatId, attachment: AttachmentId) -> Result<(), AppError> {
    Ok(store::attachments::remove(&ports::db()?, chat, attachment).await?)
}

/// What a queued task waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// How many tasks go before it at its model server.
    pub ahead: u32,
    pub hindrance: Option<Hindrance>,
}

#[server(endpoint = "waiting_for", protocol = Wire)]
pub async fn waiting_for(task: TaskId) -> Result<Waiting, AppError> {
    // One that was claimed meanwhile waits for nothing.
    let Some(queued) = store::tasks::queued(&ports::db()?, task).await? else {
        return Ok(Waiting::default());
    };
    Ok(Waiting { ahead: queued.ahead, hindrance: ports::models()?.catalogue().hindrance(&queued.server) })
}

#[cfg(feature = "ssr")]
async fn commit(chat: ChatId, input: Input) -> Result<(), AppError> {
    store::commit::chat(&ports::db()?, chat, input).await?;
    Ok(())
}

#[cfg(feature = "ssr")]
async fn commit_with_files(
    chat: ChatId,
    files: &[AttachmentId],
    input: impl FnOnce(Vec<Attachment>) -> Input,
) -> Result<(), AppError> {
    store::commit::chat_with_files(&ports::db()?, chat, files, input).await?;
    Ok(())
}

#[cfg(feature = "ssr")]
fn new_turn(message: MessageId) -> NewTurn {
    NewTurn { message, reply: MessageId(uuid::Uuid::now_v7()), task: TaskId(uuid::Uuid::now_v7()) }
}

#[cfg(feature = "ssr")]
async fn choice(
    chat: ChatId,
    model: &str,
    persona: String,
    wanted: Option<Wanted>,
) -> Result<Choice, AppError> {
    let catalogue = ports::models()?.catalogue();
    let (mut choice, server) = Choice::from_catalogue(&catalogue, model)?;
    if !persona.is_empty() {
        let project = store::workspace::project_of_chat(&ports::db()?, chat).await?;
        choice.persona = Some(ports::personas()?.check(project.path, persona).await?);
    }
    match wanted {
        Some(wanted) => {
            let coders = ports::coders()?;
            choice.coder = Some(coders.check(wanted, server.clone(), choice.model.clone()).await?);
        }
        None => server.check_chat()?,
    }
    Ok(choice)
}

/// A plain form sends its line ends as the wire wants them, not as the person typed them.
#[cfg(feature = "ssr")]
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

#[cfg(feature = "ssr")]
fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

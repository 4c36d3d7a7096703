//! What can be asked of a chat. Each function parses, calls and returns; what is allowed is decided in `domain`.

#[cfg(feature = "ssr")]
use domain::{
    catalogue::Lane,
    chat::{Choice, Input, NewTurn},
};
use domain::{
    catalogue::{Catalogue, ModelRef},
    id::{ChatId, MessageId, TaskId},
};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::AppError;
#[cfg(feature = "ssr")]
use crate::ports;

/// What the model picker offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Models {
    pub catalogue: Catalogue,
    pub default: Option<ModelRef>,
}

impl Models {
    pub fn offers(&self, model: &str) -> bool {
        model.parse().is_ok_and(|wanted| self.catalogue.model(&wanted).is_some())
    }
}

#[server(endpoint = "catalogue")]
pub async fn offered_models(refresh: bool) -> Result<Models, AppError> {
    let port = ports::models()?;
    if refresh {
        port.refresh().await;
    }
    Ok(Models { catalogue: port.catalogue(), default: port.default_model() })
}

/// Asks, or queues the question while another is being answered. The browser chooses `message`, so that a
/// question sent again after a network error is still asked once.
#[server(endpoint = "ask")]
pub async fn ask(
    chat: ChatId,
    message: MessageId,
    text: String,
    #[server(default)] model: String,
) -> Result<(), AppError> {
    let (turn, text, choice) = (new_turn(message), lines(&text), choice(&model)?);
    commit(chat, Input::Ask { turn, text, choice, at_ms: now_ms() }).await
}

/// Asks again in other words, on a new branch beside the message `of`.
#[server(endpoint = "resend")]
pub async fn resend(
    chat: ChatId,
    of: MessageId,
    message: MessageId,
    text: String,
    #[server(default)] model: String,
) -> Result<(), AppError> {
    let (turn, text, choice) = (new_turn(message), lines(&text), choice(&model)?);
    commit(chat, Input::Resend { of, turn, text, choice, at_ms: now_ms() }).await
}

/// Gets another answer beside the answer `of`.
#[server(endpoint = "retry")]
pub async fn retry(chat: ChatId, of: MessageId, #[server(default)] model: String) -> Result<(), AppError> {
    let (reply, task) = (MessageId(uuid::Uuid::now_v7()), TaskId(uuid::Uuid::now_v7()));
    let choice = choice(&model)?;
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
    commit(chat, Input::EditQueued { message, text: lines(&text) }).await
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

#[server(endpoint = "rename_chat")]
pub async fn rename_chat(chat: ChatId, title: String) -> Result<(), AppError> {
    commit(chat, Input::Rename { title }).await
}

/// How many tasks a queued one has before it at its model server.
#[server(endpoint = "queue_position")]
pub async fn queue_position(task: TaskId) -> Result<u32, AppError> {
    Ok(store::tasks::ahead(&ports::db()?, task).await?)
}

#[cfg(feature = "ssr")]
async fn commit(chat: ChatId, input: Input) -> Result<(), AppError> {
    store::commit::chat(&ports::db()?, chat, input).await?;
    Ok(())
}

#[cfg(feature = "ssr")]
fn new_turn(message: MessageId) -> NewTurn {
    NewTurn { message, reply: MessageId(uuid::Uuid::now_v7()), task: TaskId(uuid::Uuid::now_v7()) }
}

/// The model as the catalogue knows it now. One whose server is unreachable is still a choice: the turn then
/// fails with the reason and can be repeated.
#[cfg(feature = "ssr")]
fn choice(model: &str) -> Result<Choice, AppError> {
    let catalogue = ports::models()?.catalogue();
    choose(&catalogue, model)
}

#[cfg(feature = "ssr")]
fn choose(catalogue: &Catalogue, model: &str) -> Result<Choice, AppError> {
    if model.is_empty() {
        return Err(AppError::Invalid("Choose a model first.".into()));
    }
    let known = model.parse::<ModelRef>().ok().filter(|wanted| catalogue.model(wanted).is_some());
    let model = known.ok_or_else(|| {
        AppError::Invalid(format!("The model {model} is not offered any more. Choose another one."))
    })?;
    let paid = catalogue.lane(&model) == Some(Lane::Cloud);
    Ok(Choice { model, paid })
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

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use domain::catalogue::{Flavour, Model, ModelServer, ServerState};

    use super::*;

    fn server(name: &str, lane: Lane) -> ModelServer {
        ModelServer {
            name: name.into(),
            flavour: Flavour::OpenAi,
            lane,
            base_url: String::new(),
            state: ServerState::Reachable,
            models: vec![Model::named("org/small")],
        }
    }

    #[test]
    fn a_model_is_chosen_from_the_catalogue_and_cloud_is_paid() {
        let catalogue =
            Catalogue { servers: vec![server("here", Lane::Local), server("there", Lane::Cloud)] };
        let check = |model: &str, expected: Result<bool, &str>| {
            let chosen = choose(&catalogue, model);
            assert_eq!(
                chosen.map(|choice| choice.paid).map_err(|no| no.to_string()),
                expected.map_err(Into::into)
            );
        };
        check("here/org/small", Ok(false));
        check("there/org/small", Ok(true));
        check("", Err("Choose a model first."));
        check("here/gone", Err("The model here/gone is not offered any more. Choose another one."));
        check("nonsense", Err("The model nonsense is not offered any more. Choose another one."));
    }
}

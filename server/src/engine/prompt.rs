//! What a model is asked, for each kind of work.

use domain::{catalogue::Flavour, chat::title, task::Work};
use store::Conversation;

use crate::{
    backend::{self, Limits, Message, Request, Role},
    models::Endpoint,
};

const TITLE_TOKENS_MAX: u32 = 32;
/// The small model sometimes does not find an end.
const SMALL_MODEL_TOKENS_MAX: u32 = 1_024;

pub(crate) fn request(conversation: Conversation, endpoint: Endpoint) -> Result<Request, String> {
    let base_url = endpoint
        .api_url
        .parse()
        .map_err(|error| format!("the address {} of the model server is wrong: {error}", endpoint.api_url))?;
    let Conversation { work, model, said } = conversation;
    let (messages, max_tokens) = match work {
        Work::ChatTurn => (chat(said), None),
        Work::Title => (name_chat(said), Some(TITLE_TOKENS_MAX)),
    };
    let small = endpoint.flavour == Flavour::Small;
    Ok(Request {
        base_url,
        api_key: endpoint.api_key,
        model: model.model,
        messages,
        max_tokens: max_tokens.or(small.then_some(SMALL_MODEL_TOKENS_MAX)),
        temperature: None,
        flavour: match endpoint.flavour {
            Flavour::LlamaSwap => backend::Flavour::LlamaSwap,
            Flavour::LlamaCpp | Flavour::Ollama | Flavour::OpenAi | Flavour::Small => backend::Flavour::Plain,
        },
        limits: Limits::default(),
    })
}

fn chat(said: Vec<(bool, String)>) -> Vec<Message> {
    let role = |question| if question { Role::User } else { Role::Assistant };
    said.into_iter().map(|(question, content)| Message { role: role(question), content }).collect()
}

fn name_chat(said: Vec<(bool, String)>) -> Vec<Message> {
    let first = |wanted: bool| {
        said.iter().find(|(question, _)| *question == wanted).map_or("", |(_, text)| text.as_str())
    };
    vec![
        Message { role: Role::System, content: "You write short titles for conversations.".into() },
        Message { role: Role::User, content: title::prompt(first(true), first(false)) },
    ]
}

//! Asking one address what it is and which models it serves. Every answer is bounded in time and size, and
//! what goes wrong is told in words that a user can act on.

use std::{io, time::Duration};

use domain::catalogue::{Flavour, Lane, Model};
use futures::StreamExt;
use reqwest::{Client, StatusCode};
use serde_json::Value;

use super::{Address, context};
use crate::{
    config::{ConfiguredServer, Key},
    secret::Secret,
};

pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(2);
const ANSWER_BYTES_MAX: usize = 2 * 1024 * 1024;
const MODELS_MAX: usize = 2000;

/// What one look at a server showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Serving {
        flavour: Flavour,
        models: Vec<Model>,
    },
    /// It answers, and is not ready yet.
    Loading {
        flavour: Flavour,
    },
    Unreachable {
        reason: String,
    },
}

/// Finds a server of a kind we know at an address where nobody promised one. `None` is anything else,
/// another program on that port included.
pub async fn discover(client: &Client, address: &Address) -> Option<Seen> {
    let asked = |path: &str| get(client, format!("{}{path}", address.root()), None);
    let (running, props, health, tags, listed) = tokio::join!(
        asked("/running"),
        asked("/props"),
        asked("/health"),
        asked("/api/tags"),
        get(client, format!("{}/models", address.api()), None),
    );
    let listed = listed.ok().and_then(|answer| openai_models(&answer.json()?));
    let health = health.ok();
    let loading = health
        .as_ref()
        .is_some_and(|answer| answer.status == StatusCode::SERVICE_UNAVAILABLE && answer.is_loading());
    let healthy = health.is_some_and(|answer| answer.json().is_some_and(|json| json["status"] == "ok"));
    if running.is_ok_and(|answer| is_llama_swap(&answer)) {
        return Some(Seen::Serving { flavour: Flavour::LlamaSwap, models: listed.unwrap_or_default() });
    }
    if loading {
        return Some(Seen::Loading { flavour: Flavour::LlamaCpp });
    }
    if let Some(models) = listed.clone()
        && (healthy || props.is_ok_and(|answer| is_llama_cpp(&answer)))
    {
        return Some(Seen::Serving { flavour: Flavour::LlamaCpp, models });
    }
    let models = tags.ok().and_then(|answer| ollama_models(&answer.json()?))?;
    Some(Seen::Serving { flavour: Flavour::Ollama, models })
}

/// Looks at a server that somebody named: which models it has and, unless that is known, which kind it is.
pub async fn look(client: &Client, server: &ConfiguredServer, known: Option<Flavour>) -> Seen {
    let ConfiguredServer { address, key, models, lane, .. } = server;
    // A cloud provider is asked for nothing but its models.
    let known = known.or((*lane == Lane::Cloud).then_some(Flavour::OpenAi));
    match ask(client, address, key, known.unwrap_or(Flavour::OpenAi), models).await {
        Seen::Serving { models, .. } if known.is_none() => {
            Seen::Serving { flavour: flavour(client, address, key).await, models }
        }
        seen => seen,
    }
}

/// Asks a configured server for its models. Which kind it is was learnt elsewhere: see [`flavour`].
pub async fn ask(client: &Client, address: &Address, key: &Key, flavour: Flavour, fixed: &[String]) -> Seen {
    if let Some(reason) = key.hindrance() {
        return Seen::Unreachable { reason };
    }
    let url = format!("{}/models", address.api());
    let answer = match get(client, url.clone(), key.value()).await {
        Ok(answer) => answer,
        Err(reason) => return Seen::Unreachable { reason },
    };
    if answer.status == StatusCode::SERVICE_UNAVAILABLE && answer.is_loading() {
        return Seen::Loading { flavour };
    }
    // Some providers have no list. The configured one then stands, and an answer shows that they are there.
    if !fixed.is_empty() && (answer.status.is_success() || answer.status == StatusCode::NOT_FOUND) {
        return Seen::Serving { flavour, models: fixed.iter().map(Model::named).collect() };
    }
    match answer.json().filter(|_| answer.status.is_success()).and_then(|json| openai_models(&json)) {
        Some(models) => Seen::Serving { flavour, models },
        None => Seen::Unreachable { reason: refusal(&answer, &url, key) },
    }
}

/// Which kind a configured server is. They speak the same chat completions and tell their state differently.
async fn flavour(client: &Client, address: &Address, key: &Key) -> Flavour {
    let asked = |path: &str| get(client, format!("{}{path}", address.root()), key.value());
    let (running, props, tags) = tokio::join!(asked("/running"), asked("/props"), asked("/api/tags"));
    if running.is_ok_and(|answer| is_llama_swap(&answer)) {
        Flavour::LlamaSwap
    } else if props.is_ok_and(|answer| is_llama_cpp(&answer)) {
        Flavour::LlamaCpp
    } else if tags.is_ok_and(|answer| answer.json().is_some_and(|json| ollama_models(&json).is_some())) {
        Flavour::Ollama
    } else {
        Flavour::OpenAi
    }
}

pub(super) struct Answer {
    status: StatusCode,
    body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// llama.cpp's words while it loads its model.
    fn is_loading(&self) -> bool {
        String::from_utf8_lossy(&self.body).contains("Loading model")
    }
}

pub(super) async fn get(client: &Client, url: String, key: Option<&Secret>) -> Result<Answer, String> {
    let exchange = async {
        let mut request = client.get(&url);
        if let Some(key) = key {
            request = request.bearer_auth(key.expose());
        }
        let response = request.send().await.map_err(|error| unreachable(&error))?;
        let status = response.status();
        let mut body = Vec::new();
        let mut pieces = response.bytes_stream();
        while let Some(piece) = pieces.next().await {
            body.extend_from_slice(&piece.map_err(|error| unreachable(&error))?);
            if body.len() > ANSWER_BYTES_MAX {
                return Err("its answer is far too long for a list of models".to_owned());
            }
        }
        Ok(Answer { status, body })
    };
    let limited = tokio::time::timeout(ANSWER_LIMIT, exchange).await;
    limited.unwrap_or_else(|_| Err(format!("no answer within {} s", ANSWER_LIMIT.as_secs())))
}

fn is_llama_swap(answer: &Answer) -> bool {
    answer.status.is_success() && answer.json().is_some_and(|json| json["running"].is_array())
}

fn is_llama_cpp(answer: &Answer) -> bool {
    answer.status.is_success()
        && answer.json().is_some_and(|json| json["default_generation_settings"].is_object())
}

fn openai_models(json: &Value) -> Option<Vec<Model>> {
    let all = json["data"].as_array()?.iter().filter_map(|model| {
        let id = model["id"].as_str().filter(|id| !id.is_empty())?;
        let name = model["name"].as_str().filter(|name| !name.is_empty() && *name != id);
        // An older llama.cpp calls its model by the path of the file.
        let file = id.strip_suffix(".gguf").and_then(|path| path.rsplit('/').next());
        Some(Model {
            id: id.to_owned(),
            label: name.or(file).map(String::from),
            context: context::listed(model),
            sees: None,
        })
    });
    Some(all.take(MODELS_MAX).collect())
}

fn ollama_models(json: &Value) -> Option<Vec<Model>> {
    let all = json["models"].as_array()?.iter().filter_map(|model| model["name"].as_str().map(Model::named));
    Some(all.take(MODELS_MAX).collect())
}

fn refusal(answer: &Answer, url: &str, key: &Key) -> String {
    let code = answer.status.as_u16();
    match (code, key) {
        (401 | 403, Key::Set { variable, .. }) => format!("{code}: the key in {variable} was refused"),
        (401 | 403, Key::Kept { .. }) => format!("{code}: the key that was entered was refused"),
        (401 | 403, _) => {
            format!("{code}: it wants a key; enter it in Settings, or name its variable in api_key_env")
        }
        (404, _) => {
            format!("404: there is no list of models at {url}; check the url, or list them in models")
        }
        (200..=299, _) => format!("{url} answers, but not with a list of models"),
        _ => {
            let said = String::from_utf8_lossy(&answer.body);
            // Some servers quote the key that they do not like.
            let said = key.value().map_or_else(|| said.clone().into_owned(), |value| value.redact(&said));
            let said: String = said.chars().take(200).collect();
            format!("{}: {}", answer.status, said.split_whitespace().collect::<Vec<_>>().join(" "))
        }
    }
}

fn unreachable(error: &reqwest::Error) -> String {
    let mut causes = Vec::new();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            match io.kind() {
                io::ErrorKind::ConnectionRefused => return "connection refused — is it running?".into(),
                io::ErrorKind::ConnectionReset => return "it closed the connection without an answer".into(),
                _ => {}
            }
        }
        causes.push(cause.to_string());
        next = cause.source();
    }
    let last = causes.pop().unwrap_or_else(|| error.to_string());
    match causes.iter().any(|cause| cause.contains("dns error")) || last.contains("lookup") {
        true => "its host name is not known — check the url and the network".into(),
        false => last,
    }
}

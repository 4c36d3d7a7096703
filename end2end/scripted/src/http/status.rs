//! What the server tells about itself.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures::Stream;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::server::Server;
use crate::setup::Flavour;
use crate::wire::CREATED;

pub async fn models(State(server): State<Arc<Server>>) -> Response {
    let script = &server.script;
    if server.is_loading() {
        return Refusal::Loading.respond(script.flavour, None, None);
    }
    let owner = match script.flavour {
        Flavour::LlamaSwap => "llama-swap",
        Flavour::LlamaCpp => "llamacpp",
        Flavour::Ollama => "library",
        Flavour::Cloud => "scripted",
    };
    // A bare llama-server has one model.
    let most = if script.flavour == Flavour::LlamaCpp { 1 } else { script.models.len() };
    let list = script.models.iter().take(most).map(|model| {
        let mut entry = json!({"id": model, "object": "model", "created": CREATED, "owned_by": owner});
        let context = match script.flavour {
            // What the model was made for; what this server gives it is told elsewhere.
            Flavour::LlamaCpp => ("meta", json!({"n_ctx_train": 2 * script.context_tokens})),
            // Where its settings say so.
            Flavour::LlamaSwap | Flavour::Cloud => ("context_length", json!(script.context_tokens)),
            Flavour::Ollama => return entry,
        };
        if !script.tells_context {
            return entry;
        }
        if let Some(fields) = entry.as_object_mut() {
            fields.insert(context.0.into(), context.1);
        }
        entry
    });
    Json(json!({"object": "list", "data": list.collect::<Value>()})).into_response()
}

pub async fn gemini_models(State(server): State<Arc<Server>>) -> Json<Value> {
    let list = server.script.models.iter().map(|model| {
        json!({
            "name": format!("models/{model}"),
            "displayName": model,
            "inputTokenLimit": server.script.context_tokens,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        })
    });
    Json(json!({"models": list.collect::<Value>()}))
}

pub async fn running(State(server): State<Arc<Server>>) -> Json<Value> {
    let running = server.models.states().into_iter().filter(|(_, state)| *state != "stopped");
    let list = running.map(|(model, state)| json!({"model": model, "state": state, "proxy": "", "ttl": 0}));
    Json(json!({"running": list.collect::<Value>()}))
}

/// llama-swap wraps its model list as a string inside JSON.
pub async fn events(State(server): State<Arc<Server>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let mut changes = server.models.changes();
    changes.mark_changed();
    let stream = futures::stream::unfold((server, changes), |(server, mut changes)| async move {
        changes.changed().await.ok()?;
        let list = server.models.states().into_iter().map(|(model, state)| {
            json!({"id": model, "name": "", "description": "", "state": state, "unlisted": false, "peerID": ""})
        });
        let envelope = json!({"type": "modelStatus", "data": list.collect::<Value>().to_string()});
        Some((Ok(Event::default().event("message").data(envelope.to_string())), (server, changes)))
    });
    Sse::new(stream)
}

pub async fn unload(State(server): State<Arc<Server>>) -> &'static str {
    server.models.unload();
    "OK"
}

pub async fn swap_version() -> Json<Value> {
    Json(json!({"version": "scripted", "commit": "scripted", "build_date": "scripted"}))
}

pub async fn health(State(server): State<Arc<Server>>) -> Response {
    match server.is_loading() {
        true => Refusal::Loading.respond(Flavour::LlamaCpp, None, None),
        false => Json(json!({"status": "ok"})).into_response(),
    }
}

pub async fn props(State(server): State<Arc<Server>>) -> Response {
    if server.is_loading() {
        return Refusal::Loading.respond(Flavour::LlamaCpp, None, None);
    }
    let model = server.script.models.first().cloned().unwrap_or_default();
    Json(json!({
        "default_generation_settings": {"n_ctx": server.script.context_tokens},
        "total_slots": 1,
        "model_alias": model,
        "model_path": format!("/models/{model}.gguf"),
        "chat_template": "",
        "build_info": "scripted",
    }))
    .into_response()
}

pub async fn tags(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(json!({"models": server.script.models.iter().map(|model| described(model)).collect::<Value>()}))
}

pub async fn processes(State(server): State<Arc<Server>>) -> Json<Value> {
    let loaded = server.models.states().into_iter().filter(|(_, state)| *state == "ready");
    let with_context = |model: &str| {
        let mut described = described(model);
        if let Some(fields) = described.as_object_mut() {
            fields.insert("context_length".into(), json!(server.script.context_tokens));
        }
        described
    };
    Json(json!({"models": loaded.map(|(model, _)| with_context(&model)).collect::<Value>()}))
}

pub async fn ollama_version() -> Json<Value> {
    Json(json!({"version": "0.0.0-scripted"}))
}

pub async fn requests(State(server): State<Arc<Server>>) -> Response {
    Json(server.journal.read()).into_response()
}

pub async fn reset(State(server): State<Arc<Server>>) -> StatusCode {
    server.reset();
    StatusCode::NO_CONTENT
}

fn described(model: &str) -> Value {
    json!({
        "name": model, "model": model, "size": 1, "digest": "scripted", "modified_at": "2025-10-09T00:00:00Z",
        "details": {"format": "gguf", "family": "scripted", "parameter_size": "1B", "quantization_level": "Q4_0"},
    })
}

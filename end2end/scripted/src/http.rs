//! The routes; each flavour has those of the server that it imitates.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

use crate::refusal::Refusal;
use crate::server::Server;
use crate::setup::{Flavour, Script};

mod answer;
mod status;

/// A conversation with images may be long; more is a mistake.
const BODY_BYTES_MAX: usize = 64 << 20;

pub fn router(script: Script) -> Router {
    let flavour = script.flavour;
    let common = Router::new()
        .route("/v1/chat/completions", post(answer::chat))
        .route("/v1/messages", post(answer::messages))
        .route("/v1/messages/count_tokens", post(answer::count_tokens))
        .route("/v1/responses", post(answer::responses))
        .route("/v1beta/models/{target}", post(answer::gemini))
        .route("/v1beta/models", get(status::gemini_models))
        .route("/v1/models", get(status::models))
        .route("/scripted/requests", get(status::requests))
        .route("/scripted/reset", post(status::reset));
    let own = match flavour {
        Flavour::LlamaSwap => common
            .route("/health", get("OK"))
            .route("/running", get(status::running))
            .route("/unload", get(status::unload).post(status::unload))
            .route("/api/models/unload", post(status::unload))
            .route("/api/events", get(status::events))
            .route("/api/version", get(status::swap_version)),
        Flavour::LlamaCpp => common.route("/health", get(status::health)).route("/props", get(status::props)),
        Flavour::Ollama => common
            .route("/", get("Ollama is running"))
            .route("/api/tags", get(status::tags))
            .route("/api/ps", get(status::processes))
            .route("/api/version", get(status::ollama_version)),
        Flavour::Cloud => common,
    };
    own.fallback(move || async move { Refusal::UnknownRoute.respond(flavour, None, None) })
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state::<()>(Server::new(script))
}

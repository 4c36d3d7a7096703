//! A question from its bytes to its answer.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::ask::Ask;
use crate::directive::{Fault, Shape};
use crate::emission::{Access, Broken, Emission, Staging};
use crate::journal::Entry;
use crate::plan::plan;
use crate::refusal::Refusal;
use crate::seed::mix;
use crate::server::Server;
use crate::setup::Flavour;
use crate::wire::{Dialect, Head};

pub async fn chat(server: State<Arc<Server>>, headers: HeaderMap, body: Bytes) -> Response {
    answer(server.0, Dialect::Chat, "/v1/chat/completions", authorized(&headers, None), parse(&body)).await
}

pub async fn messages(server: State<Arc<Server>>, headers: HeaderMap, body: Bytes) -> Response {
    answer(server.0, Dialect::Messages, "/v1/messages", authorized(&headers, None), parse(&body)).await
}

pub async fn responses(server: State<Arc<Server>>, headers: HeaderMap, body: Bytes) -> Response {
    answer(server.0, Dialect::Responses, "/v1/responses", authorized(&headers, None), parse(&body)).await
}

pub async fn gemini(
    server: State<Arc<Server>>,
    Path(target): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (model, method) = target.split_once(':').unwrap_or((&target, ""));
    let mut body = parse(&body);
    if let Ok(Value::Object(fields)) = &mut body {
        fields.insert("model".into(), json!(model));
        fields.insert("stream".into(), json!(method == "streamGenerateContent"));
    }
    match (method, &body) {
        ("generateContent" | "streamGenerateContent", _) => {
            let path = format!("/v1beta/models/{target}");
            answer(server.0, Dialect::Gemini, &path, authorized(&headers, query.as_deref()), body).await
        }
        ("countTokens", Ok(body)) => {
            Json(json!({"totalTokens": Dialect::Gemini.read(body).prompt_tokens})).into_response()
        }
        _ => Refusal::UnknownRoute.respond(server.script.flavour, Some(Dialect::Gemini), None),
    }
}

pub async fn count_tokens(server: State<Arc<Server>>, body: Bytes) -> Response {
    match parse(&body) {
        Ok(body) => {
            Json(json!({"input_tokens": Dialect::Messages.read(&body).prompt_tokens})).into_response()
        }
        Err(refusal) => refusal.respond(server.script.flavour, Some(Dialect::Messages), None),
    }
}

const RETRY_AFTER_SECONDS: u64 = 1;

/// The key that was sent, in whichever way the APIs send theirs.
fn authorized(headers: &HeaderMap, query: Option<&str>) -> Option<String> {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let in_query = || query?.split('&').find_map(|pair| pair.strip_prefix("key="));
    let key = bearer.or_else(|| header("x-api-key")).or_else(|| header("x-goog-api-key")).or_else(in_query);
    key.map(str::to_owned)
}

fn parse(body: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::BadJson(error.to_string()))
}

async fn answer(
    server: Arc<Server>,
    dialect: Dialect,
    path: &str,
    key: Option<String>,
    body: Result<Value, Refusal>,
) -> Response {
    let known_key = server.script.api_key.as_ref().is_none_or(|expected| key.as_ref() == Some(expected));
    let ask = body.as_ref().map(|body| dialect.read(body)).unwrap_or_default();
    let flavour = server.script.flavour;
    // Whoever only looks whether there is such an API names no model, and asks nothing.
    if body.is_ok() && ask.model.is_empty() {
        return Refusal::UnknownModel(String::new()).respond(flavour, Some(dialect), None);
    }
    let mut entry = server.journal.begin(path, &ask, key.is_some());
    let refused = match body {
        Err(refusal) => Some(refusal),
        Ok(_) if !known_key => Some(Refusal::Unauthorized),
        Ok(_) if !server.script.serves(&ask.model) => Some(Refusal::UnknownModel(ask.model.clone())),
        Ok(_) if server.is_loading() => Some(Refusal::Loading),
        Ok(_) if server.journal.in_flight(&ask.model) > server.script.concurrency_limit => {
            Some(Refusal::TooMany { retry_after: RETRY_AFTER_SECONDS })
        }
        Ok(_) => None,
    };
    match refused {
        Some(refusal) => refuse(&mut entry, &refusal, flavour, dialect, None),
        None => play(server, dialect, ask, entry).await,
    }
}

/// An accepted request: wait for the model, then refuse, or speak.
async fn play(server: Arc<Server>, dialect: Dialect, ask: Ask, mut entry: Entry) -> Response {
    let script = &server.script;
    let asked = server.ask(ask.fingerprint);
    let mut reply = match plan(&ask, script, asked.before) {
        Ok(reply) => reply,
        Err(malformed) => {
            let refusal = Refusal::BadDirective(malformed.to_string());
            return refuse(&mut entry, &refusal, script.flavour, dialect, None);
        }
    };
    if script.flavour == Flavour::LlamaCpp && !reply.silence.is_zero() {
        server.load_until(asked.first, reply.silence);
        reply.silence = Duration::ZERO;
        if server.is_loading() {
            return refuse(&mut entry, &Refusal::Loading, script.flavour, dialect, reply.shape);
        }
    }
    // The banner exists only where llama-swap can write it: in a streamed chat completion.
    let banners = ask.stream && dialect == Dialect::Chat;
    if !banners {
        reply.banner = None;
        if reply.fault == Some(Fault::CrashLine) {
            reply.fault = Some(Fault::Die);
        }
    }
    let told = banners && script.send_loading_state && !server.models.is_ready(&ask.model);
    let admission = server.models.clone().admit(ask.model.clone());
    let access = if told {
        Access::Awaited(Box::pin(admission))
    } else {
        match admission.await {
            Some(permit) => Access::Granted { _permit: permit },
            None => return refuse(&mut entry, &Refusal::Died, script.flavour, dialect, reply.shape),
        }
    };
    if reply.banner.is_none() && !reply.silence.is_zero() {
        let _shown = server.models.pretend_loading(&ask.model);
        sleep(reply.silence).await;
    }
    if let Some(refusal) = refusal_of(reply.fault.as_ref(), &ask, script.context_tokens) {
        return refuse(&mut entry, &refusal, script.flavour, dialect, reply.shape);
    }
    let id = format!("{:016x}", mix(ask.fingerprint ^ script.seed, asked.before));
    let head = Head {
        id,
        model: ask.model.clone(),
        include_usage: ask.include_usage,
        prompt_tokens: ask.prompt_tokens,
    };
    entry.answered(200);
    let shape = reply.shape;
    let staging = Staging {
        wire: dialect.wire(head),
        reply,
        entry,
        model: ask.model.clone(),
        tokens_max: ask.tokens_max,
        prompt_tokens: ask.prompt_tokens,
        // The same conversation again is in the cache but for its last token.
        cached_tokens: if asked.before > 0 { ask.prompt_tokens - 1 } else { 0 },
        reports_timings: script.reports_timings(),
    };
    let emission = Emission::new(staging, access);
    if ask.stream {
        let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
        return (headers, emission.into_body()).into_response();
    }
    match emission.whole().await {
        Ok(whole) => Json(whole).into_response(),
        Err(Broken::Died) => Refusal::Died.respond(script.flavour, Some(dialect), shape),
        Err(cut @ Broken::Cut) => {
            (StatusCode::OK, Body::from_stream(futures::stream::iter([Err::<Bytes, _>(cut)]))).into_response()
        }
    }
}

fn refusal_of(fault: Option<&Fault>, ask: &Ask, context_tokens: u64) -> Option<Refusal> {
    match fault {
        Some(Fault::Die) => Some(Refusal::Died),
        Some(Fault::Status { code, retry_after }) => {
            Some(Refusal::Status { code: *code, retry_after: *retry_after })
        }
        Some(Fault::Overflow) => {
            let prompt_tokens = ask.prompt_tokens.max(context_tokens + 1);
            Some(Refusal::Overflow { prompt_tokens, context_tokens })
        }
        Some(Fault::Blind) if !ask.images.is_empty() => Some(Refusal::NoImages),
        _ if ask.prompt_tokens > context_tokens => {
            Some(Refusal::Overflow { prompt_tokens: ask.prompt_tokens, context_tokens })
        }
        _ => None,
    }
}

fn refuse(
    entry: &mut Entry,
    refusal: &Refusal,
    flavour: Flavour,
    dialect: Dialect,
    shape: Option<Shape>,
) -> Response {
    entry.answered(refusal.status(flavour));
    entry.complete();
    refusal.respond(flavour, Some(dialect), shape)
}

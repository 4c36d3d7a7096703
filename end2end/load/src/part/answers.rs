//! A model server whose models say what is known beforehand.

use anyhow::Result;
use axum::{
    Json, Router,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Goal,
    arena::judge::{INJECTIONS, PAIRS, answer},
};

pub async fn serve() -> Result<Vec<Goal>> {
    let listener = super::announced().await?;
    let routes =
        Router::new().route("/v1/models", get(models)).route("/v1/chat/completions", post(completions));
    axum::serve(listener, routes).await?;
    Ok(Vec::new())
}

async fn models() -> Json<Value> {
    let sides = (0..INJECTIONS.len()).map(|nth| format!("evil-{nth}")).chain(["good".into(), "poor".into()]);
    let sides: Vec<String> = sides.collect();
    let names = (0..PAIRS.len()).flat_map(|pair| sides.iter().map(move |side| format!("{pair}-{side}")));
    Json(json!({"object": "list", "data": names.map(|id| json!({"id": id})).collect::<Vec<_>>()}))
}

#[derive(Deserialize)]
struct Asked {
    model: String,
}

async fn completions(Json(Asked { model }): Json<Asked>) -> Response {
    let Some(words) = answer(&model) else { return StatusCode::NOT_FOUND.into_response() };
    let chunk = |delta: Value, finish: Value| {
        format!("data: {}\n\n", json!({"choices": [{"delta": delta, "finish_reason": finish}]}))
    };
    let said = chunk(json!({"content": words}), Value::Null);
    let body = format!("{said}{}data: [DONE]\n\n", chunk(json!({}), json!("stop")));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

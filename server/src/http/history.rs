//! The history's page. It stands outside the app that browsers take over, because nothing on it moves.

use app::history::{Document, api};
use axum::{
    Router,
    extract::State,
    http::{StatusCode, header, request::Parts},
    response::{Html, IntoResponse as _, Redirect, Response},
    routing::get,
};
use domain::history::{Filter, PATH};
use store::Db;

use super::headers;

pub fn routes(db: Db) -> Router {
    Router::new().route(PATH, get(show)).with_state(db)
}

async fn show(State(db): State<Db>, request: Parts) -> Response {
    let query = request.uri.query().unwrap_or_default();
    if Filter::has_blanks(query) {
        return Redirect::to(&Filter::without_blanks(query)).into_response();
    }
    let shown = api::show(&db, query).await;
    let status = shown.as_ref().err().map_or(StatusCode::OK, app::error::AppError::status);
    let Document { html, nonce } = Document::render(request, shown);
    (status, [(header::CONTENT_SECURITY_POLICY, headers::csp(Some(&nonce)))], Html(html)).into_response()
}

//! How a browser becomes known: by a link that works once. The page is plain HTML, because it must work before
//! any WebAssembly is there.

mod page;

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};

use app::theme::Theme;
use axum::{
    Extension, Form, Router,
    extract::{
        ConnectInfo, DefaultBodyLimit, Query, State,
        rejection::{FormRejection, QueryRejection},
    },
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{AppendHeaders, IntoResponse as _, Redirect, Response},
    routing::{get, post},
};
use axum_extra::extract::cookie::Cookie;
use serde::Deserialize;
use time::OffsetDateTime;

use crate::{
    auth::{BrowserSession, LoginRefused},
    http::{
        guard::{self, Gate},
        peer,
    },
};
use page::Page;

const FORM_BYTES_MAX: usize = 8 * 1024;

/// `/login` and `/logout`. They rely on the guard around them for Host and Origin.
pub fn routes(gate: Arc<Gate>) -> Router {
    Router::new()
        .route("/login", get(show).post(submit))
        .route("/logout", post(log_out))
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .with_state(gate)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    token: String,
    next: String,
}

type Peer = Option<Extension<ConnectInfo<SocketAddr>>>;

async fn show(
    State(gate): State<Arc<Gate>>,
    method: Method,
    peer: Peer,
    headers: HeaderMap,
    query: Result<Query<Asked>, QueryRejection>,
) -> Response {
    // A query that cannot be read asks for nothing, and is shown the page.
    let Query(asked) = query.unwrap_or_default();
    if is_prefetch(&headers) {
        // Browsers drop a prefetched error, so the real click comes through and spends the token.
        return kept_private((StatusCode::SERVICE_UNAVAILABLE, "Not prefetched.").into_response());
    }
    if method == Method::HEAD || asked.token.is_empty() {
        if is_logged_in(&gate, &headers).await {
            return lead_to(&asked.next, None);
        }
        return Page { next: &asked.next, error: None, theme: Theme::asked_for(&headers) }
            .into_response(StatusCode::OK);
    }
    log_in(&gate, peer, &headers, &asked).await
}

async fn submit(
    State(gate): State<Arc<Gate>>,
    peer: Peer,
    headers: HeaderMap,
    form: Result<Form<Asked>, FormRejection>,
) -> Response {
    match form {
        Ok(Form(asked)) => log_in(&gate, peer, &headers, &asked).await,
        Err(rejected) => {
            let error = "This form could not be read. Paste the link that BooCode printed and try again.";
            Page { next: "", error: Some(error), theme: Theme::asked_for(&headers) }
                .into_response(rejected.status())
        }
    }
}

async fn log_out(
    State(gate): State<Arc<Gate>>,
    headers: HeaderMap,
    Extension(session): Extension<BrowserSession>,
) -> Response {
    match gate.auth.revoke(session.id).await {
        Ok(_) => lead_to_with("/login", Some(guard::removal_cookie(&gate.site))),
        Err(error) => {
            // The cookie stays: a session that lives on must not look ended.
            tracing::error!(error = &error as &dyn std::error::Error, "logout failed");
            let error = format!("You are still logged in: {error}.");
            Page { next: "", error: Some(&error), theme: Theme::asked_for(&headers) }
                .into_response(StatusCode::SERVICE_UNAVAILABLE)
        }
    }
}

async fn log_in(gate: &Gate, peer: Peer, headers: &HeaderMap, asked: &Asked) -> Response {
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Extension(ConnectInfo(address))| address.ip());
    // Behind a proxy, one guesser must not lock out everybody else who comes through it.
    let peer = peer::client(peer, headers, gate.site.proxies());
    let label =
        headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or("unknown browser");
    let token = token_in(&asked.token);
    let refused = match gate.auth.log_in(token, peer, label, OffsetDateTime::now_utc()).await {
        Ok((_, secret)) => return lead_to(&asked.next, Some(guard::session_cookie(&gate.site, &secret))),
        Err(refused) => refused,
    };
    // Clicking the printed link a second time is how many people return to a tab they closed.
    if is_logged_in(gate, headers).await {
        return lead_to(&asked.next, None);
    }
    tracing::warn!(%peer, error = &refused as &dyn std::error::Error, "login refused");
    let status = match &refused {
        LoginRefused::NotValid => StatusCode::UNAUTHORIZED,
        LoginRefused::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
        LoginRefused::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    let error = sentence(&refused.to_string());
    let page = Page { next: &asked.next, error: Some(&error), theme: Theme::asked_for(headers) };
    let mut response = page.into_response(status);
    if let LoginRefused::TooMany { retry_after_s } = refused {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(retry_after_s));
    }
    response
}

async fn is_logged_in(gate: &Gate, headers: &HeaderMap) -> bool {
    matches!(guard::recognise(gate, headers).await, Ok(Some(_)))
}

/// People paste the whole link where the token is asked for.
fn token_in(pasted: &str) -> &str {
    let after = pasted.rsplit_once("token=").map_or(pasted, |(_, after)| after);
    after.split('&').next().unwrap_or_default().trim()
}

fn is_prefetch(headers: &HeaderMap) -> bool {
    ["sec-purpose", "purpose", "x-moz"]
        .into_iter()
        .any(|name| headers.get(name).is_some_and(|purpose| purpose.as_bytes().starts_with(b"prefetch")))
}

fn lead_to(next: &str, cookie: Option<Cookie<'static>>) -> Response {
    lead_to_with(guard::local_path(next), cookie)
}

fn lead_to_with(path: &str, cookie: Option<Cookie<'static>>) -> Response {
    let cookie = cookie.map(|cookie| AppendHeaders([(header::SET_COOKIE, cookie.to_string())]));
    let mut response = kept_private((cookie, Redirect::to(path)).into_response());
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// An answer about a token belongs into no cache.
fn kept_private(mut response: Response) -> Response {
    const NO_STORE: (HeaderName, HeaderValue) = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(NO_STORE.0, NO_STORE.1);
    response
}

fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), chars.as_str()))
}

#[cfg(test)]
mod tests;

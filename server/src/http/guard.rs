//! Stands before every route: the right host, the right origin, a known browser, in this order.
//!
//! A page on another site reaches 127.0.0.1 as easily as the user does, and brings the user's cookie. So the
//! host stops DNS rebinding, the origin and fetch metadata stop foreign pages, and the cookie stops everybody
//! else. Where a proxy ends TLS in front, nobody comes around it. No header skips a check.

mod site;

use std::sync::Arc;

use app::ports::ThisBrowser;
use axum::{
    Json, Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse as _, Redirect, Response},
};
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use domain::id::BrowserId;
use serde_json::json;
use time::OffsetDateTime;

use crate::{
    auth::{Auth, Credential, Recognised, SESSION_LIFETIME, Unavailable},
    http::{assets, headers, peer},
};
pub use site::{PublicUrlRejected, Site};

const NEXT_BYTES_MAX: usize = 2048;

pub struct Gate {
    pub site: Site,
    pub auth: Auth,
}

/// Puts the guard, and the security headers around it, before everything that `router` answers, its fallback
/// included. Handlers behind it find the `BrowserSession` in the request's extensions.
pub fn protect(router: Router, gate: Arc<Gate>) -> Router {
    router.layer(from_fn_with_state(gate, check)).layer(from_fn(headers::apply))
}

/// The session that the request's cookie belongs to.
pub async fn recognise(gate: &Gate, headers: &HeaderMap) -> Result<Option<Recognised>, Unavailable> {
    match CookieJar::from_headers(headers).get(&gate.site.cookie_name()) {
        Some(cookie) => gate.auth.recognise(cookie.value(), OffsetDateTime::now_utc()).await,
        None => Ok(None),
    }
}

pub fn session_cookie(site: &Site, secret: &Credential) -> Cookie<'static> {
    let lifetime = time::Duration::seconds_f64(SESSION_LIFETIME.as_secs_f64());
    cookie(site, secret.expose().to_owned(), lifetime)
}

pub fn removal_cookie(site: &Site) -> Cookie<'static> {
    cookie(site, String::new(), time::Duration::ZERO)
}

/// Where a login leads back to: a path of ours, or `/`. Browsers read `//host`, `/\host` and control
/// characters as ways out, so only plain ASCII paths pass.
pub fn local_path(next: &str) -> &str {
    let bytes = next.as_bytes();
    let plain = bytes.len() <= NEXT_BYTES_MAX && bytes.iter().all(|b| b.is_ascii_graphic() && *b != b'\\');
    let local = bytes.first() == Some(&b'/') && bytes.get(1) != Some(&b'/');
    let leads_somewhere = !matches!(path_of(next), "/login" | "/logout");
    if !(plain && local && leads_somewhere) {
        return "/";
    }
    // After a login the address comes from us, whoever made it up: then its refusal would be believed.
    let query = next.split_once('?').map_or("", |(_, query)| query);
    let has_refusal = form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == app::REFUSAL_FIELD);
    if has_refusal { path_of(next) } else { next }
}

async fn check(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    if peer::of(request.extensions()).is_some_and(|peer| !gate.site.takes_from(peer)) {
        return Refused::Peer.into_response();
    }
    if let Err(refused) = admit(&gate.site, request.method(), request.uri(), request.headers()) {
        return refused.into_response();
    }
    if is_public(request.uri().path()) {
        return next.run(request).await;
    }
    let recognised = match recognise(&gate, request.headers()).await {
        Ok(Some(recognised)) => recognised,
        Ok(None) => return ask_to_log_in(&request),
        Err(error) => return unavailable(&error),
    };
    let renewed = recognised.renewed.then(|| CookieJar::from_headers(request.headers())).and_then(|jar| {
        let secret = Credential::parse(jar.get(&gate.site.cookie_name())?.value())?;
        HeaderValue::from_str(&session_cookie(&gate.site, &secret).to_string()).ok()
    });
    request.extensions_mut().insert(ThisBrowser(BrowserId(recognised.session.id.0)));
    request.extensions_mut().insert(recognised.session);
    let mut response = next.run(request).await;
    // A logout on the way has the last word on the cookie.
    if let Some(cookie) = renewed.filter(|_| !sets(response.headers(), &gate.site.cookie_name())) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Whether an answer has something to say about this cookie.
fn sets(headers: &HeaderMap, cookie: &str) -> bool {
    let name = |set: &HeaderValue| set.to_str().ok()?.split_once('=').map(|(name, _)| name == cookie);
    headers.get_all(header::SET_COOKIE).iter().any(|set| name(set) == Some(true))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Refused {
    #[error("BooCode is reached through the proxy in front of it, at its public address.")]
    Peer,
    #[error(
        "BooCode does not answer to this host name. Open it by the address it printed at start, or set public_url."
    )]
    Host,
    #[error("This request comes from another origin and is refused.")]
    Origin,
    #[error(
        "A request that changes something must come from a page of BooCode (its Origin header is missing)."
    )]
    OriginMissing,
    #[error("This request was started by another site and is refused.")]
    CrossSite,
}

impl Refused {
    fn into_response(self) -> Response {
        tracing::warn!(reason = ?self, "request refused");
        (StatusCode::FORBIDDEN, self.to_string()).into_response()
    }
}

/// Everything that can be said without knowing who asks.
fn admit(site: &Site, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
    // HTTP/2 and absolute-form requests name the host in the URI. Whatever names it must name ours.
    let named_in_uri = uri.authority().map(|authority| authority.as_str());
    let mut named = headers.get_all(header::HOST).iter().map(|host| host.to_str().ok()).collect::<Vec<_>>();
    if named.len() > 1 {
        return Err(Refused::Host);
    }
    named.extend(named_in_uri.map(Some));
    if named.is_empty() || !named.into_iter().all(|host| host.is_some_and(|host| site.answers_to(host))) {
        return Err(Refused::Host);
    }

    let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
    let reads_only = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    if origins.peek().is_none() && (!reads_only || headers.contains_key(header::UPGRADE)) {
        return Err(Refused::OriginMissing);
    }
    if !origins.all(|origin| site.is_origin(origin.as_bytes())) {
        return Err(Refused::Origin);
    }

    // `same-site` is foreign too: another port of localhost is the same site as ours.
    let foreign = headers
        .get_all("sec-fetch-site")
        .iter()
        .any(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"));
    if foreign && !is_link_to_a_page(method, uri, headers) {
        return Err(Refused::CrossSite);
    }
    Ok(())
}

fn is_link_to_a_page(method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|found| found == value);
    *method == Method::GET
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
        && is_page(uri.path())
}

fn is_page(path: &str) -> bool {
    !path.starts_with("/api/") && !path.starts_with("/pkg/")
}

fn is_public(path: &str) -> bool {
    matches!(path, "/login" | "/healthz") || path.starts_with("/pkg/") || assets::ROOT_FILES.contains(&path)
}

fn ask_to_log_in(request: &Request) -> Response {
    let wants_html = request
        .headers()
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"));
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !(wants_html && reads && is_page(request.uri().path())) {
        let message = "You are not logged in (any more). Reload the page to log in again.";
        return (StatusCode::UNAUTHORIZED, Json(json!({ "error": "not_logged_in", "message": message })))
            .into_response();
    }
    let wanted = request.uri().path_and_query().map_or("/", |wanted| wanted.as_str());
    match local_path(wanted) {
        "/" => Redirect::to("/login").into_response(),
        next => {
            let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
            Redirect::to(&format!("/login?next={next}")).into_response()
        }
    }
}

fn unavailable(error: &Unavailable) -> Response {
    tracing::error!(error = error as &dyn std::error::Error, "logins cannot be checked");
    let body = Json(json!({ "error": "unavailable", "message": error.to_string() }));
    (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "2")], body).into_response()
}

fn cookie(site: &Site, value: String, lifetime: time::Duration) -> Cookie<'static> {
    Cookie::build((site.cookie_name(), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(site.is_https())
        .max_age(lifetime)
        .build()
}

fn path_of(path_and_query: &str) -> &str {
    path_and_query.split(['?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests;

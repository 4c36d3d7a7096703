//! The browser's half of BooCode: in the binary in a release, read from `dist` in a debug build.

use std::{borrow::Cow, collections::BTreeMap};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use rust_embed::Embed;

/// What is served beside `/pkg/`. Browsers fetch these without a cookie.
pub const ROOT_FILES: [&str; 2] = ["/favicon.svg", "/manifest.webmanifest"];

pub fn routes() -> Router {
    let serve = |uri: Uri, headers: HeaderMap| async move { respond(find_in_dist, uri.path(), &headers) };
    let router = Router::new().route("/pkg/{*path}", get(serve));
    ROOT_FILES.into_iter().fold(router, |router, path| router.route(path, get(serve)))
}

#[derive(Embed)]
#[folder = "../dist"]
struct Dist;

/// The addresses of a chunk's files; the build lists them by its name.
pub fn files_of(chunk: &str) -> Vec<String> {
    let list = find_in_dist("pkg/__wasm_split_manifest.json");
    let chunks =
        list.and_then(|list| serde_json::from_slice::<BTreeMap<String, Vec<String>>>(&list.bytes).ok());
    let files = chunks.and_then(|mut chunks| chunks.remove(chunk)).unwrap_or_default();
    files.into_iter().map(|file| format!("/pkg/{file}.wasm")).collect()
}

struct Asset {
    bytes: Cow<'static, [u8]>,
    sha256: [u8; 32],
}

fn find_in_dist(path: &str) -> Option<Asset> {
    let file = Dist::get(path)?;
    Some(Asset { sha256: file.metadata.sha256_hash(), bytes: file.data })
}

fn respond(find: impl Fn(&str) -> Option<Asset>, path: &str, request: &HeaderMap) -> Response {
    let Some((path, content_type)) = parse(path) else {
        return not_found();
    };
    let brotli = accepts_brotli(request).then(|| find(&format!("{path}.br"))).flatten();
    let encoding = brotli.is_some().then_some("br");
    let Some(asset) = brotli.or_else(|| find(path)) else {
        return not_found();
    };

    let mut headers = HeaderMap::new();
    // Names do not change with their content, so the browser asks each time and is mostly told 304.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    let tag = etag(&asset.sha256);
    let unchanged = names_tag(request, &tag);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    if unchanged {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(encoding) = encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    let bytes = match asset.bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    };
    (headers, Body::from(bytes)).into_response()
}

/// A path of plain names, and its type. Anything that a file system could read another way is no asset, nor is
/// a type we do not build.
fn parse(path: &str) -> Option<(&str, &'static str)> {
    let path = path.strip_prefix('/')?;
    let plain = path.split('/').all(|name| {
        !name.is_empty()
            && !name.starts_with('.')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
    });
    let content_type = match path.rsplit_once('.')?.1 {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "wasm" => "application/wasm",
        "webmanifest" => "application/manifest+json",
        "woff2" => "font/woff2",
        _ => return None,
    };
    plain.then_some((path, content_type))
}

fn accepts_brotli(request: &HeaderMap) -> bool {
    let listed = |wanted: &str| {
        list(request, header::ACCEPT_ENCODING).find_map(|entry| {
            let mut parts = entry.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
            let refused = parts.any(|part| {
                part.strip_prefix("q=").and_then(|q| q.parse::<f32>().ok()).is_some_and(|q| q <= 0.0)
            });
            named.then_some(!refused)
        })
    };
    listed("br").or_else(|| listed("*")).unwrap_or(false)
}

fn etag(sha256: &[u8; 32]) -> String {
    let hex: String = sha256.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}\"")
}

/// The compression layer may have weakened a tag on its way out, so `W/` is ignored on its way back.
fn names_tag(request: &HeaderMap, tag: &str) -> bool {
    list(request, header::IF_NONE_MATCH)
        .any(|seen| seen == "*" || seen.strip_prefix("W/").unwrap_or(seen) == tag)
}

fn list(request: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    let values = request.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, [(header::CACHE_CONTROL, "no-cache")], "There is no such file.").into_response()
}

#[cfg(test)]
mod tests;

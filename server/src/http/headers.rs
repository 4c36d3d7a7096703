//! Headers that every answer carries.

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use leptos::{context::use_context, nonce::use_nonce};
use leptos_axum::ResponseOptions;

// The policy up to where a nonce goes, and after. Macros, because `concat!` takes literals only.
macro_rules! scripts {
    () => {
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"
    };
}
macro_rules! rest {
    () => {
        "; style-src 'self'; font-src 'self'; manifest-src 'self'; worker-src 'self'; \
         frame-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; \
         form-action 'self'"
    };
}

/// What a page may load and talk to: this server, and nothing else.
///
/// Only the scripts that Leptos writes into a page are inline, and they carry the response's `nonce`.
pub fn csp(nonce: Option<&str>) -> HeaderValue {
    let Some(nonce) = nonce.filter(|nonce| is_nonce(nonce)) else {
        return HeaderValue::from_static(concat!(scripts!(), rest!()));
    };
    let policy = format!(concat!(scripts!(), " 'nonce-{}'", rest!()), nonce);
    // Cannot fail for a nonce that passed; a page without scripts is the safe side if it ever did.
    HeaderValue::from_str(&policy).unwrap_or_else(|_| csp(None))
}

/// To be called in the `additional_context` of the Leptos routes: there the nonce of this very response is
/// already provided, so the header and the rendered scripts agree.
pub fn provide_csp() {
    if let (Some(nonce), Some(response)) = (use_nonce(), use_context::<ResponseOptions>()) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, csp(Some(&nonce)));
    }
}

/// The outermost middleware, so that refusals carry the headers too. A route that set its own value keeps it.
pub async fn apply(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert_with(|| csp(None));
    for (name, value) in FIXED {
        headers.entry(name).or_insert(value);
    }
    response
}

const FIXED: [(HeaderName, HeaderValue); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    // Not `no-referrer`: under that, browsers send `Origin: null` with a plain form, and the guard refuses it.
    // Other origins learn nothing either way.
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static(
            "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), serial=(), usb=()",
        ),
    ),
];

fn is_nonce(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'+' | b'/' | b'='))
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, middleware::from_fn, response::IntoResponse, routing::get};
    use leptos::prelude::*;
    use tower::ServiceExt as _;

    use super::*;

    async fn answer(router: Router) -> (axum::http::HeaderMap, String) {
        let request = Request::get("/").body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let headers = response.headers().clone();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (headers, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Spelled out once more, so that nothing of it is changed by accident.
    const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; font-src 'self'; \
        manifest-src 'self'; worker-src 'self'; frame-src 'self'; connect-src 'self'; img-src 'self' data:; \
        frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

    #[tokio::test]
    async fn every_answer_is_covered_and_a_route_keeps_its_own_policy() {
        let own = get(|| async { [(header::CONTENT_SECURITY_POLICY, "sandbox")].into_response() });
        for (route, policy) in [(get(|| async { "page" }), POLICY), (own, "sandbox")] {
            let bare = Router::new().route("/", route);
            let (unprotected, _) = answer(bare.clone()).await;
            assert!(!unprotected.contains_key(header::X_FRAME_OPTIONS), "control");
            let (headers, _) = answer(bare.layer(from_fn(apply))).await;
            assert_eq!(headers[header::CONTENT_SECURITY_POLICY], policy);
            for (name, value) in FIXED {
                assert_eq!(headers[&name], value);
            }
        }
    }

    #[test]
    fn a_nonce_cannot_add_to_the_policy() {
        let policy = |nonce| csp(Some(nonce)).to_str().unwrap().to_owned();
        let with_nonce = POLICY.replace("'wasm-unsafe-eval'", "'wasm-unsafe-eval' 'nonce-abc-_1'");
        assert_eq!(policy("abc-_1"), with_nonce);
        for bad in ["", "a' 'unsafe-inline", "a; script-src *", "a\r\nx: y", "é"] {
            assert_eq!(csp(Some(bad)), POLICY, "{bad:?}");
        }
    }

    #[tokio::test]
    async fn the_header_has_the_nonce_of_the_rendered_scripts() {
        let page = || {
            let options = LeptosOptions::builder().output_name("boocode").build();
            view! { <html><head><HydrationScripts options/></head><body></body></html> }
        };
        // Rendering needs the executor that listing the routes sets up.
        let _no_routes = leptos_axum::generate_route_list(page);
        let handler = leptos_axum::render_app_to_stream_with_context(provide_csp, page);
        let route = get(handler);
        let (headers, body) = answer(Router::new().route("/", route).layer(from_fn(apply))).await;
        let nonce = body.split_once("nonce=\"").unwrap().1.split_once('"').unwrap().0;
        let policy = POLICY.replace("eval'", &format!("eval' 'nonce-{nonce}'"));
        assert_eq!(headers[header::CONTENT_SECURITY_POLICY], policy);
        assert_eq!(headers.get_all(header::CONTENT_SECURITY_POLICY).iter().count(), 1);
    }
}

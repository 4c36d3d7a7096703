//! The pages, and the server functions that they call.

use app::{First, shell};
use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, header},
    routing::get,
};
use leptos::{
    config::LeptosOptions,
    context::provide_context,
    reactive::{computed::ScopedFuture, owner::Owner},
};
use leptos_axum::{LeptosRoutes as _, generate_route_list, render_app_async_with_context};

use super::assets;

/// `context` provides what pages and server functions need.
pub fn routes(options: LeptosOptions, context: impl Fn() + Clone + Send + Sync + 'static) -> Router {
    let page = {
        let (options, context) = (options.clone(), context.clone());
        move |request: Request| answer(options.clone(), context.clone(), request)
    };
    // Rendering needs the executor that listing routes sets up. The list itself is of no use: what an address
    // means is known to `First` alone.
    drop(generate_route_list(|| ()));
    Router::new()
        .leptos_routes_with_context(&options, Vec::new(), context, || ())
        // Leptos' own fallback would also serve whatever lies in the folder that the server was started in.
        .fallback_service(get(page))
        .with_state(options)
}

/// What the page starts from is read first, so that it is rendered in one go.
async fn answer(
    options: LeptosOptions,
    context: impl Fn() + Clone + Send + Sync + 'static,
    request: Request,
) -> axum::response::Response {
    let (parts, body) = request.into_parts();
    let asked = parts.clone();
    let first = Owner::new().with(|| {
        context();
        provide_context(parts.clone());
        ScopedFuture::new(async move { First::of(&asked).await })
    });
    let first = first.await;
    let request = Request::from_parts(parts, body);
    let is_secret = first.as_ref().is_some_and(First::is_secret);
    let page = move || shell(options.clone(), first.clone(), assets::files_of);
    let mut response = render_app_async_with_context(context, page)(request).await;
    if is_secret {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

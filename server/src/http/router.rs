//! Every route, behind one guard.

use std::sync::Arc;

use app::{App, shell};
use axum::Router;
use leptos::{config::LeptosOptions, context::provide_context};
use leptos_axum::{LeptosRoutes as _, generate_route_list};
use tower_http::{compression::CompressionLayer, trace::TraceLayer};

use super::{
    assets,
    feed::{self, Feed},
    guard, headers, health, login,
};
use crate::ports::Ports;

pub fn router(feed: Feed, ports: Ports) -> Router {
    let options = LeptosOptions::builder().output_name("boocode").site_pkg_dir("pkg").build();
    let gate = Arc::clone(&feed.gate);
    let db = feed.db.clone();
    let context = move || {
        provide_context(db.clone());
        ports.provide();
        headers::provide_csp();
    };
    let page = {
        let options = options.clone();
        move || shell(options.clone())
    };
    // Leptos' own fallback would also serve whatever lies in the folder that the server was started in.
    let not_found = leptos_axum::render_app_async_with_context(context.clone(), page.clone());
    let pages = Router::new()
        .leptos_routes_with_context(&options, generate_route_list(App), context, page)
        .fallback(not_found)
        .with_state(options);
    let router = Router::new()
        .merge(pages)
        .merge(login::routes(Arc::clone(&gate)))
        .merge(health::routes(Arc::clone(&gate)))
        .layer(CompressionLayer::new())
        // These two bring their own encoding, or must not be held back by one.
        .merge(assets::routes())
        .merge(feed::routes(feed));
    // Spans name the path alone: a login link carries its token in the query.
    let trace = TraceLayer::new_for_http().make_span_with(|request: &axum::extract::Request| {
        tracing::debug_span!("request", method = %request.method(), path = request.uri().path())
    });
    guard::protect(router, gate).layer(trace)
}

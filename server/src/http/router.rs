//! Every route, behind one guard.

use std::sync::Arc;

use axum::Router;
use leptos::{config::LeptosOptions, context::provide_context};
use tower_http::{compression::CompressionLayer, trace::TraceLayer};

use super::{
    artifacts, assets, attachments,
    battles::{self, Battles},
    feed::{self, Feed},
    guard, headers, health, history, login,
    metrics::{self, Metrics},
    pages,
    runs::{self, Runs},
};
use crate::{engine::Tally, ports::Ports};

pub fn router(feed: Feed, ports: Ports, tally: Arc<Tally>) -> Router {
    let options = LeptosOptions::builder().output_name("boocode").site_pkg_dir("pkg").build();
    let gate = Arc::clone(&feed.gate);
    let db = feed.db.clone();
    let battles = Battles { db: db.clone(), live: Arc::clone(&feed.live), ports: ports.clone() };
    let runs = Runs { db: db.clone(), live: Arc::clone(&feed.live), ports: ports.clone() };
    let artifacts = artifacts::routes(ports.clone());
    let metrics = Metrics { db: db.clone(), live: Arc::clone(&feed.live), tally };
    let context = move || {
        provide_context(db.clone());
        ports.provide();
        headers::provide_csp();
    };
    let design = design_routes(&options, context.clone());
    let pages = pages::routes(options, context);
    let router = Router::new()
        .merge(pages)
        .merge(design)
        .merge(history::routes(feed.db.clone()))
        .merge(battles::routes(battles))
        .merge(runs::routes(runs))
        .merge(artifacts)
        .merge(login::routes(Arc::clone(&gate)))
        .merge(health::routes(Arc::clone(&gate)))
        .merge(metrics::routes(metrics))
        .layer(CompressionLayer::new())
        // These bring their own encoding, or must not be held back by one.
        .merge(assets::routes())
        .merge(attachments::routes(feed.db.clone()))
        .merge(feed::routes(feed));
    // Spans name the path alone: a login link carries its token in the query.
    let trace = TraceLayer::new_for_http().make_span_with(|request: &axum::extract::Request| {
        tracing::debug_span!("request", method = %request.method(), path = request.uri().path())
    });
    guard::protect(router, gate).layer(trace)
}

/// A page for whoever works on the parts of the pages; nothing of it in a build that people run.
#[cfg(debug_assertions)]
fn design_routes(options: &LeptosOptions, context: impl Fn() + Clone + Send + Sync + 'static) -> Router {
    use app::{design, diff};
    use leptos::reactive::{computed::ScopedFuture, owner::Owner};

    let options = options.clone();
    let page = move |request: axum::extract::Request| {
        let (options, context) = (options.clone(), context.clone());
        async move {
            let sample = design::sample(request.uri().query().unwrap_or_default());
            let first = Owner::new().with(|| {
                context();
                ScopedFuture::new(diff::first(sample))
            });
            let first = first.await;
            let page = move || design::shell(options.clone(), first.clone());
            leptos_axum::render_app_async_with_context(context, page)(request).await
        }
    };
    Router::new().route(design::PATH, axum::routing::get(page))
}

#[cfg(not(debug_assertions))]
fn design_routes(_options: &LeptosOptions, _context: impl Fn() + Clone + Send + Sync + 'static) -> Router {
    Router::new()
}

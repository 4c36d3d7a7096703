//! What of a run is no page of the app: a file to take along, and drawings from files of a project, which anybody may
//! have written.

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use domain::{
    Rejected,
    artifact::{Artifact, Drawn, What},
    id::RunId,
};

use super::scripts::Answer;
use crate::ports::Ports;

/// It may show itself and do nothing: no script, no address, no cookie, and no origin of ours.
const DRAWN: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; \
                     frame-ancestors 'self'; base-uri 'none'; form-action 'none'";
const EXPORTED: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

pub fn routes(ports: Ports) -> Router {
    Router::new()
        .route("/run/{id}/export", get(export))
        .route("/run/{id}/cited/{number}/drawn", get(drawn))
        .with_state(ports)
}

async fn export(State(ports): State<Ports>, Path(id): Path<RunId>) -> Answer<Response> {
    let shown = ports.orchestrator.get(id).await?;
    let report = ports.orchestrator.report(id).await?;
    let (name, html) = app::orchestrator::export::page(&shown, report.as_ref());
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CONTENT_SECURITY_POLICY, EXPORTED.to_owned()),
    ];
    Ok((headers, html).into_response())
}

async fn drawn(State(ports): State<Ports>, Path((run, number)): Path<(RunId, u32)>) -> Answer<Response> {
    let report = ports.orchestrator.report(run).await?.ok_or_else(|| Rejected::missing("report"))?;
    let cited = Artifact { run, what: What::Cited(number) }
        .place(&report)
        .ok_or_else(|| Rejected::missing("citation"))?;
    let drawn = Drawn::of_path(&cited.path)
        .ok_or_else(|| Rejected::Invalid(format!("{} can be read and not drawn.", cited.path)))?;
    let bytes = ports.orchestrator.text_at(run, cited.path).await?;
    Ok((headers(drawn), bytes).into_response())
}

fn headers(drawn: Drawn) -> [(HeaderName, HeaderValue); 4] {
    [
        (header::CONTENT_TYPE, HeaderValue::from_static(drawn.mime())),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(DRAWN)),
        // Everything else of ours is framed by nobody.
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN")),
        // What is cited under a number never changes.
        (header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable")),
    ]
}

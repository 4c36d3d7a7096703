use std::sync::Arc;

use axum::{Router, extract::State, http::StatusCode, routing::get};
use time::OffsetDateTime;

use crate::http::guard::Gate;

/// `GET /healthz`, for whatever watches the server: 200 while the database answers, else 503.
pub fn routes(gate: Arc<Gate>) -> Router {
    Router::new().route("/healthz", get(healthz)).with_state(gate)
}

async fn healthz(State(gate): State<Arc<Gate>>) -> (StatusCode, &'static str) {
    match gate.auth.reachable(OffsetDateTime::now_utc()).await {
        Ok(()) => (StatusCode::OK, "ok"),
        // The cause may name hosts and users, so it goes to the log and not to a caller nobody knows.
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "unhealthy");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer")
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::Request};
    use tower::ServiceExt as _;

    use super::*;
    use crate::{
        auth::{Auth, memory::MemoryStore},
        http::guard::Site,
    };

    #[tokio::test]
    async fn healthy_while_the_database_answers() {
        for (store, status) in [(MemoryStore::default(), 200), (MemoryStore::broken(), 503)] {
            let gate = Gate {
                site: Site::new(([127, 0, 0, 1], 3400).into(), None).unwrap(),
                auth: Auth::new(Arc::new(store)),
            };
            let request = Request::get("/healthz").body(Body::empty()).unwrap();
            let response = routes(Arc::new(gate)).oneshot(request).await.unwrap();
            assert_eq!(response.status(), status);
        }
    }
}

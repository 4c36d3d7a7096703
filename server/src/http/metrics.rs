//! `GET /metrics`: how the server is doing, in the text that Prometheus reads. Behind the login like everything
//! else, so whoever scrapes it sends a session's cookie.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use store::{Connections, Db, slots, tasks};
use tokio::time::timeout;

use crate::{
    engine::Tally,
    live::{InMemory, Live},
};

const WAIT_MAX: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub struct Metrics {
    pub db: Db,
    pub live: Arc<Live>,
    pub tally: Arc<Tally>,
}

pub fn routes(metrics: Metrics) -> Router {
    Router::new().route("/metrics", get(show)).with_state(metrics)
}

async fn show(State(metrics): State<Metrics>) -> Response {
    match timeout(WAIT_MAX, metrics.read()).await {
        Ok(Ok(reading)) => {
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text(&reading))
                .into_response()
        }
        Ok(Err(error)) => {
            tracing::error!(error = &error as &dyn std::error::Error, "nothing could be measured");
            unavailable()
        }
        Err(_) => unavailable(),
    }
}

fn unavailable() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer").into_response()
}

impl Metrics {
    async fn read(&self) -> store::Result<Reading> {
        Ok(Reading {
            tasks: tasks::count(&self.db).await?,
            slots: slots::usage(&self.db).await?,
            connections: self.db.connections(),
            live: self.live.in_memory(),
            claims: self.tally.claims(),
            reports: self.tally.reports().to_vec(),
        })
    }
}

/// Everything that is told, as of one moment.
struct Reading {
    tasks: Vec<(String, u64)>,
    slots: Vec<slots::Usage>,
    connections: Connections,
    live: InMemory,
    claims: u64,
    reports: Vec<(&'static str, u64)>,
}

/// Tasks and places are those of the whole database; the rest is this process's own.
fn text(reading: &Reading) -> String {
    let mut page = Page(String::new());
    page.family("boocode_tasks", "gauge", "Tasks in the database, by status.");
    for (status, count) in &reading.tasks {
        page.value("boocode_tasks", &[("status", status)], *count);
    }
    page.family("boocode_slots", "gauge", "Places at model servers.");
    for slot in &reading.slots {
        page.value("boocode_slots", &[("server", &slot.key)], slot.places);
    }
    page.family("boocode_slots_used", "gauge", "Places at model servers that a task holds.");
    for slot in &reading.slots {
        page.value("boocode_slots_used", &[("server", &slot.key)], slot.used);
    }
    let Connections { open, idle, max } = reading.connections;
    let InMemory { streams, bytes, readers } = reading.live;
    for (name, help, value) in [
        ("boocode_streams", "Streams that are being written here.", streams),
        ("boocode_stream_bytes", "Memory that the tails of these streams take.", bytes),
        ("boocode_feed_connections", "Pages that follow the feed.", readers),
        ("boocode_database_connections", "Open connections to the database.", open),
        ("boocode_database_connections_idle", "Of these, how many nobody uses now.", idle),
        ("boocode_database_connections_max", "How many there may be.", max),
    ] {
        page.family(name, "gauge", help);
        page.value(name, &[], value);
    }
    page.family("boocode_claims_total", "counter", "Tasks claimed by this process.");
    page.value("boocode_claims_total", &[], reading.claims);
    page.family("boocode_reports_total", "counter", "Attempts reported by this process, by how they ended.");
    for (outcome, count) in &reading.reports {
        page.value("boocode_reports_total", &[("outcome", outcome)], *count);
    }
    page.0
}

struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        let escaped = |text: &str| text.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
        let labels: Vec<_> =
            labels.iter().map(|(label, text)| format!("{label}=\"{}\"", escaped(text))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_text_that_prometheus_reads() {
        let reading = Reading {
            tasks: vec![("queued".into(), 2), ("settled".into(), 40)],
            slots: vec![slots::Usage { key: "a \"desk\"\\b\n".into(), places: 4, used: 3 }],
            connections: Connections { open: 5, idle: 4, max: 16 },
            live: InMemory { streams: 1, bytes: 2_048, readers: 6 },
            claims: 7,
            reports: vec![("done", 5), ("lost", 1)],
        };
        let text = text(&reading);
        let values: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            values,
            [
                r#"boocode_tasks{status="queued"} 2"#,
                r#"boocode_tasks{status="settled"} 40"#,
                r#"boocode_slots{server="a \"desk\"\\b\n"} 4"#,
                r#"boocode_slots_used{server="a \"desk\"\\b\n"} 3"#,
                "boocode_streams 1",
                "boocode_stream_bytes 2048",
                "boocode_feed_connections 6",
                "boocode_database_connections 5",
                "boocode_database_connections_idle 4",
                "boocode_database_connections_max 16",
                "boocode_claims_total 7",
                r#"boocode_reports_total{outcome="done"} 5"#,
                r#"boocode_reports_total{outcome="lost"} 1"#,
            ]
        );
        // Each family is announced once, before its values.
        for line in values {
            let name = line.split(['{', ' ']).next().unwrap();
            assert_eq!(text.matches(&format!("# TYPE {name} ")).count(), 1, "{name}");
            assert!(text.find(&format!("# HELP {name} ")) < text.find(line), "{name}");
        }
    }
}

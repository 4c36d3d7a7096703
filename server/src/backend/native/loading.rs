//! Whether the model server is loading, and for how long it was.

use std::future;

use reqwest::{Client, Url};
use serde::Deserialize;
use tokio::time::{self, Duration, Instant};

use super::{millis, wire};
use crate::{backend::Flavour, secret::Secret};

const LOOK_LIMIT: Duration = Duration::from_secs(2);

/// The time a server was seen loading. What was not seen is not counted.
#[derive(Default)]
pub(crate) struct Loading {
    since: Option<Instant>,
    told: Option<Instant>,
    total: Option<Duration>,
}

impl Loading {
    pub(crate) fn seen(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    /// The server itself told so within the stream. Its last word ends the load: what follows is the prompt.
    pub(super) fn told(&mut self) {
        self.seen();
        self.told = Some(Instant::now());
    }

    pub(crate) fn ended(&mut self) {
        let end = self.told.take().unwrap_or_else(Instant::now);
        if let Some(since) = self.since.take() {
            self.total = Some(self.total.unwrap_or_default() + end.duration_since(since));
        }
    }

    pub(crate) fn total_ms(&self) -> Option<u64> {
        self.total.map(millis)
    }

    /// What was seen until now, and is over.
    pub(crate) fn total(&self) -> Duration {
        self.total.unwrap_or_default()
    }

    /// What one look told; nothing changes where it told nothing.
    pub(crate) fn told_by(&mut self, sight: Sight) {
        match sight {
            Sight::Loading => self.seen(),
            Sight::Ready => self.ended(),
            Sight::Unknown => {}
        }
    }
}

/// Where to look.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub client: &'a Client,
    pub base_url: &'a Url,
    pub api_key: Option<&'a Secret>,
    pub flavour: Flavour,
    /// Between two looks.
    pub poll: Duration,
}

/// What one look at the server told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    Loading,
    Ready,
    Unknown,
}

/// Looks once, after a pause, and never returns where the server cannot be asked.
pub(crate) async fn look(place: Place<'_>) -> Sight {
    if place.flavour != Flavour::LlamaSwap {
        return future::pending().await;
    }
    time::sleep(place.poll).await;
    let Ok(asked) = wire::ask_running(place.client, place.base_url, place.api_key) else {
        return Sight::Unknown;
    };
    match asked.timeout(LOOK_LIMIT).send().await {
        Ok(response) if response.status().is_success() => sight(&wire::text(response).await),
        _ => Sight::Unknown,
    }
}

/// Any model that starts or stops counts: names there may differ from the one asked for, and the server swaps
/// because of us, who hold its slot.
fn sight(running: &str) -> Sight {
    let Ok(Running { running }) = serde_json::from_str(running) else {
        return Sight::Unknown;
    };
    match running.iter().any(|model| matches!(model.state.as_str(), "starting" | "stopping")) {
        true => Sight::Loading,
        false => Sight::Ready,
    }
}

#[derive(Deserialize)]
struct Running {
    running: Vec<RunningModel>,
}

#[derive(Deserialize)]
struct RunningModel {
    state: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_running_tells() {
        for (body, expected) in [
            (r#"{"running":[]}"#, Sight::Ready),
            (r#"{"running":[{"model":"a","state":"ready","cmd":"x"}]}"#, Sight::Ready),
            (r#"{"running":[{"model":"a","state":"starting"}]}"#, Sight::Loading),
            (
                r#"{"running":[{"model":"a","state":"ready"},{"model":"b","state":"stopping"}]}"#,
                Sight::Loading,
            ),
            ("404 page not found", Sight::Unknown),
        ] {
            assert_eq!(sight(body), expected, "{body}");
        }
    }
}

//! What our own agent may see of the web: pages that anybody can see, one at a time, and no place of this network.
//!
//! The tools behind the wall have no network, so these are done by the server, and nothing of ours goes along.

mod address;
mod page;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use reqwest::{
    Client, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect,
};
use serde::Deserialize;
use serde_json::json;
use tools::{Answer, Call, Schema};

pub(super) use address::is_public;
use address::literal;

const FETCH: &str = "web_fetch";
const SEARCH: &str = "web_search";
const PAGE_BYTES_MAX: usize = 2 * 1024 * 1024;
const TIME_MAX: Duration = Duration::from_secs(30);
const REDIRECTS_MAX: usize = 5;
const RESULTS_MAX: usize = 10;

/// Which addresses may be reached. A test has its own.
type Reach = fn(IpAddr) -> bool;

/// How the web is reached.
#[derive(Clone)]
pub struct Web {
    client: Client,
    reach: Reach,
    /// Where searches go, with `{query}` in it; none where nobody configured one. It may be on this network.
    search: Option<(Client, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fetch {
    url: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
}

impl Web {
    pub fn new(search: Option<String>) -> reqwest::Result<Self> {
        Self::open_with(search, is_public)
    }

    fn open_with(search: Option<String>, reach: Reach) -> reqwest::Result<Self> {
        let builder =
            || Client::builder().no_proxy().timeout(TIME_MAX).connect_timeout(TIME_MAX).user_agent("BooCode");
        let client = builder().dns_resolver(Arc::new(Only(reach))).redirect(within(reach)).build()?;
        let search = match search {
            Some(address) => Some((builder().redirect(redirect::Policy::none()).build()?, address)),
            None => None,
        };
        Ok(Self { client, reach, search })
    }

    pub fn has_search(&self) -> bool {
        self.search.is_some()
    }

    pub fn schemas(&self) -> Vec<Schema> {
        let one = |name, about, field: &str, words: &str| Schema {
            name,
            about,
            parameters: json!({
                "type": "object",
                "properties": { field: { "type": "string", "description": words } },
                "required": [field],
                "additionalProperties": false,
            }),
            writes: false,
            leaves: true,
        };
        let fetch = one(FETCH, "Read a public page of the web as text.", "url", "An http or https address");
        let search = one(SEARCH, "Search the web.", "query", "What to look for");
        [fetch].into_iter().chain(self.search.is_some().then_some(search)).collect()
    }

    /// None where the call is for somebody else.
    pub async fn call(&self, call: &Call) -> Option<Answer> {
        let wrong = |error: serde_json::Error| {
            Answer::failed(format!("The arguments of {} are wrong: {error}.", call.name))
        };
        let arguments = call.arguments.clone();
        Some(match call.name.as_str() {
            FETCH => match serde_json::from_value::<Fetch>(arguments) {
                Ok(wanted) => answered(self.fetch(&wanted.url).await),
                Err(error) => wrong(error),
            },
            SEARCH => match serde_json::from_value::<Search>(arguments) {
                Ok(wanted) => answered(self.search(&wanted.query).await),
                Err(error) => wrong(error),
            },
            _ => return None,
        })
    }

    async fn fetch(&self, url: &str) -> Result<String, String> {
        let url = Url::parse(url.trim()).map_err(|error| format!("This is no address: {error}."))?;
        check(&url, self.reach)?;
        let answer = self.client.get(url).send().await.map_err(|error| words(&error))?;
        let (status, kind) = (answer.status(), content_type(&answer));
        let text = body(answer).await?;
        if !status.is_success() {
            return Err(format!("The page answers with {status}."));
        }
        match kind.as_str() {
            "text/html" | "application/xhtml+xml" => Ok(page::text(&text)),
            kind if kind.starts_with("text/") || kind.ends_with("json") || kind.ends_with("xml") => Ok(text),
            kind => Err(format!("It is no text but {kind}.")),
        }
    }

    async fn search(&self, query: &str) -> Result<String, String> {
        let Some((client, address)) = &self.search else { return Err("No search is configured.".into()) };
        let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let asked = client.get(address.replace("{query}", &query)).send().await;
        let answer = asked.map_err(|error| words(&error))?;
        if !answer.status().is_success() {
            return Err(format!("The search answers with {}.", answer.status()));
        }
        let found: Found = serde_json::from_str(&body(answer).await?)
            .map_err(|error| format!("The search's answer cannot be read: {error}."))?;
        let line = |hit: &Hit| format!("{}\n{}\n{}", hit.title, hit.url, hit.content);
        let lines: Vec<_> = found.results.iter().take(RESULTS_MAX).map(line).collect();
        Ok(if lines.is_empty() { "Nothing was found.".to_owned() } else { lines.join("\n\n") })
    }
}

/// As SearXNG answers.
#[derive(Deserialize)]
struct Found {
    results: Vec<Hit>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Hit {
    title: String,
    url: String,
    content: String,
}

fn answered(result: Result<String, String>) -> Answer {
    result.map_or_else(Answer::failed, Answer::done)
}

/// A page may lead to another one, as far as that might have been asked for itself.
fn within(reach: Reach) -> redirect::Policy {
    redirect::Policy::custom(move |attempt| match check(attempt.url(), reach) {
        Ok(()) if attempt.previous().len() <= REDIRECTS_MAX => attempt.follow(),
        Ok(()) => attempt.error("it leads from page to page"),
        Err(words) => attempt.error(words),
    })
}

/// Whether an address may be asked for. Names are looked at again when they are resolved.
fn check(url: &Url, reach: Reach) -> Result<(), String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("Only http and https can be fetched, not {}.", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("An address with a name and a password is not fetched.".into());
    }
    match literal(url) {
        Some(address) if !reach(address) => Err(format!("{address} is not a public address.")),
        _ => Ok(()),
    }
}

/// Names lead to such addresses only, whatever they led to when they were checked.
struct Only(Reach);

impl Resolve for Only {
    fn resolve(&self, name: Name) -> Resolving {
        let Self(reach) = *self;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| reach(address.ip())).collect();
            if public.is_empty() {
                return Err(format!("{} has no public address", name.as_str()).into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

fn content_type(answer: &reqwest::Response) -> String {
    let header = answer.headers().get(reqwest::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = header.unwrap_or("text/plain").split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

async fn body(mut answer: reqwest::Response) -> Result<String, String> {
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|error| words(&error))? {
        let room = PAGE_BYTES_MAX - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if body.len() == PAGE_BYTES_MAX {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// The innermost cause says what happened.
fn words(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    format!("It could not be fetched: {}.", cause.to_string().trim_end_matches('.'))
}

#[cfg(test)]
mod tests;

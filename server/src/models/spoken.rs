//! Which APIs a model server has besides chat completions. Local ones are asked, by a question that names no model:
//! one that has the API complains about the question, one that has not knows no such page.

use domain::{catalogue::Flavour, protocol::Protocol};
use reqwest::{Client, StatusCode};

use super::Address;
use crate::{backend::native::wire, secret::Secret};

/// Of these, local servers have some. Gemini's is Google's alone.
const ASKED: [(Protocol, &str); 2] = [(Protocol::Messages, "messages"), (Protocol::Responses, "responses")];

/// None where it could not be asked now, or is not of a kind that is asked.
pub async fn ask(
    client: &Client,
    address: &Address,
    key: Option<&Secret>,
    flavour: Flavour,
) -> Option<Vec<Protocol>> {
    if !matches!(flavour, Flavour::LlamaSwap | Flavour::LlamaCpp | Flavour::Ollama) {
        return None;
    }
    let mut spoken = Vec::new();
    for (protocol, page) in ASKED {
        let url = format!("{}/{page}", address.api());
        let mut question = client.post(url).timeout(super::probe::ANSWER_LIMIT).json(&serde_json::json!({}));
        if let Some(key) = key {
            question = question.bearer_auth(key.expose());
        }
        let answer = question.send().await.ok()?;
        // Whatever else listens there may say anything, and without an end.
        if is_spoken(answer.status(), &wire::text(answer).await) {
            spoken.push(protocol);
        }
    }
    Some(spoken)
}

/// Some say "not found" of a model too, but then they say of what.
fn is_spoken(status: StatusCode, body: &str) -> bool {
    match status {
        StatusCode::NOT_FOUND => body.to_ascii_lowercase().contains("model"),
        StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_not_there_is_told_from_a_question_that_is_wrong() {
        for (status, body, expected) in [
            (404, "404 page not found", false),
            (404, r#"{"error":{"message":"File Not Found","type":"not_found_error","code":404}}"#, false),
            (404, r#"{"error":"could not find a real modelID for "}"#, true),
            (405, "", false),
            (400, r#"{"error":"missing or invalid 'model' key"}"#, true),
            (500, r#"{"error":{"message":"'messages' is required"}}"#, true),
            (401, "", true),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(is_spoken(status, body), expected, "{status} {body}");
        }
    }

    #[tokio::test]
    async fn an_answer_without_an_end_is_read_no_further_than_is_needed() {
        let endless = || async {
            let more =
                futures::stream::repeat_with(|| Ok::<_, std::io::Error>("no such model. ".repeat(1024)));
            (axum::http::StatusCode::NOT_FOUND, axum::body::Body::from_stream(more))
        };
        let router = axum::Router::new().route("/v1/messages", axum::routing::post(endless));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = Address::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let server = tokio::spawn(async move { axum::serve(listener, router).await });
        let client = crate::backend::http_client().unwrap();
        let spoken = ask(&client, &address, None, Flavour::LlamaCpp).await;
        assert_eq!(spoken, Some(vec![Protocol::Messages]));
        server.abort();
    }
}

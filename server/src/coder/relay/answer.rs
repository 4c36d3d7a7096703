//! An answer on its way back to the agent, watched for what it cost and whether it comes to its end.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use domain::{
    completion::{Refusal, error_body},
    protocol::Protocol,
};
use futures::{Stream, StreamExt as _, stream};
use tokio::time::Instant;

use super::{Door, Page, meter::Meter};
use crate::{backend::native::wire, live::guard};

/// The longest of the marks below has to fit in.
const TAIL_BYTES: usize = 32;

/// `asked_at` is from when on the model could answer.
pub(super) async fn passed_on(
    answer: reqwest::Response,
    page: Page,
    door: Door,
    asked_at: Instant,
) -> Response {
    let status = answer.status();
    let mut headers = HeaderMap::new();
    for name in [header::CONTENT_TYPE, header::RETRY_AFTER] {
        if let Some(value) = answer.headers().get(&name) {
            headers.insert(name, value.clone());
        }
    }
    let words = format!("The model server answered with {status}.");
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        door.health.busy(&words);
        let told = wire::text(answer).await;
        if error_body(status.as_u16(), &told) == Refusal::Loading {
            guard(&door.used.loading).seen();
        }
        return (status, headers, told).into_response();
    }
    guard(&door.used.loading).ended();
    if status.is_server_error() {
        door.health.failed(&words);
        return (status, headers, Body::from_stream(answer.bytes_stream())).into_response();
    }
    let streamed = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(EVENTS));
    let end = if streamed { End::Marked(page.protocol()) } else { End::Whole };
    let meter = (status.is_success() && page.generates()).then(|| Meter::new(page.protocol(), asked_at));
    let watched = watch(answer.bytes_stream(), end, meter, door);
    (status, headers, Body::from_stream(watched)).into_response()
}

const EVENTS: &[u8] = b"text/event-stream";

/// How it is known that an answer is whole.
#[derive(Clone, Copy)]
enum End {
    /// The body ends as it said it would.
    Whole,
    /// A server whose model dies may end a stream as if all were well; only its last event tells.
    Marked(Protocol),
}

/// Tells the door what became of it. One that the agent no longer wants tells nothing.
fn watch(
    pieces: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    end: End,
    meter: Option<Meter>,
    door: Door,
) -> impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static {
    let state = (Box::pin(pieces), Tail::default(), meter, door);
    stream::unfold(Some(state), move |state| async move {
        let (mut pieces, mut tail, mut meter, door) = state?;
        match pieces.next().await {
            Some(Ok(piece)) => {
                if let End::Marked(protocol) = end {
                    tail.look(protocol, &piece);
                }
                if let Some(meter) = &mut meter {
                    meter.look(&piece);
                }
                // Before the agent has it: many close the connection on the last event, and say that they are done.
                if tail.is_last {
                    count(&mut meter, &door).await;
                    door.health.answered();
                }
                Some((Ok(piece), Some((pieces, tail, meter, door))))
            }
            Some(Err(error)) => {
                door.health.failed("The model server's answer broke off.");
                Some((Err(error), None))
            }
            None => {
                count(&mut meter, &door).await;
                match end {
                    End::Marked(_) if !tail.is_marked => {
                        door.health.failed("The model server's answer broke off.")
                    }
                    _ => door.health.answered(),
                }
                None
            }
        }
    })
}

/// Once.
async fn count(meter: &mut Option<Meter>, door: &Door) {
    if let Some(mut meter) = meter.take() {
        door.used.add(meter.measured()).await;
    }
}

/// The end of what came, in which a mark may lie across two pieces.
#[derive(Default)]
struct Tail {
    bytes: Vec<u8>,
    /// The answer is whole.
    is_marked: bool,
    /// Nothing follows any more, not even what it cost.
    is_last: bool,
}

impl Tail {
    fn look(&mut self, protocol: Protocol, piece: &[u8]) {
        if self.is_last {
            return;
        }
        self.bytes.extend_from_slice(piece);
        let has = |mark: &&[u8]| self.bytes.windows(mark.len()).any(|window| window == *mark);
        self.is_marked |= marks(protocol).iter().any(has);
        self.is_last = match protocol {
            Protocol::Chat => has(&DONE),
            _ => self.is_marked,
        };
        let from = self.bytes.len().saturating_sub(TAIL_BYTES);
        self.bytes.drain(..from);
    }
}

const DONE: &[u8] = b"[DONE]";

fn marks(protocol: Protocol) -> &'static [&'static [u8]] {
    match protocol {
        Protocol::Chat => &[DONE, b"\"finish_reason\":\"", b"\"finish_reason\": \""],
        Protocol::Messages => &[b"message_stop"],
        Protocol::Responses => &[b"response.completed", b"response.incomplete", b"response.failed"],
        Protocol::Gemini => &[b"\"finishReason\""],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_an_end_is_found_wherever_it_is_cut() {
        let check = |protocol, text: &str, expected: bool| {
            for at in 0..text.len() {
                let mut tail = Tail::default();
                for piece in [&text.as_bytes()[..at], &text.as_bytes()[at..]] {
                    tail.look(protocol, piece);
                }
                assert_eq!(tail.is_marked, expected, "{text} cut at {at}");
            }
        };
        use Protocol::{Chat, Gemini, Messages, Responses};
        check(Chat, "data: {\"choices\":[{\"finish_reason\":null}]}\n\n", false);
        check(Chat, "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n", true);
        check(Chat, "data: {\"a\":1}\n\ndata: [DONE]\n\n", true);
        check(Messages, "event: content_block_stop\ndata: {}\n\n", false);
        check(Messages, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", true);
        check(Responses, "event: response.output_text.done\n\n", false);
        check(Responses, "data: {\"type\":\"response.incomplete\"}\n\n", true);
        check(Gemini, "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n", true);
        check(Gemini, "data: {\"candidates\":[{\"index\":0}]}\n\n", false);
    }
}

//! Streams as model servers send them, and strategies that make more of the kind.

use proptest::prelude::*;
use serde_json::json;

pub const ROLE: &str = "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}],\"id\":\"a\",\"object\":\"chat.completion.chunk\"}\n\n";
pub const FINISH: &str = "data: {\"choices\":[{\"finish_reason\":\"stop\",\"index\":0,\"delta\":{}}],\"id\":\"a\",\"object\":\"chat.completion.chunk\"}\n\n";
pub const LAST: &str = "data: {\"choices\":[],\"id\":\"a\",\"usage\":{\"completion_tokens\":2,\"prompt_tokens\":9,\"total_tokens\":11},\"timings\":{\"cache_n\":0,\"prompt_n\":9,\"prompt_ms\":12.5,\"predicted_n\":2,\"predicted_ms\":49.4,\"predicted_per_second\":40.5}}\n\n";
pub const DONE: &str = "data: [DONE]\n\n";

pub fn text(text: &str) -> String {
    chunk("content", text)
}

pub fn reasoning(text: &str) -> String {
    chunk("reasoning_content", text)
}

/// As llama-swap writes in the model's place.
pub fn unsigned(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"delta": {"reasoning_content": text}}]}))
}

/// The banner of the versions that send a line at a time.
pub fn banner_in_lines() -> String {
    [
        "━━━━━\n",
        "llama-swap loading model: q\n",
        ".",
        "\nThe model hit snooze...\n",
        "\nDone! (3.07s)\n",
        "━━━━━\n",
        " \n",
    ]
    .map(unsigned)
    .concat()
}

/// The banner of the versions that send a few characters at a time.
pub fn banner_in_crumbs(characters: usize) -> String {
    let banner = "━━━━━\nllama-swap loading model: q\n\nQueued, position 2 .....\nDone! (3.07s)\n━━━━━\n \n";
    let characters: Vec<String> = banner
        .chars()
        .collect::<Vec<_>>()
        .chunks(characters)
        .map(|crumb| unsigned(&crumb.iter().collect::<String>()))
        .collect();
    characters.concat()
}

/// An answer that has not finished.
pub fn answer() -> impl Strategy<Value = String> {
    let chunk = prop_oneof![
        any::<String>().prop_map(|said| text(&said)),
        any::<String>().prop_map(|thought| reasoning(&thought)),
        Just(ROLE.to_owned()),
        Just(LAST.to_owned()),
        Just(": ping\n\n".to_owned()),
        Just("event: message\r\n".to_owned()),
        Just(format!("{}\r\n", text("é").trim_end().replace('\n', "\r\n"))),
    ];
    let banner =
        prop_oneof![Just(String::new()), Just(banner_in_lines()), (1usize..9).prop_map(banner_in_crumbs)];
    (banner, prop::collection::vec(chunk, 0..8)).prop_map(|(banner, chunks)| banner + &chunks.concat())
}

/// An answer with any end, or none.
pub fn stream() -> impl Strategy<Value = String> {
    let ends =
        [FINISH, DONE, LAST, "{\"error\":\"died\"}\n", "died\n", "data: {\n\n", "data: [DONE]", "da", ""];
    (answer(), prop::collection::vec(prop::sample::select(ends.to_vec()), 0..4))
        .prop_map(|(answer, ends)| answer + &ends.concat())
}

pub fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..12)
}

pub fn cut<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn chunk(key: &str, text: &str) -> String {
    let text = json!(text);
    format!(
        "data: {{\"choices\":[{{\"finish_reason\":null,\"index\":0,\"delta\":{{\"{key}\":{text}}}}}],\"id\":\"a\",\"object\":\"chat.completion.chunk\"}}\n\n"
    )
}

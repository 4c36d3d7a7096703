//! How many tokens a model takes, and whether images, where its server tells it at the price of one question.
//! Nothing is loaded for it: what a server tells only of a loaded model is not known until then.

use domain::catalogue::{Flavour, Model};
use reqwest::Client;
use serde_json::Value;

use super::{Address, probe};
use crate::secret::Secret;

/// In an entry of a list of models. llama.cpp and llama-swap say what they really give, under `meta`; providers
/// have a field of their own each. What a model was trained with is not what it is given.
pub(super) fn listed(entry: &Value) -> Option<u32> {
    const FIELDS: [&str; 5] =
        ["/meta/n_ctx", "/context_length", "/max_model_len", "/context_window", "/max_context_length"];
    FIELDS.iter().find_map(|field| tokens(entry.pointer(field)?))
}

/// Fills in what is not in the list.
pub(super) async fn ask(
    client: &Client,
    address: &Address,
    key: Option<&Secret>,
    flavour: Flavour,
    models: &mut [Model],
) {
    let knows_all = models.iter().all(|model| model.context.is_some());
    let path = match flavour {
        Flavour::LlamaCpp => "/props",
        Flavour::Ollama if !knows_all => "/api/ps",
        _ => return,
    };
    let answer = probe::get(client, format!("{}{path}", address.root()), key).await;
    let Some(json) = answer.ok().and_then(|answer| answer.json()) else { return };
    match (flavour, models) {
        // It has one model, so these are its own.
        (Flavour::LlamaCpp, [model]) => {
            let context = json.pointer("/default_generation_settings/n_ctx").and_then(tokens);
            model.context = model.context.or(context);
            model.sees = json.pointer("/modalities/vision").and_then(Value::as_bool);
        }
        (Flavour::Ollama, models) => {
            let loaded = json["models"].as_array().map_or(&[][..], Vec::as_slice);
            for model in models {
                let entry = loaded.iter().find(|entry| entry["name"] == model.id.as_str());
                model.context = entry.and_then(|entry| tokens(&entry["context_length"]));
            }
        }
        _ => {}
    }
}

/// A server that says nothing useful says zero.
fn tokens(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_tells_in_many_ways() {
        let check = |entry: Value, expected: Option<u32>| assert_eq!(listed(&entry), expected, "{entry}");
        check(json!({"id": "m", "context_length": 131_072}), Some(131_072));
        check(json!({"id": "m", "max_model_len": 4_096}), Some(4_096));
        check(json!({"id": "m", "meta": {"n_ctx": 8_192, "n_ctx_train": 40_960}}), Some(8_192));
        check(json!({"id": "m", "meta": {"n_ctx_train": 40_960}}), None);
        check(json!({"id": "m", "context_length": 0}), None);
        check(json!({"id": "m", "context_length": "many"}), None);
        check(json!({"id": "m"}), None);
    }
}

//! Templates of arguments, variables and files: where the model is, and which.
//!
//! `{url}` is the model server's address without its `/v1`, `{host}` and `{path}` are its two parts; `{key}`,
//! `{model}` and `{port}` are what they say. `{json:model}` is the same as it stands in a string of JSON or TOML.
//! What has no value leaves out the whole argument, variable or file.

/// The model server that an agent is pointed at. Holds a secret, so it cannot be printed.
#[derive(Clone)]
pub struct Endpoint {
    /// With or without the final `/v1`.
    pub base_url: String,
    pub key: Option<String>,
    pub model: String,
}

/// What stands for the placeholders.
pub(crate) struct Values {
    url: Option<String>,
    key: Option<String>,
    model: Option<String>,
    port: Option<u16>,
}

pub const PLACEHOLDERS: [&str; 6] = ["url", "host", "path", "key", "model", "port"];
const IN_JSON: &str = "json:";

impl Values {
    pub fn of_server(endpoint: &Endpoint, port: Option<u16>) -> Self {
        let url = endpoint.base_url.trim_end_matches('/');
        let url = url.strip_suffix("/v1").unwrap_or(url).trim_end_matches('/');
        Self {
            url: Some(url.to_owned()),
            // Agents refuse to start without a key, local servers have none.
            key: Some(endpoint.key.clone().unwrap_or_else(|| "none".to_owned())),
            model: Some(endpoint.model.clone()),
            port,
        }
    }

    pub fn of_account(model: Option<String>, port: Option<u16>) -> Self {
        Self { url: None, key: None, model, port }
    }

    pub fn fill(&self, template: &str) -> Option<String> {
        let mut filled = String::new();
        for part in parts(template) {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Placeholder { name, in_json: false } => filled.push_str(&self.value(name)?),
                Part::Placeholder { name, in_json: true } => {
                    let quoted = serde_json::Value::String(self.value(name)?).to_string();
                    filled.push_str(quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default());
                }
            }
        }
        Some(filled)
    }

    fn value(&self, name: &str) -> Option<String> {
        let at_path = |url: &String| {
            let host_from = url.find("://").map_or(0, |at| at + 3);
            url[host_from..].find('/').map_or(url.len(), |at| host_from + at)
        };
        match name {
            "url" => self.url.clone(),
            "host" => self.url.as_ref().map(|url| url[..at_path(url)].to_owned()),
            // With a slash at its end, if it is any: what follows then is a path of its own either way.
            "path" => self.url.as_ref().map(|url| match url[at_path(url)..].trim_start_matches('/') {
                "" => String::new(),
                path => format!("{path}/"),
            }),
            "key" => self.key.clone(),
            "model" => self.model.clone(),
            "port" => self.port.map(|port| port.to_string()),
            _ => None,
        }
    }
}

/// What looks like a placeholder and is none.
pub fn unknown_placeholder(template: &str) -> Option<&str> {
    let starts = template.match_indices('{').map(|(at, _)| &template[at + 1..]);
    let names = starts.filter_map(|rest| rest.split_once('}').map(|(name, _)| name));
    let looks_so = |name: &&str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '_' | ':'))
    };
    names.filter(looks_so).find(|name| known(name).is_none())
}

#[derive(Debug, PartialEq)]
enum Part<'a> {
    Text(&'a str),
    Placeholder { name: &'static str, in_json: bool },
}

/// Read once, from left to right, so that nothing in a value is taken for a placeholder.
fn parts(template: &str) -> Vec<Part<'_>> {
    let (mut parts, mut from, mut search) = (Vec::new(), 0, 0);
    while let Some(open) = template[search..].find('{').map(|at| search + at) {
        search = open + 1;
        let Some(close) = template[open..].find('}').map(|at| open + at) else { break };
        if let Some(placeholder) = known(&template[open + 1..close]) {
            parts.push(Part::Text(&template[from..open]));
            parts.push(placeholder);
            (from, search) = (close + 1, close + 1);
        }
    }
    parts.push(Part::Text(&template[from..]));
    parts
}

fn known(written: &str) -> Option<Part<'static>> {
    let (name, in_json) = written.strip_prefix(IN_JSON).map_or((written, false), |name| (name, true));
    let name = PLACEHOLDERS.into_iter().find(|known| *known == name)?;
    Some(Part::Placeholder { name, in_json })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, template: &str, expected: Option<&str>) {
        let endpoint = Endpoint { base_url: url.into(), key: None, model: r#"a"{key}b"#.into() };
        let filled = Values::of_server(&endpoint, None).fill(template);
        assert_eq!(filled.as_deref(), expected, "{template} at {url}");
    }

    #[test]
    fn placeholders_are_filled_in() {
        for url in ["http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/"] {
            check(url, "{url}/v1", Some("http://127.0.0.1:8080/v1"));
            check(url, "{host} {path}v1/chat", Some("http://127.0.0.1:8080 v1/chat"));
        }
        let router = "https://openrouter.ai/api/v1";
        check(router, "{url}/v1", Some("https://openrouter.ai/api/v1"));
        check(router, "{host} {path}v1/chat", Some("https://openrouter.ai api/v1/chat"));
        check(router, "{key}{{}} ${HOME}", Some("none{{}} ${HOME}"));
        // What a value holds is never filled in.
        check(router, "{model}", Some(r#"a"{key}b"#));
        check(router, r#"{"model":"x/{json:model}"}"#, Some(r#"{"model":"x/a\"{key}b"}"#));
        check(router, "--port={port}", None);
        check(router, "no end {model", Some("no end {model"));
    }

    #[test]
    fn an_account_has_its_own_model_or_one_that_was_named() {
        let fill = |model: Option<&str>, template: &str| {
            Values::of_account(model.map(str::to_owned), Some(7)).fill(template)
        };
        assert_eq!(fill(Some("opus"), "--model={model}").as_deref(), Some("--model=opus"));
        assert_eq!(fill(None, "--model={model}"), None);
        assert_eq!(fill(None, "--port={port}").as_deref(), Some("--port=7"));
        assert_eq!(fill(None, "{url}"), None);
    }

    #[test]
    fn a_misspelt_placeholder_is_found() {
        for (template, expected) in [
            ("{modle}", Some("modle")),
            ("{json:modle}", Some("json:modle")),
            (r#"{"model": "{model}"}"#, None),
            (r#"{"a":{"b":"{json:url}/v1"}} {} ${HOME}"#, None),
        ] {
            assert_eq!(unknown_placeholder(template), expected, "{template}");
        }
    }
}

//! Calls of tools, which come in parts: the name first, the arguments letter by letter.

use serde_json::Value;

/// A model that asks for more at once has lost its way.
const CALLS_MAX: usize = 32;
/// Of all their ids, names and arguments.
const CALLS_BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct CallPart {
    /// Which call of this answer.
    pub index: usize,
    pub id: Option<String>,
    pub name: Option<String>,
    pub arguments: String,
}

/// One whole call, as the model wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    pub id: String,
    pub name: String,
    /// JSON, if the model did not err.
    pub arguments: String,
}

/// Puts the parts of an answer's calls together.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    calls: Vec<(usize, Called)>,
    bytes: usize,
}

impl Calls {
    /// What is beyond every measure is left out; what is cut then is no JSON, which the model is told.
    pub fn push(&mut self, part: CallPart) {
        let CallPart { index, id, name, arguments } = part;
        let known = self.calls.iter().position(|(known, _)| *known == index);
        let place = match known {
            Some(place) => place,
            None if self.calls.len() < CALLS_MAX => {
                self.calls.push((index, Called::default()));
                self.calls.len() - 1
            }
            None => return,
        };
        let call = &mut self.calls[place].1;
        // Some servers give the same one with every part.
        if let Some(id) = id.filter(|id| *id != call.id)
            && fits(&mut self.bytes, &id)
        {
            call.id = id;
        }
        if let Some(name) = name.filter(|name| fits(&mut self.bytes, name)) {
            call.name.push_str(&name);
        }
        if fits(&mut self.bytes, &arguments) {
            call.arguments.push_str(&arguments);
        }
    }

    /// In the order in which they began. A server that gives no ids gets ours.
    pub fn finish(self) -> Vec<Called> {
        let named = |(place, (_, call)): (usize, (usize, Called))| {
            let id = if call.id.is_empty() { format!("call_{place}") } else { call.id };
            Called { id, ..call }
        };
        self.calls.into_iter().enumerate().map(named).collect()
    }
}

/// Whatever comes after something that did not fit does not either, so that nothing has a gap.
fn fits(bytes: &mut usize, more: &str) -> bool {
    *bytes = bytes.saturating_add(more.len());
    *bytes <= CALLS_BYTES_MAX
}

/// `place` is where it stands in its chunk, for servers that do not number.
pub(super) fn part(value: &Value, place: usize) -> CallPart {
    let word = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let function = &value["function"];
    let arguments = match &function["arguments"] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        // Some servers send the object itself.
        other => other.to_string(),
    };
    CallPart {
        index: value["index"].as_u64().map_or(place, |index| index as usize),
        id: word(&value["id"]),
        name: word(&function["name"]),
        arguments,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(chunks: &[Value], expected: &[(&str, &str, &str)]) {
        let mut calls = Calls::default();
        for chunk in chunks {
            for (place, value) in chunk.as_array().unwrap().iter().enumerate() {
                calls.push(part(value, place));
            }
        }
        let found = calls.finish();
        let found: Vec<_> = found
            .iter()
            .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn parts_are_put_together_however_a_server_sends_them() {
        check(
            &[
                json!([{"index": 0, "id": "a", "type": "function", "function": {"name": "read", "arguments": ""}}]),
                json!([{"index": 0, "function": {"arguments": "{\"path\":"}}]),
                json!([{"index": 1, "id": "b", "function": {"name": "list", "arguments": "{}"}}]),
                json!([{"index": 0, "function": {"arguments": "\"x\"}"}}]),
            ],
            &[("a", "read", "{\"path\":\"x\"}"), ("b", "list", "{}")],
        );
        // Without numbers and ids, and with an object for arguments.
        check(
            &[json!([{"function": {"name": "read", "arguments": {"path": "x"}}}])],
            &[("call_0", "read", "{\"path\":\"x\"}")],
        );
        check(&[json!([{"index": 0, "id": null}])], &[("call_0", "", "")]);
    }

    #[test]
    fn a_flood_is_bounded() {
        let part = |index, part| match part {
            "id" => CallPart { index, id: Some(flood(index)), name: None, arguments: String::new() },
            "name" => CallPart { index, id: None, name: Some(flood(index)), arguments: String::new() },
            _ => CallPart { index, id: None, name: None, arguments: flood(index) },
        };
        for kind in ["id", "name", "arguments"] {
            for indexes in [1, 100] {
                let mut calls = Calls::default();
                for count in 0..100 {
                    calls.push(part(count % indexes, kind));
                }
                let calls = calls.finish();
                assert!(calls.len() <= CALLS_MAX, "{kind}: {} calls", calls.len());
                let kept = |call: &Called| call.id.len() + call.name.len() + call.arguments.len();
                let bytes: usize = calls.iter().map(kept).sum();
                assert!((MIB..=CALLS_BYTES_MAX + 1024).contains(&bytes), "{kind}: {bytes} bytes");
            }
        }
    }

    const MIB: usize = 1024 * 1024;

    fn flood(index: usize) -> String {
        char::from(b'a' + (index % 26) as u8).to_string().repeat(MIB)
    }
}

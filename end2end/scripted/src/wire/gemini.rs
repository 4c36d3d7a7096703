//! Gemini generateContent and streamGenerateContent (always as SSE, as its clients ask for it).

use serde_json::{Value, json};

use super::{Answer, Call, End, Finish, Head, Wire, data};
use crate::ask::{Ask, Said, list, names, text_of, word};

/// Model and streaming stand in the path; the route puts them into the body as `model` and `stream`.
pub fn read(body: &Value) -> Ask {
    let system = body.get("systemInstruction").or_else(|| body.get("system_instruction"));
    let parts = |content: &Value| text_of(content.get("parts").unwrap_or(&Value::Null));
    let mut said = vec![Said::System(system.map(parts).unwrap_or_default())];
    for content in list(body, "contents") {
        let results =
            list(content, "parts").iter().filter(|part| part.get("functionResponse").is_some()).count();
        match word(content, "role") {
            "model" => said.push(Said::Assistant(parts(content))),
            _ if results > 0 => said.extend((0..results).map(|_| Said::ToolResult)),
            _ => said.push(Said::User(parts(content))),
        }
    }
    let mut ask =
        Ask::of_conversation(word(body, "model"), body.get("contents").unwrap_or(&Value::Null), said);
    ask.tools = names(list(body, "tools").iter().flat_map(|tools| list(tools, "functionDeclarations")));
    ask.stream = crate::ask::flag(body, "stream");
    let config = body.get("generationConfig").unwrap_or(&Value::Null);
    ask.tokens_max = config.get("maxOutputTokens").and_then(Value::as_u64);
    ask.schema = config.get("responseJsonSchema").or_else(|| config.get("responseSchema")).cloned();
    ask
}

pub struct Gemini {
    head: Head,
}

impl Gemini {
    pub fn new(head: Head) -> Self {
        Self { head }
    }

    fn response(&self, parts: Value, end: Option<&End>) -> Value {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if let (Some(end), Some(object)) = (end, candidate.as_object_mut()) {
            object.insert("finishReason".into(), json!(reason(end.finish)));
        }
        let said = end.map_or(0, |end| end.completion_tokens);
        json!({
            "candidates": [candidate],
            "modelVersion": self.head.model,
            "responseId": self.head.id,
            "usageMetadata": {
                "promptTokenCount": self.head.prompt_tokens,
                "candidatesTokenCount": said,
                "totalTokenCount": self.head.prompt_tokens + said,
            },
        })
    }
}

impl Wire for Gemini {
    fn open(&mut self, _out: &mut String) {}

    fn reasoning(&mut self, piece: &str, out: &mut String) {
        data(&self.response(json!([{"text": piece, "thought": true}]), None), out);
    }

    fn text(&mut self, piece: &str, out: &mut String) {
        data(&self.response(json!([{"text": piece}]), None), out);
    }

    fn call(&mut self, call: &Call, out: &mut String) {
        data(&self.response(json!([function(call)]), None), out);
    }

    fn close(&mut self, end: &End, out: &mut String) {
        data(&self.response(json!([{"text": ""}]), Some(end)), out);
    }

    fn whole(&self, answer: &Answer) -> Value {
        let mut parts = Vec::new();
        if !answer.reasoning.is_empty() {
            parts.push(json!({"text": answer.reasoning, "thought": true}));
        }
        if !answer.text.is_empty() {
            parts.push(json!({"text": answer.text}));
        }
        parts.extend(answer.calls.iter().map(function));
        self.response(json!(parts), Some(&answer.end))
    }
}

fn function(call: &Call) -> Value {
    json!({"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}})
}

/// Gemini has no reason of its own for a tool call.
fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Calls => "STOP",
        Finish::Length => "MAX_TOKENS",
    }
}

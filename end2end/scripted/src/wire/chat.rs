//! OpenAI chat completions, as llama.cpp writes them.

use serde_json::{Map, Value, json};

use super::{Answer, CREATED, Call, End, Finish, Head, Wire, data, pieces};
use crate::ask::{Ask, Said, flag, list, names, text_of, word};

pub fn read(body: &Value) -> Ask {
    let said = list(body, "messages").iter().map(|message| {
        let text = text_of(message.get("content").unwrap_or(&Value::Null));
        match word(message, "role") {
            "system" | "developer" => Said::System(text),
            "user" => Said::User(text),
            "tool" | "function" => Said::ToolResult,
            "assistant" => Said::Assistant(text),
            _ => Said::Other,
        }
    });
    let turns: Vec<&Value> = list(body, "messages")
        .iter()
        .filter(|m| !matches!(word(m, "role"), "system" | "developer"))
        .collect();
    let mut ask = Ask::of_conversation(word(body, "model"), &json!(turns), said);
    let parts = list(body, "messages").iter().flat_map(|message| list(message, "content"));
    let url = |part: &Value| Some(part.pointer("/image_url/url")?.as_str()?.to_owned());
    ask.see(parts.filter_map(url).collect());
    ask.tools = names(list(body, "tools"));
    ask.stream = flag(body, "stream");
    ask.include_usage = body.get("stream_options").is_some_and(|options| flag(options, "include_usage"));
    let most = body.get("max_completion_tokens").or_else(|| body.get("max_tokens"));
    ask.tokens_max = most.and_then(Value::as_u64);
    // llama.cpp also takes a schema beside `json_object`.
    let format = body.get("response_format");
    ask.schema = format.and_then(|f| f.pointer("/json_schema/schema").or_else(|| f.get("schema"))).cloned();
    if ask.schema.is_none() && format.is_some_and(|f| word(f, "type") == "json_object") {
        ask.schema = Some(json!({"type": "object"}));
    }
    ask
}

pub struct Chat {
    head: Head,
    calls: usize,
}

impl Chat {
    pub fn new(head: Head) -> Self {
        Self { head, calls: 0 }
    }

    fn chunk(&self, choices: Value) -> Value {
        json!({
            "choices": choices,
            "created": CREATED,
            "id": format!("chatcmpl-{}", self.head.id),
            "model": self.head.model,
            "system_fingerprint": "scripted",
            "object": "chat.completion.chunk",
        })
    }

    fn delta(&self, delta: Value, out: &mut String) {
        data(&self.chunk(json!([{"finish_reason": null, "index": 0, "delta": delta}])), out);
    }
}

impl Wire for Chat {
    fn open(&mut self, out: &mut String) {
        self.delta(json!({"role": "assistant", "content": null}), out);
    }

    fn reasoning(&mut self, piece: &str, out: &mut String) {
        self.delta(json!({"reasoning_content": piece}), out);
    }

    fn text(&mut self, piece: &str, out: &mut String) {
        self.delta(json!({"content": piece}), out);
    }

    fn call(&mut self, call: &Call, out: &mut String) {
        let index = self.calls;
        self.calls += 1;
        let opening = json!({
            "index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""},
        });
        self.delta(json!({"tool_calls": [opening]}), out);
        for piece in pieces(&call.arguments.to_string()) {
            self.delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}), out);
        }
    }

    fn close(&mut self, end: &End, out: &mut String) {
        let mut last = self.chunk(json!([{"finish_reason": reason(end.finish), "index": 0, "delta": {}}]));
        if self.head.include_usage {
            data(&last, out);
            last = self.chunk(json!([]));
            set(&mut last, "usage", usage(end));
        }
        if let Some(timings) = &end.timings {
            set(&mut last, "timings", timings.clone());
        }
        data(&last, out);
        out.push_str("data: [DONE]\n\n");
    }

    fn whole(&self, answer: &Answer) -> Value {
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        let silent = answer.text.is_empty() && !answer.calls.is_empty();
        message.insert("content".into(), if silent { Value::Null } else { json!(answer.text) });
        if !answer.reasoning.is_empty() {
            message.insert("reasoning_content".into(), json!(answer.reasoning));
        }
        if !answer.calls.is_empty() {
            let calls = answer.calls.iter().map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
                json!({"id": call.id, "type": "function", "function": function})
            });
            message.insert("tool_calls".into(), calls.collect());
        }
        let mut whole = self.chunk(json!([
            {"finish_reason": reason(answer.end.finish), "index": 0, "message": message}
        ]));
        set(&mut whole, "object", json!("chat.completion"));
        set(&mut whole, "usage", usage(&answer.end));
        if let Some(timings) = &answer.end.timings {
            set(&mut whole, "timings", timings.clone());
        }
        whole
    }
}

fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::Calls => "tool_calls",
    }
}

fn usage(end: &End) -> Value {
    json!({
        "completion_tokens": end.completion_tokens,
        "prompt_tokens": end.prompt_tokens,
        "total_tokens": end.prompt_tokens + end.completion_tokens,
    })
}

fn set(value: &mut Value, name: &str, to: Value) {
    if let Some(object) = value.as_object_mut() {
        object.insert(name.to_owned(), to);
    }
}

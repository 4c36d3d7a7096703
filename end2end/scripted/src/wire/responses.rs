//! OpenAI responses.

use serde_json::{Value, json};

use super::{Answer, CREATED, Call, End, Finish, Head, Wire, named, pieces};
use crate::ask::{Ask, Said, flag, list, names, text_of, word};

pub fn read(body: &Value) -> Ask {
    let mut said = vec![Said::System(word(body, "instructions").to_owned())];
    if let Some(text) = body.get("input").and_then(Value::as_str) {
        said.push(Said::User(text.to_owned()));
    }
    for item in list(body, "input") {
        let text = text_of(item.get("content").unwrap_or(&Value::Null));
        said.push(match (word(item, "type"), word(item, "role")) {
            ("function_call_output" | "custom_tool_call_output" | "local_shell_call_output", _) => {
                Said::ToolResult
            }
            (_, "system" | "developer") => Said::System(text),
            (_, "user") => Said::User(text),
            (_, "assistant") => Said::Assistant(text),
            _ => Said::Other,
        });
    }
    let mut ask = Ask::of_conversation(word(body, "model"), body.get("input").unwrap_or(&Value::Null), said);
    ask.tools = names(list(body, "tools"));
    ask.stream = flag(body, "stream");
    ask.tokens_max = body.get("max_output_tokens").and_then(Value::as_u64);
    ask.schema = body.pointer("/text/format/schema").cloned();
    ask
}

pub struct Responses {
    head: Head,
    sequence: u64,
    /// Items that are complete; the last event repeats them all.
    items: Vec<Value>,
    open: Option<Open>,
}

/// The item that is being written, with its text so far.
struct Open {
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Reasoning,
    Message,
}

impl Responses {
    pub fn new(head: Head) -> Self {
        Self { head, sequence: 0, items: Vec::new(), open: None }
    }

    fn event(&mut self, name: &str, mut fields: Value, out: &mut String) {
        if let Some(object) = fields.as_object_mut() {
            object.insert("type".into(), json!(name));
            object.insert("sequence_number".into(), json!(self.sequence));
        }
        self.sequence += 1;
        named(name, &fields, out);
    }

    fn response(&self, status: &str, output: &[Value], end: Option<&End>) -> Value {
        let usage = end.map(|end| {
            json!({
                "input_tokens": end.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": end.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": end.prompt_tokens + end.completion_tokens,
            })
        });
        let incomplete = (status == "incomplete").then(|| json!({"reason": "max_output_tokens"}));
        json!({
            "id": format!("resp_{}", self.head.id),
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "model": self.head.model,
            "output": output,
            "usage": usage,
            "error": null,
            "incomplete_details": incomplete,
        })
    }

    fn item_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}_{}", self.head.id, self.items.len())
    }

    fn within(&mut self, kind: Kind, out: &mut String) {
        if self.open.as_ref().is_some_and(|open| open.kind == kind) {
            return;
        }
        self.finish_item(out);
        let index = self.items.len();
        let (id, item) = match kind {
            Kind::Reasoning => (self.item_id("rs"), reasoning_item(&self.item_id("rs"), None)),
            Kind::Message => (self.item_id("msg"), message_item(&self.item_id("msg"), None)),
        };
        self.event("response.output_item.added", json!({"output_index": index, "item": item}), out);
        match kind {
            Kind::Reasoning => {
                let part = json!({"type": "summary_text", "text": ""});
                let fields = json!({"item_id": id, "output_index": index, "summary_index": 0, "part": part});
                self.event("response.reasoning_summary_part.added", fields, out);
            }
            Kind::Message => {
                let part = json!({"type": "output_text", "text": "", "annotations": []});
                let fields = json!({"item_id": id, "output_index": index, "content_index": 0, "part": part});
                self.event("response.content_part.added", fields, out);
            }
        }
        self.open = Some(Open { kind, text: String::new() });
    }

    fn finish_item(&mut self, out: &mut String) {
        let Some(Open { kind, text }) = self.open.take() else {
            return;
        };
        let index = self.items.len();
        let item = match kind {
            Kind::Reasoning => {
                let id = self.item_id("rs");
                let fields = json!({"item_id": id, "output_index": index, "summary_index": 0, "text": text});
                self.event("response.reasoning_summary_text.done", fields, out);
                let part = json!({"type": "summary_text", "text": text});
                let fields = json!({"item_id": id, "output_index": index, "summary_index": 0, "part": part});
                self.event("response.reasoning_summary_part.done", fields, out);
                reasoning_item(&id, Some(&text))
            }
            Kind::Message => {
                let id = self.item_id("msg");
                let fields = json!({"item_id": id, "output_index": index, "content_index": 0, "text": text});
                self.event("response.output_text.done", fields, out);
                let part = json!({"type": "output_text", "text": text, "annotations": []});
                let fields = json!({"item_id": id, "output_index": index, "content_index": 0, "part": part});
                self.event("response.content_part.done", fields, out);
                message_item(&id, Some(&text))
            }
        };
        self.event("response.output_item.done", json!({"output_index": index, "item": item}), out);
        self.items.push(item);
    }

    fn delta(&mut self, piece: &str, name: &str, prefix: &str, position: &str, out: &mut String) {
        if let Some(open) = &mut self.open {
            open.text.push_str(piece);
        }
        let mut fields =
            json!({"item_id": self.item_id(prefix), "output_index": self.items.len(), "delta": piece});
        if let Some(object) = fields.as_object_mut() {
            object.insert(position.to_owned(), json!(0));
        }
        self.event(name, fields, out);
    }
}

impl Wire for Responses {
    fn open(&mut self, out: &mut String) {
        let response = self.response("in_progress", &[], None);
        self.event("response.created", json!({"response": response}), out);
        self.event("response.in_progress", json!({"response": response}), out);
    }

    fn reasoning(&mut self, piece: &str, out: &mut String) {
        self.within(Kind::Reasoning, out);
        self.delta(piece, "response.reasoning_summary_text.delta", "rs", "summary_index", out);
    }

    fn text(&mut self, piece: &str, out: &mut String) {
        self.within(Kind::Message, out);
        self.delta(piece, "response.output_text.delta", "msg", "content_index", out);
    }

    fn call(&mut self, call: &Call, out: &mut String) {
        self.finish_item(out);
        let index = self.items.len();
        let id = self.item_id("fc");
        let opening = call_item(&id, call, "", "in_progress");
        self.event("response.output_item.added", json!({"output_index": index, "item": opening}), out);
        let arguments = call.arguments.to_string();
        for piece in pieces(&arguments) {
            let fields = json!({"item_id": id, "output_index": index, "delta": piece});
            self.event("response.function_call_arguments.delta", fields, out);
        }
        let fields = json!({"item_id": id, "output_index": index, "arguments": arguments});
        self.event("response.function_call_arguments.done", fields, out);
        let item = call_item(&id, call, &arguments, "completed");
        self.event("response.output_item.done", json!({"output_index": index, "item": item}), out);
        self.items.push(item);
    }

    fn close(&mut self, end: &End, out: &mut String) {
        self.finish_item(out);
        let status = status(end.finish);
        let response = self.response(status, &self.items, Some(end));
        self.event(&format!("response.{status}"), json!({"response": response}), out);
    }

    fn whole(&self, answer: &Answer) -> Value {
        let mut items = Vec::new();
        let id = |prefix: &str, at: usize| format!("{prefix}_{}_{at}", self.head.id);
        if !answer.reasoning.is_empty() {
            items.push(reasoning_item(&id("rs", items.len()), Some(&answer.reasoning)));
        }
        if !answer.text.is_empty() {
            items.push(message_item(&id("msg", items.len()), Some(&answer.text)));
        }
        for call in &answer.calls {
            items.push(call_item(&id("fc", items.len()), call, &call.arguments.to_string(), "completed"));
        }
        self.response(status(answer.end.finish), &items, Some(&answer.end))
    }
}

fn status(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Calls => "completed",
        Finish::Length => "incomplete",
    }
}

fn reasoning_item(id: &str, text: Option<&str>) -> Value {
    let summary = text.map_or(json!([]), |text| json!([{"type": "summary_text", "text": text}]));
    json!({"id": id, "type": "reasoning", "summary": summary})
}

fn message_item(id: &str, text: Option<&str>) -> Value {
    let content =
        text.map_or(json!([]), |text| json!([{"type": "output_text", "text": text, "annotations": []}]));
    let status = if text.is_some() { "completed" } else { "in_progress" };
    json!({"id": id, "type": "message", "role": "assistant", "status": status, "content": content})
}

fn call_item(id: &str, call: &Call, arguments: &str, status: &str) -> Value {
    json!({
        "id": id, "type": "function_call", "status": status,
        "call_id": call.id, "name": call.name, "arguments": arguments,
    })
}

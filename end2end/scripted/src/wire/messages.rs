//! Anthropic messages.

use serde_json::{Value, json};

use super::{Answer, Call, End, Finish, Head, Wire, named, pieces};
use crate::ask::{Ask, Said, flag, list, names, text_of, word};

pub fn read(body: &Value) -> Ask {
    let mut said = vec![Said::System(text_of(body.get("system").unwrap_or(&Value::Null)))];
    for message in list(body, "messages") {
        let content = message.get("content").unwrap_or(&Value::Null);
        let results = content
            .as_array()
            .map_or(0, |blocks| blocks.iter().filter(|block| word(block, "type") == "tool_result").count());
        match word(message, "role") {
            // Text beside a tool result is the agent's remark, not a person's new request.
            "user" if results > 0 => said.extend((0..results).map(|_| Said::ToolResult)),
            "user" => said.push(Said::User(text_of(content))),
            "assistant" => said.push(Said::Assistant(text_of(content))),
            _ => {}
        }
    }
    let mut ask =
        Ask::of_conversation(word(body, "model"), body.get("messages").unwrap_or(&Value::Null), said);
    ask.tools = names(list(body, "tools"));
    ask.stream = flag(body, "stream");
    ask.tokens_max = body.get("max_tokens").and_then(Value::as_u64);
    let format = body.pointer("/output_config/format").or_else(|| body.get("output_format"));
    ask.schema = format.and_then(|format| format.get("schema")).cloned();
    ask
}

pub struct Messages {
    head: Head,
    open: Option<Block>,
    blocks: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Block {
    Thinking,
    Text,
}

impl Messages {
    pub fn new(head: Head) -> Self {
        Self { head, open: None, blocks: 0 }
    }

    fn message(&self, content: Value, stop_reason: Value, output_tokens: u64) -> Value {
        json!({
            "id": format!("msg_{}", self.head.id),
            "type": "message",
            "role": "assistant",
            "model": self.head.model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": null,
            "usage": {"input_tokens": self.head.prompt_tokens, "output_tokens": output_tokens},
        })
    }

    fn start_block(&self, block: Value, out: &mut String) {
        let event = json!({"type": "content_block_start", "index": self.blocks, "content_block": block});
        named("content_block_start", &event, out);
    }

    fn delta(&self, delta: Value, out: &mut String) {
        let event = json!({"type": "content_block_delta", "index": self.blocks, "delta": delta});
        named("content_block_delta", &event, out);
    }

    fn stop_block(&mut self, out: &mut String) {
        named("content_block_stop", &json!({"type": "content_block_stop", "index": self.blocks}), out);
        self.blocks += 1;
    }

    /// Closes a block of another kind and opens one of this kind, unless it is open.
    fn within(&mut self, wanted: Option<Block>, out: &mut String) {
        if self.open == wanted {
            return;
        }
        if let Some(block) = self.open {
            if block == Block::Thinking {
                self.delta(json!({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="}), out);
            }
            self.stop_block(out);
        }
        match wanted {
            Some(Block::Thinking) => {
                self.start_block(json!({"type": "thinking", "thinking": "", "signature": ""}), out)
            }
            Some(Block::Text) => self.start_block(json!({"type": "text", "text": ""}), out),
            None => {}
        }
        self.open = wanted;
    }
}

impl Wire for Messages {
    fn open(&mut self, out: &mut String) {
        let message = self.message(json!([]), Value::Null, 0);
        named("message_start", &json!({"type": "message_start", "message": message}), out);
        named("ping", &json!({"type": "ping"}), out);
    }

    fn reasoning(&mut self, piece: &str, out: &mut String) {
        self.within(Some(Block::Thinking), out);
        self.delta(json!({"type": "thinking_delta", "thinking": piece}), out);
    }

    fn text(&mut self, piece: &str, out: &mut String) {
        self.within(Some(Block::Text), out);
        self.delta(json!({"type": "text_delta", "text": piece}), out);
    }

    fn call(&mut self, call: &Call, out: &mut String) {
        self.within(None, out);
        self.start_block(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}), out);
        for piece in pieces(&call.arguments.to_string()) {
            self.delta(json!({"type": "input_json_delta", "partial_json": piece}), out);
        }
        self.stop_block(out);
    }

    fn close(&mut self, end: &End, out: &mut String) {
        self.within(None, out);
        let delta = json!({
            "type": "message_delta",
            "delta": {"stop_reason": reason(end.finish), "stop_sequence": null},
            "usage": {"output_tokens": end.completion_tokens},
        });
        named("message_delta", &delta, out);
        named("message_stop", &json!({"type": "message_stop"}), out);
    }

    fn whole(&self, answer: &Answer) -> Value {
        let mut content = Vec::new();
        if !answer.reasoning.is_empty() {
            content
                .push(json!({"type": "thinking", "thinking": answer.reasoning, "signature": "c2NyaXB0ZWQ="}));
        }
        if !answer.text.is_empty() {
            content.push(json!({"type": "text", "text": answer.text}));
        }
        for call in &answer.calls {
            content
                .push(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}));
        }
        self.message(json!(content), json!(reason(answer.end.finish)), answer.end.completion_tokens)
    }
}

fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
        Finish::Calls => "tool_use",
    }
}

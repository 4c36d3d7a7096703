//! How much an agent's program may work on one task. It counts by itself, or not at all, so its questions are counted
//! where they pass. One that has worked as much as it may is asked for its answer, with the same words as our own agent.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use domain::{agent::Why, flow::plan::Limits};
use serde_json::{Value, json};

use super::question::Page;

/// Who goes on asking after that is not listening.
const LAST_QUESTIONS_MAX: u32 = 4;

pub struct Allowance {
    limits: Limits,
    /// Questions with tools to answer with, as far as they were answered: one that a busy server refused is asked again
    /// by the agent, and has used up nothing.
    answered: AtomicU32,
    /// Those of them that were to be the last.
    last: AtomicU32,
    is_told: AtomicBool,
}

/// What becomes of a question.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// It is none that counts.
    PassOn,
    Step,
    /// Its tools are taken away; `is_first` the first time.
    LastWord {
        why: Why,
        is_first: bool,
    },
    Refuse,
}

impl Allowance {
    pub fn new(limits: Limits) -> Self {
        Self { limits, answered: AtomicU32::new(0), last: AtomicU32::new(0), is_told: AtomicBool::new(false) }
    }

    /// The body of a question tells how often tools were called until now, because it holds what they said.
    pub fn next(&self, page: Page, body: &Value) -> Next {
        if !page.generates() || !offers_tools(page, body) {
            return Next::PassOn;
        }
        let why = if self.answered.load(Ordering::Relaxed) >= self.limits.steps {
            Why::Steps
        } else if calls(page, body) >= self.limits.calls {
            Why::Calls
        } else {
            return Next::Step;
        };
        match self.last.load(Ordering::Relaxed) {
            LAST_QUESTIONS_MAX.. => Next::Refuse,
            _ => Next::LastWord { why, is_first: !self.is_told.swap(true, Ordering::Relaxed) },
        }
    }

    /// The model server has answered a question with more than a refusal.
    pub fn answered(&self, question: &Next) {
        if matches!(question, Next::Step | Next::LastWord { .. }) {
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
        if matches!(question, Next::LastWord { .. }) {
            self.last.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn offers_tools(page: Page, body: &Value) -> bool {
    let offered = match page {
        Page::Gemini { .. } => &body["tools"][0]["functionDeclarations"],
        _ => &body["tools"],
    };
    offered.as_array().is_some_and(|tools| !tools.is_empty())
}

fn calls(page: Page, body: &Value) -> u32 {
    let count = match page {
        Page::Chat => list(&body["messages"]).filter(|message| message["role"] == "tool").count(),
        Page::Messages | Page::CountTokens => list(&body["messages"])
            .flat_map(|message| list(&message["content"]))
            .filter(|block| block["type"] == "tool_result")
            .count(),
        Page::Responses => {
            let is_result =
                |item: &&Value| item["type"].as_str().is_some_and(|kind| kind.ends_with("call_output"));
            list(&body["input"]).filter(is_result).count()
        }
        Page::Gemini { .. } => list(&body["contents"])
            .flat_map(|content| list(&content["parts"]))
            .filter(|part| part.get("functionResponse").is_some())
            .count(),
    };
    count as u32
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Makes a question one that can only be answered in words. Where calls were made, some servers want to know the tools
/// still, so those are told not to use them.
pub fn end(page: Page, body: &mut Value, words: &str) {
    let push = |list: &mut Value, item: Value| {
        if let Some(list) = list.as_array_mut() {
            list.push(item);
        }
    };
    match page {
        Page::Chat => {
            if let Some(fields) = body.as_object_mut() {
                fields.remove("tools");
                fields.remove("tool_choice");
                fields.remove("parallel_tool_calls");
            }
            push(&mut body["messages"], json!({"role": "user", "content": words}));
        }
        Page::Messages | Page::CountTokens => {
            body["tool_choice"] = json!({"type": "none"});
            let text = json!({"type": "text", "text": words});
            let last = body["messages"].as_array_mut().and_then(|messages| messages.last_mut());
            match last.filter(|last| last["role"] == "user" && last["content"].is_array()) {
                Some(last) => push(&mut last["content"], text),
                None => push(&mut body["messages"], json!({"role": "user", "content": [text]})),
            }
        }
        Page::Responses => {
            body["tool_choice"] = json!("none");
            let text = json!({"type": "input_text", "text": words});
            push(&mut body["input"], json!({"type": "message", "role": "user", "content": [text]}));
        }
        Page::Gemini { .. } => {
            body["toolConfig"] = json!({"functionCallingConfig": {"mode": "NONE"}});
            push(&mut body["contents"], json!({"role": "user", "parts": [{"text": words}]}));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEMINI: Page = Page::Gemini { verb: "generateContent" };

    /// A question with so many results of tools in it.
    fn question(page: Page, results: usize) -> Value {
        let many = |one: Value| vec![one; results];
        match page {
            Page::Chat => json!({"tools": [{}], "messages": many(json!({"role": "tool", "content": "x"}))}),
            Page::Messages | Page::CountTokens => {
                let results = many(json!({"type": "tool_result"}));
                json!({"tools": [{}], "messages": [{"role": "user", "content": results}]})
            }
            Page::Responses => json!({"tools": [{}], "input": many(json!({"type": "function_call_output"}))}),
            Page::Gemini { .. } => {
                let parts = many(json!({"functionResponse": {}}));
                json!({"tools": [{"functionDeclarations": [{}]}], "contents": [{"role": "user", "parts": parts}]})
            }
        }
    }

    #[test]
    fn steps_and_calls_are_counted_in_every_protocol() {
        for page in [Page::Chat, Page::Messages, Page::Responses, GEMINI] {
            let allowance = Allowance::new(Limits { steps: 3, calls: 2 });
            let answered = |body: &Value| {
                let next = allowance.next(page, body);
                allowance.answered(&next);
                next
            };
            let last = |why, is_first| Next::LastWord { why, is_first };
            assert_eq!(answered(&question(page, 0)), Next::Step, "{page:?}");
            assert_eq!(answered(&question(page, 1)), Next::Step, "{page:?}");
            assert_eq!(answered(&question(page, 2)), last(Why::Calls, true), "{page:?}");
            assert_eq!(answered(&question(page, 0)), last(Why::Steps, false), "{page:?}");
            assert_eq!(answered(&json!({"messages": []})), Next::PassOn, "without tools");
            answered(&question(page, 2));
            answered(&question(page, 2));
            assert_eq!(answered(&question(page, 2)), Next::Refuse, "{page:?}");
        }
    }

    #[test]
    fn a_question_that_is_not_answered_uses_up_nothing() {
        let allowance = Allowance::new(Limits { steps: 1, calls: 9 });
        let next = || allowance.next(Page::Chat, &question(Page::Chat, 0));
        for _ in 0..9 {
            assert_eq!(next(), Next::Step);
        }
        allowance.answered(&next());
        let last = |is_first| Next::LastWord { why: Why::Steps, is_first };
        assert_eq!(next(), last(true));
        for _ in 0..9 {
            assert_eq!(next(), last(false));
        }
    }

    #[test]
    fn a_last_question_leaves_nothing_but_words() {
        let ended = |page| {
            let mut body = question(page, 1);
            end(page, &mut body, "Answer.");
            body
        };
        let chat = ended(Page::Chat);
        assert!(
            chat.get("tools").is_none()
                && chat["messages"][1] == json!({"role": "user", "content": "Answer."})
        );
        let messages = ended(Page::Messages);
        assert_eq!(messages["tool_choice"]["type"], "none");
        assert_eq!(messages["messages"][0]["content"][1], json!({"type": "text", "text": "Answer."}));
        let responses = ended(Page::Responses);
        assert_eq!(responses["tool_choice"], "none");
        assert_eq!(responses["input"][1]["content"][0]["text"], "Answer.");
        let gemini = ended(GEMINI);
        assert_eq!(gemini["toolConfig"]["functionCallingConfig"]["mode"], "NONE");
        assert_eq!(gemini["contents"][1]["parts"][0]["text"], "Answer.");
    }
}

//! Decides the whole answer before a byte of it is sent. Pure: a request, the script and how often the same
//! conversation was asked before.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use crate::analyst;
use crate::ask::Ask;
use crate::directive::{Directive, Fault, Malformed, Shape, parse};
use crate::opinion;
use crate::sample;
use crate::schema;
use crate::seed::{hash, mix};
use crate::setup::Script;
use crate::shell;
use crate::wire::Call;
use crate::words::{Source, Tokens, title};

#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Silence before the headers, as while a model loads.
    pub silence: Duration,
    /// Lines of fake reasoning before the answer.
    pub banner: Option<u32>,
    pub parts: VecDeque<Part>,
    pub fault: Option<Fault>,
    /// The model has no more tokens than these.
    pub limit: Option<u64>,
    pub rate: f64,
    /// Cut the bytes on the wire at odd places, chosen by this seed.
    pub split: Option<u64>,
    pub shape: Option<Shape>,
    pub seed: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Reasoning(Tokens),
    Text(Tokens),
    Call(Call),
}

const DEFAULT_TOKENS: u64 = 40;

pub fn plan(ask: &Ask, script: &Script, seen: u64) -> Result<Reply, Malformed> {
    let seed = hash(mix(script.seed, ask.tool_results), ask.prompt.as_bytes());
    let mut reply = Reply {
        silence: Duration::ZERO,
        banner: None,
        parts: VecDeque::new(),
        fault: None,
        limit: None,
        rate: script.tokens_per_second,
        split: None,
        shape: None,
        seed,
    };
    if ask.wants_title() {
        reply.parts.push_back(text(title(seed)));
        return Ok(reply);
    }
    if let Some(opinion) = opinion::of(ask) {
        reply.parts.push_back(text(opinion));
        return Ok(reply);
    }
    match analyst::of(ask) {
        Some(analyst::Next::Say(said)) => {
            reply.parts.push_back(text(said));
            return Ok(reply);
        }
        Some(analyst::Next::Call { name, arguments }) => {
            reply.parts.push_back(call(ask, 0, name, arguments));
            return Ok(reply);
        }
        Some(analyst::Next::Fail) => {
            reply.fault = Some(Fault::Status { code: 400, retry_after: None });
            return Ok(reply);
        }
        None => {}
    }
    let mut parsed = parse(&ask.prompt)?;
    parsed.directives = for_model(parsed.directives, &ask.model);
    let mut rate = None;
    for directive in &parsed.directives {
        let applies = |times: &Option<u64>| times.is_none_or(|times| seen < times);
        match directive {
            Directive::Limit(most) => reply.limit = Some(*most),
            Directive::Rate(per_second) => rate = Some(*per_second),
            Directive::SplitUtf8 => reply.split = Some(seed),
            Directive::Loading { ms, times } if applies(times) => reply.silence = Duration::from_millis(*ms),
            Directive::FakeReasoning(lines) => reply.banner = Some(*lines),
            Directive::ErrorShape(shape) => reply.shape = Some(*shape),
            Directive::Fault { fault, times, step }
                if applies(times)
                    && step.is_none_or(|step| step == ask.tool_results)
                    && reply.fault.is_none() =>
            {
                reply.fault = Some(fault.clone());
            }
            Directive::Bytes { .. } if rate.is_none() => rate = Some(0.0),
            _ => {}
        }
    }
    reply.rate = rate.unwrap_or(reply.rate);
    reply.parts = step(&parsed.directives, ask, seed);
    if !reply.parts.iter().any(|part| matches!(part, Part::Text(_) | Part::Call(_))) {
        reply.parts.push_back(unscripted(ask, &parsed.rest, &reply, seed));
    }
    Ok(reply)
}

/// The parts of the step that is due: each tool call ends a step.
fn step(directives: &[Directive], ask: &Ask, seed: u64) -> VecDeque<Part> {
    let mut parts = VecDeque::new();
    let mut at = 0;
    for (position, directive) in directives.iter().enumerate() {
        let tokens = |source| Part::Text(Tokens::new(source));
        let part = match directive {
            Directive::Say(said) => text(said.clone()),
            Directive::Markdown => text(sample::MARKDOWN.to_owned()),
            Directive::Tokens(n) => tokens(Source::Pseudo { seed: mix(seed, position as u64), tokens: *n }),
            Directive::Count(n) => tokens(Source::Count(*n)),
            Directive::Stamp(n) => tokens(Source::Stamp(*n)),
            Directive::Bytes { total, chunk } => tokens(Source::Bytes { total: *total, chunk: *chunk }),
            Directive::Reasoning(said) => Part::Reasoning(Tokens::new(Source::Text(said.clone()))),
            Directive::Tool { name, arguments } => call(ask, position, name, arguments.clone()),
            Directive::Shell(command) => {
                let (name, arguments) = shell::call(&ask.tools, command);
                call(ask, position, name, arguments)
            }
            _ => continue,
        };
        let ends_step = matches!(part, Part::Call(_));
        if at == ask.tool_results {
            parts.push_back(part);
        }
        at += u64::from(ends_step);
    }
    parts
}

fn call(ask: &Ask, position: usize, name: &str, arguments: Value) -> Part {
    let id = format!("call_{:016x}", mix(ask.fingerprint, position as u64));
    Part::Call(Call { id, name: name.to_owned(), arguments })
}

/// Those that are for this model.
fn for_model(directives: Vec<Directive>, model: &str) -> Vec<Directive> {
    let mut is_meant = true;
    let mut meant = Vec::new();
    for directive in directives {
        match directive {
            Directive::On(name) => is_meant = name == "any" || name == model,
            directive if is_meant => meant.push(directive),
            _ => {}
        }
    }
    meant
}

fn unscripted(ask: &Ask, rest: &str, reply: &Reply, seed: u64) -> Part {
    if let Some(schema) = &ask.schema {
        return text(schema::minimal(schema).to_string());
    }
    match ask.model.as_str() {
        "echo" if !rest.is_empty() => text(rest.to_owned()),
        "count" => Part::Text(Tokens::new(Source::Count(DEFAULT_TOKENS))),
        _ if reply.split.is_some() => text(sample::MULTIBYTE.to_owned()),
        _ => Part::Text(Tokens::new(Source::Pseudo { seed, tokens: DEFAULT_TOKENS })),
    }
}

fn text(said: String) -> Part {
    Part::Text(Tokens::new(Source::Text(said)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(prompt: &str) -> Ask {
        Ask { model: "small".into(), prompt: prompt.into(), ..Ask::default() }
    }

    /// What is said, with `think:` before reasoning and `call:` before a tool.
    fn said(ask: &Ask, seen: u64) -> String {
        let reply = plan(ask, &Script::default(), seen).expect("a plan");
        let spell = |part: &Part| match part {
            Part::Call(call) => format!("call:{} {}", call.name, call.arguments),
            Part::Reasoning(tokens) => format!("think:{}", drain(tokens.clone())),
            Part::Text(tokens) => drain(tokens.clone()),
        };
        reply.parts.iter().map(spell).collect::<Vec<_>>().join("|")
    }

    fn drain(mut tokens: Tokens) -> String {
        std::iter::from_fn(|| tokens.next(0)).collect()
    }

    fn check(prompt: &str, tool_results: u64, expected: &str) {
        assert_eq!(said(&Ask { tool_results, ..ask(prompt) }, 0), expected, "{prompt} after {tool_results}");
    }

    #[test]
    fn directives_are_said_in_order() {
        check("[[reasoning hm]][[say hello]][[count 2]]", 0, "think:hm|hello|1 2 ");
    }

    #[test]
    fn each_tool_result_brings_the_next_step() {
        let prompt = r#"[[say first]][[tool ls {"a":1}]][[tool cat]][[say done]]"#;
        check(prompt, 0, r#"first|call:ls {"a":1}"#);
        check(prompt, 1, "call:cat {}");
        check(prompt, 2, "done");
    }

    #[test]
    fn without_a_script_the_model_decides() {
        assert_eq!(said(&Ask { model: "echo".into(), ..ask("hi [[rate 5]]") }, 0), "hi");
        assert!(said(&Ask { model: "count".into(), ..ask("hi") }, 0).ends_with(" 39 40 "));
        assert_eq!(said(&ask("hi"), 0), said(&ask("hi"), 3));
        assert_ne!(said(&ask("hi"), 0), said(&ask("ho"), 0));
        let schema =
            Some(json!({"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}));
        assert_eq!(said(&Ask { schema, ..ask("judge") }, 0), r#"{"ok":false}"#);
    }

    #[test]
    fn what_is_for_one_model_is_not_said_by_another() {
        let prompt = "[[on small]][[say s]][[on large]][[say l]][[on any]][[say both]]";
        check(prompt, 0, "s|both");
        assert_eq!(said(&Ask { model: "large".into(), ..ask(prompt) }, 0), "l|both");
    }

    #[test]
    fn a_command_goes_to_the_tool_that_is_offered() {
        let with = |tool: &str| said(&Ask { tools: vec![tool.into()], ..ask("[[shell ls]]") }, 0);
        assert_eq!(with("run"), r#"call:run {"command":"ls"}"#);
        assert_eq!(
            with("run_shell_command"),
            r#"call:run_shell_command {"command":"ls","is_background":false}"#
        );
        assert_eq!(with("shell"), r#"call:shell {"command":"ls"}"#);
    }

    #[test]
    fn a_title_ignores_the_script() {
        let system = "Write a title for this conversation.".to_owned();
        let title = Ask { system: system.clone(), ..ask("[[die]]") };
        assert_eq!(said(&title, 0).split(' ').count(), 3);
        assert_eq!(plan(&title, &Script::default(), 0).expect("a plan").fault, None);
        // The control: an agent's prompt with tools is no request for a title.
        let agent = Ask { system, tools: vec!["run".into()], ..ask("[[die]]") };
        assert_eq!(plan(&agent, &Script::default(), 0).expect("a plan").fault, Some(Fault::Die));
    }

    #[test]
    fn a_fault_with_times_passes() {
        let fault = |seen| {
            let reply = plan(&ask("[[die times 1]][[truncate after 3 times 2]]"), &Script::default(), seen);
            reply.expect("a plan").fault
        };
        assert_eq!(fault(0), Some(Fault::Die));
        assert_eq!(fault(1), Some(Fault::Truncate { after: 3 }));
        assert_eq!(fault(2), None);
    }

    #[test]
    fn a_fault_with_a_step_waits_for_it() {
        let fault = |tool_results| {
            let ask = Ask { tool_results, ..ask("[[tool ls]][[status 500 step 1]][[say done]]") };
            plan(&ask, &Script::default(), 0).expect("a plan").fault
        };
        assert_eq!(fault(0), None);
        assert_eq!(fault(1), Some(Fault::Status { code: 500, retry_after: None }));
        assert_eq!(fault(2), None);
    }
}

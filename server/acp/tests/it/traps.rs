//! What agents do that would be taken for something else, played by one that a test plays.

use acp::agents::claude::CLAUDE;
use acp::agents::codex::CODEX;
use acp::agents::gemini::GEMINI;
use acp::agents::goose::GOOSE;
use acp::{Agent, Block, Counted, Ended, Error, Mode, Stop};
use domain::output::{Output, Usage};
use domain::tool::Permit;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fake::{SESSION, USAGE, Wire, play, simply, turn};
use crate::permits::Person;

/// How a turn ends in which the agent says this and ends so.
async fn end(agent: &'static Agent, updates: &[Value], reply: Value) -> Result<Ended, Error> {
    let script = async |wire: &mut Wire| {
        let prompt = wire.open().await;
        for update in updates {
            wire.update(update.clone()).await;
        }
        wire.reply(&prompt, reply).await;
    };
    simply(agent, Mode::Edit, script).await.0
}

fn words(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

fn failure(text: &str) -> Result<Ended, Error> {
    Err(Error::Model { said: text.to_owned() })
}

#[tokio::test]
async fn an_end_without_tokens_is_no_success_where_tokens_prove_it() {
    let nothing = json!({"stopReason": "end_turn", "usage": null});
    for agent in [&CODEX, &GOOSE] {
        assert_eq!(end(agent, &[words("no route")], nothing.clone()).await, failure("no route"));
    }
    let quota = |input: u64, output: u64| {
        let count = json!({"input_tokens": input, "output_tokens": output});
        json!({"stopReason": "end_turn", "_meta": {"quota": {"token_count": count}}})
    };
    assert_eq!(end(&GEMINI, &[words("half an")], quota(0, 0)).await, failure("half an"));
    let ended = end(&GEMINI, &[words("a whole")], quota(9, 2)).await.unwrap();
    let usage = Usage { prompt_tokens: Some(9), completion_tokens: Some(2) };
    assert_eq!((ended.usage, ended.counted), (Some(usage), Counted::Turn));
    // One that always tells them is believed without.
    let ended = end(&CLAUDE, &[words("ok")], json!({"stopReason": "end_turn"})).await.unwrap();
    assert_eq!(ended.stop, Stop::Done);
}

#[tokio::test]
async fn a_turn_that_the_agent_marks_as_failed_has_failed_whatever_it_counts() {
    let status = |word: &str| {
        let meta = json!({"codex": {"threadStatus": {"type": word}}});
        json!({"sessionUpdate": "session_info_update", "_meta": meta})
    };
    let well = json!({"stopReason": "end_turn", "usage": USAGE.clone()});
    let marked = [status("active"), status("systemError"), words("400: too long")];
    assert_eq!(end(&CODEX, &marked, well.clone()).await, failure("400: too long"));
    // The control: the same without the mark.
    let unmarked = [status("active"), status("idle"), words("done")];
    assert_eq!(end(&CODEX, &unmarked, well).await.unwrap().stop, Stop::Done);
}

#[tokio::test]
async fn only_the_last_call_is_no_count_of_the_turn() {
    let well = json!({"stopReason": "end_turn", "usage": USAGE.clone()});
    let counted = async |agent| end(agent, &[words("done")], well.clone()).await.unwrap().counted;
    assert_eq!(counted(&GOOSE).await, Counted::LastCall);
    assert_eq!(counted(&CODEX).await, Counted::Turn);
}

#[tokio::test]
async fn remarks_of_an_agent_are_no_answer() {
    let (ended, told) = simply(&CODEX, Mode::Edit, async |wire| {
        let prompt = wire.open().await;
        wire.say("Warning: Model metadata for `small` not found.\n\n").await;
        wire.say("Warning: it is late.").await;
        wire.end(&prompt).await;
    })
    .await;
    assert_eq!(told, [Output::Text("Warning: it is late.".into())]);
    assert!(ended.is_ok());
}

#[tokio::test]
async fn an_output_that_comes_in_pieces_is_put_together() {
    let (_, told) = simply(&CODEX, Mode::Edit, async |wire| {
        let prompt = wire.open().await;
        for piece in ["one\n", "two\n"] {
            let meta = json!({"terminal_output_delta": {"data": piece}});
            let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "_meta": meta});
            wire.update(update).await;
        }
        wire.end(&prompt).await;
    })
    .await;
    let outputs: Vec<_> = told
        .into_iter()
        .filter_map(|output| match output {
            Output::Tool(update) => update.output,
            _ => None,
        })
        .collect();
    assert_eq!(outputs, ["one\n", "one\ntwo\n"]);
}

/// One would note it in the tree, among the changes that a person reviews.
#[tokio::test]
async fn what_is_allowed_for_good_is_allowed_once_where_it_would_be_noted() {
    for (agent, offered, answer) in [
        (&CLAUDE, &[Permit::Once, Permit::Reject][..], "id-allow_once"),
        (&CODEX, &[Permit::Once, Permit::Always, Permit::Reject], "id-allow_always"),
    ] {
        let person = Person::who_says(Permit::Always);
        let script = async |wire: &mut Wire| {
            let prompt = wire.open().await;
            wire.ask(7, &["allow_always", "allow_once", "reject_once"]).await;
            let answered = wire.read().await.unwrap();
            assert_eq!(answered["result"]["outcome"]["optionId"], answer, "{}", agent.name);
            wire.end(&prompt).await;
        };
        play(agent, turn(Mode::Ask), &person, &CancellationToken::new(), script).await.0.unwrap();
        assert_eq!(person.asks()[0].options, offered, "{}", agent.name);
    }
}

#[tokio::test]
async fn a_turn_that_ends_because_something_was_refused_is_not_a_cancelled_one() {
    let cancelled = |usage: Value| json!({"stopReason": "cancelled", "usage": usage});
    let script = async |wire: &mut Wire| {
        let prompt = wire.open().await;
        wire.ask(7, &["allow_once", "reject_once"]).await;
        wire.read().await;
        wire.reply(&prompt, cancelled(USAGE.clone())).await;
    };
    let person = Person::who_says(Permit::Reject);
    let (ended, _) = play(&CODEX, turn(Mode::Ask), &person, &CancellationToken::new(), script).await;
    assert_eq!(ended.unwrap().stop, Stop::Done);
    // The control: nothing was refused.
    let ended = end(&CODEX, &[words("hm")], cancelled(USAGE.clone())).await;
    assert_eq!(ended.unwrap().stop, Stop::Cancelled);
}

#[tokio::test]
async fn what_was_said_before_is_told_to_an_agent_that_does_not_go_on() {
    for (finds_it, expected) in [(false, json!(["Before", "Go"])), (true, json!(["Go"]))] {
        let mut turn = turn(Mode::Edit);
        (turn.resume, turn.before) = (Some("old".to_owned()), Some("Before".to_owned()));
        assert_eq!(turn.prompt, [Block::Text("Go".into())]);
        let script = async |wire: &mut Wire| {
            let start = wire.expect("initialize").await;
            let capabilities = json!({"loadSession": true});
            wire.reply(&start, json!({"protocolVersion": 1, "agentCapabilities": capabilities})).await;
            let load = wire.expect("session/load").await;
            if finds_it {
                wire.say("what I said").await;
                wire.reply(&load, json!({})).await;
            } else {
                wire.refuse(&load, -32603, "No such session", json!(null)).await;
                let new = wire.expect("session/new").await;
                wire.reply(&new, json!({"sessionId": SESSION})).await;
            }
            let prompt = wire.set_mode().await;
            let blocks = prompt["params"]["prompt"].as_array().unwrap();
            let texts: Vec<_> = blocks.iter().map(|block| block["text"].clone()).collect();
            assert_eq!(Value::Array(texts), expected);
            wire.end(&prompt).await;
        };
        let person = Person::who_says(None);
        let (ended, _) = play(&GOOSE, turn, &person, &CancellationToken::new(), script).await;
        assert!(!matches!(ended, Err(Error::Gone { .. })), "{ended:?}");
    }
}

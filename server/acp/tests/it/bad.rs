//! Agents that do what no agent should.

use std::time::Duration;

use acp::agents::qwen::QWEN;
use acp::{Error, Limits, Mode, Step, Stop};
use domain::output::Output;
use domain::tool::Permit;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::fake::{Play, Wire, play, simply, turn};
use crate::permits::Person;

const SECONDS: Duration = Duration::from_secs(5);

/// The error of an agent that plays this, within these limits.
async fn error(limits: Limits, script: impl AsyncFnOnce(&mut Wire)) -> Error {
    let mut turn = turn(Mode::Edit);
    turn.limits = limits;
    play(&QWEN, turn, &Person::who_says(Permit::Reject), &CancellationToken::new(), script)
        .await
        .0
        .unwrap_err()
}

#[tokio::test]
async fn one_that_exits_at_once_is_quoted() {
    let ended = error(Limits::default(), async |wire| wire.raw("Error: node 22 is needed").await).await;
    assert_eq!(ended.to_string(), "Qwen Code ended while it was to start. It said: Error: node 22 is needed");
    let silent = error(Limits::default(), async |_| {}).await;
    assert_eq!(silent, Error::Gone { agent: "Qwen Code", step: Step::Start, said: String::new() });
}

#[tokio::test]
async fn one_that_dies_in_the_middle_leaves_what_it_said() {
    let (ended, told) = simply(&QWEN, Mode::Edit, async |wire| {
        wire.open().await;
        wire.say("half").await;
    })
    .await;
    assert_eq!(ended, Err(Error::Gone { agent: "Qwen Code", step: Step::Answer, said: String::new() }));
    assert_eq!(told, [Output::Text("half".into())]);
}

#[tokio::test]
async fn one_that_talks_garbage_is_stopped_and_quoted() {
    let ended = error(Limits::default(), async |wire| {
        for _ in 0..1_000 {
            wire.raw("Welcome to the shell!").await;
        }
        wire.until_hung_up().await;
    })
    .await;
    let Error::Garbage { said, .. } = &ended else { panic!("{ended}") };
    assert!(said.starts_with("Welcome to the shell!") && said.len() <= 2_000, "{said}");
}

#[tokio::test]
async fn one_endless_line_is_given_up_early() {
    let limits = Limits { line_bytes: 1 << 20, ..Limits::default() };
    let ended = error(limits, async |wire| {
        wire.open().await;
        let piece = "x".repeat(1 << 16);
        // A hundred megabytes without an end of line.
        for _ in 0..1_600 {
            wire.piece(&piece).await;
        }
        wire.until_hung_up().await;
    })
    .await;
    assert_eq!(ended.to_string(), "Qwen Code sent more than 1024 KB in one message, and was stopped.");
}

#[tokio::test]
async fn a_flood_of_messages_is_stopped() {
    let limits = Limits { messages: 5_000, ..Limits::default() };
    let ended = error(limits, async |wire| {
        wire.open().await;
        for _ in 0..20_000 {
            wire.say("x").await;
        }
        wire.until_hung_up().await;
    })
    .await;
    assert_eq!(ended, Error::Flood { agent: "Qwen Code", what: "5000 messages".into() });
}

#[tokio::test]
async fn a_flood_of_answers_that_nobody_asked_for_is_stopped() {
    let ended = error(Limits::default(), async |wire| {
        wire.open().await;
        for _ in 0..1_000 {
            wire.send(json!({"jsonrpc": "2.0", "id": "nobody's", "result": {}})).await;
        }
        wire.until_hung_up().await;
    })
    .await;
    assert_eq!(ended, Error::Flood { agent: "Qwen Code", what: "100 answers".into() });
}

#[tokio::test]
async fn requests_without_end_are_refused_one_by_one() {
    let (ended, _) = simply(&QWEN, Mode::Edit, async |wire| {
        let prompt = wire.open().await;
        for id in 0..500 {
            // Now and then one that asks for a permission, in words that nobody understands.
            let method = if id % 2 == 0 { "terminal/create" } else { "session/request_permission" };
            wire.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"options": 1}})).await;
            assert!(wire.read().await.unwrap()["error"].is_object());
        }
        wire.say("ok").await;
        wire.end(&prompt).await;
    })
    .await;
    assert_eq!(ended.unwrap().stop, Stop::Done);
}

#[tokio::test]
async fn a_flood_of_bytes_is_stopped() {
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    let ended = error(limits, async |wire| {
        wire.open().await;
        for _ in 0..1_000 {
            wire.say(&"x".repeat(10_000)).await;
        }
        wire.until_hung_up().await;
    })
    .await;
    assert_eq!(ended, Error::Flood { agent: "Qwen Code", what: "1 MB".into() });
}

/// A reader who is slow costs no memory: what nobody takes is not read.
#[tokio::test]
async fn an_agent_waits_for_a_slow_reader() {
    let cancel = CancellationToken::new();
    let (outputs, told) = mpsc::channel(1);
    let mut sent = 0;
    let person = Person::who_says(None);
    let ended = Play { outputs: &outputs, cancel: &cancel, person: &person }
        .turn(&QWEN, turn(Mode::Edit), async |wire| {
            wire.open().await;
            // As long as it is taken, or far too long.
            while sent < 100_000 && timeout(Duration::from_millis(300), wire.say("x")).await.is_ok() {
                sent += 1;
            }
            cancel.cancel();
        })
        .await;
    assert_eq!(ended.unwrap().stop, Stop::Cancelled);
    drop(told);
    assert!(sent < 5_000, "{sent} messages were taken though nobody read them");
}

#[tokio::test(start_paused = true)]
async fn one_that_hangs_before_it_is_asked_is_given_up() {
    let slow = |step| Error::Slow { agent: "Qwen Code", step, limit: SECONDS };
    let limits = Limits { start: SECONDS, ..Limits::default() };
    let ended = error(limits, async |wire| wire.until_hung_up().await).await;
    assert_eq!(ended, slow(Step::Start));
    assert_eq!(ended.to_string(), "Qwen Code did not start within 5 seconds.");
    let ended = error(limits, async |wire| {
        let start = wire.expect("initialize").await;
        wire.reply(&start, json!({"protocolVersion": 1})).await;
        wire.until_hung_up().await;
    })
    .await;
    assert_eq!(ended, slow(Step::Open));
}

#[tokio::test(start_paused = true)]
async fn one_that_falls_silent_is_given_up_unless_a_person_is_asked() {
    let mut asked = turn(Mode::Ask);
    asked.limits.silence = SECONDS;
    let cancel = CancellationToken::new();
    let script = async |wire: &mut Wire| {
        wire.open().await;
        wire.say("half").await;
        wire.until_hung_up().await;
    };
    let (ended, _) = play(&QWEN, asked.clone(), &Person::away(), &cancel, script).await;
    assert_eq!(ended, Err(Error::Slow { agent: "Qwen Code", step: Step::Answer, limit: SECONDS }));
    let script = async |wire: &mut Wire| {
        let prompt = wire.open().await;
        wire.ask(0, &["allow_once", "reject_once"]).await;
        tokio::time::sleep(3 * SECONDS).await;
        wire.end(&prompt).await;
    };
    let (ended, _) = play(&QWEN, asked, &Person::away(), &cancel, script).await;
    assert_eq!(ended.unwrap().stop, Stop::Done);
}

#[tokio::test(start_paused = true)]
async fn one_that_does_not_hear_that_it_is_cancelled_is_left() {
    let cancel = CancellationToken::new();
    let person = Person::who_says(None);
    let (ended, _) = play(&QWEN, turn(Mode::Edit), &person, &cancel, async |wire| {
        wire.open().await;
        cancel.cancel();
        wire.until_hung_up().await;
    })
    .await;
    assert_eq!(ended.unwrap().stop, Stop::Cancelled);
}

#[tokio::test]
async fn one_that_was_cancelled_before_it_was_asked_is_not_asked() {
    let cancel = CancellationToken::new();
    let person = Person::who_says(None);
    let (ended, _) = play(&QWEN, turn(Mode::Edit), &person, &cancel, async |wire| {
        wire.expect("initialize").await;
        cancel.cancel();
        wire.until_hung_up().await;
    })
    .await;
    assert_eq!(ended, Err(Error::Cancelled { agent: "Qwen Code" }));
}

#[tokio::test]
async fn a_refusal_is_told_in_the_agents_words() {
    let check = async |method: &str, code: i32, data: serde_json::Value, expected: &str| {
        let ended = error(Limits::default(), async |wire| {
            while let Some(request) = wire.read().await {
                let result = json!({"protocolVersion": 1, "sessionId": "s1"});
                match request["method"].as_str() {
                    Some(asked) if asked == method => {
                        wire.refuse(&request, code, "Internal error", data.clone()).await
                    }
                    _ => wire.reply(&request, result).await,
                }
            }
        })
        .await;
        assert_eq!(ended.to_string(), expected);
    };
    let details = json!({"details": "400 too long"});
    let start = "Qwen Code would not start. It said: Internal error: 400 too long";
    check("initialize", -32603, details.clone(), start).await;
    check("session/new", -32000, json!(null), "Qwen Code wants to be signed in. It said: Internal error")
        .await;
    let mode = "Qwen Code would not change its mode. It said: Internal error: no such mode";
    check("session/set_mode", -32602, json!("no such mode"), mode).await;
    check("session/prompt", -32603, details, "The model failed. It said: Internal error: 400 too long").await;
}

#[tokio::test]
async fn another_version_of_the_protocol_is_not_spoken() {
    let ended = error(Limits::default(), async |wire| {
        let start = wire.expect("initialize").await;
        wire.reply(&start, json!({"protocolVersion": 9})).await;
        wire.until_hung_up().await;
    })
    .await;
    let said = ended.to_string();
    assert!(said.contains("would not start") && said.contains("version 9"), "{said}");
}

//! What holds for every agent, with one that a test plays.

use acp::agents::goose::GOOSE;
use acp::agents::qwen::QWEN;
use acp::{Agent, Counted, Ended, Error, Mode, Stop};
use domain::output::{Output, Usage};
use domain::tool::{Item, ItemStatus, Kind, Permit, Plan, Status, Update};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fake::{SESSION, play, simply, turn};
use crate::permits::Person;

fn text(said: &str) -> Output {
    Output::Text(said.to_owned())
}

#[tokio::test]
async fn a_turn_tells_text_and_how_it_ended() {
    let (ended, told) = simply(&GOOSE, Mode::Edit, async |wire| {
        let prompt = wire.open().await;
        assert_eq!(prompt["params"]["prompt"], json!([{"type": "text", "text": "Go"}]));
        wire.say("Hello ").await;
        wire.say("there").await;
        wire.end(&prompt).await;
    })
    .await;
    assert_eq!(told, [text("Hello "), text("there")]);
    let usage = Some(Usage { prompt_tokens: Some(10), completion_tokens: Some(2) });
    let expected = Ended {
        session: SESSION.into(),
        can_resume: true,
        resumed: false,
        usage,
        counted: Counted::LastCall,
        stop: Stop::Done,
    };
    assert_eq!(ended, Ok(expected));
}

#[tokio::test]
async fn neither_files_nor_terminals_are_offered_to_an_agent() {
    let (ended, _) = simply(&GOOSE, Mode::Ask, async |wire| {
        let start = wire.expect("initialize").await;
        let offered = &start["params"]["clientCapabilities"];
        assert_ne!(offered.pointer("/fs/readTextFile"), Some(&json!(true)), "{offered}");
        assert_ne!(offered.pointer("/fs/writeTextFile"), Some(&json!(true)), "{offered}");
        assert_ne!(offered.pointer("/terminal"), Some(&json!(true)), "{offered}");
    })
    .await;
    assert!(ended.is_err());
}

#[tokio::test]
async fn the_mode_is_always_set_by_the_agents_own_name() {
    for (agent, mode, name) in [
        (&QWEN, Mode::Ask, "default"),
        (&QWEN, Mode::Edit, "auto-edit"),
        (&QWEN, Mode::ReadOnly, "plan"),
        (&GOOSE, Mode::Ask, "approve"),
        (&GOOSE, Mode::Edit, "auto"),
        (&GOOSE, Mode::ReadOnly, "smart_approve"),
    ] {
        let (ended, _) = simply(agent, mode, async |wire| {
            wire.open().await;
            assert_eq!(wire.mode, name);
        })
        .await;
        assert!(ended.is_err());
    }
}

#[tokio::test]
async fn an_agent_without_the_mode_is_not_asked() {
    let (ended, _) = simply(&QWEN, Mode::ReadOnly, async |wire| {
        let start = wire.expect("initialize").await;
        wire.reply(&start, json!({"protocolVersion": 1})).await;
        let new = wire.expect("session/new").await;
        let modes = json!({"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]});
        wire.reply(&new, json!({"sessionId": SESSION, "modes": modes})).await;
        assert_eq!(wire.read().await, None);
    })
    .await;
    assert_eq!(ended.unwrap_err().to_string(), r#"Qwen Code has no mode "plan". It has a."#);
}

#[tokio::test]
async fn an_agent_that_leaves_its_read_only_mode_is_stopped() {
    let (ended, _) = simply(&QWEN, Mode::ReadOnly, async |wire| {
        wire.open().await;
        wire.update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "yolo"})).await;
        wire.until_hung_up().await;
    })
    .await;
    assert_eq!(ended, Err(Error::LeftMode { agent: "Qwen Code", now: "yolo".into() }));
}

#[tokio::test]
async fn everything_else_an_agent_does_is_told_once() {
    let (ended, told) = simply(&QWEN, Mode::Edit, async |wire| {
        let prompt = wire.open().await;
        let thought = json!({"type": "text", "text": "Hm"});
        wire.update(json!({"sessionUpdate": "agent_thought_chunk", "content": thought})).await;
        let entries = json!([{"content": "Look", "priority": "low", "status": "in_progress"}]);
        wire.update(json!({"sessionUpdate": "plan", "entries": entries})).await;
        wire.update(
            json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Read a.rs", "kind": "read",
                           "status": "in_progress", "rawInput": {"path": "a.rs"}, "_meta": {"x": 1}}),
        )
        .await;
        let content = json!([{"type": "content", "content": {"type": "text", "text": "fn a() {}"}}]);
        let over = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "title": "Read a.rs",
                          "status": "completed", "content": content});
        wire.update(over.clone()).await;
        wire.update(over).await;
        wire.end(&prompt).await;
    })
    .await;
    let plan = Plan(vec![Item { text: "Look".into(), status: ItemStatus::Running }]);
    let begun = Update {
        id: "c1".into(),
        title: Some("Read a.rs".into()),
        kind: Some(Kind::Read),
        status: Some(Status::Running),
        input: Some("{\n  \"path\": \"a.rs\"\n}".into()),
        output: None,
    };
    let over = Update {
        id: "c1".into(),
        status: Some(Status::Done),
        output: Some("fn a() {}".into()),
        ..Update::default()
    };
    let all = [Output::Reasoning("Hm".into()), Output::Plan(plan), Output::Tool(begun), Output::Tool(over)];
    assert_eq!(told, all);
    assert_eq!(ended.unwrap().stop, Stop::Done);
}

#[tokio::test]
async fn a_long_output_is_cut() {
    let (_, told) = simply(&QWEN, Mode::Edit, async |wire| {
        let prompt = wire.open().await;
        let content = json!([{"type": "content", "content": {"type": "text", "text": "x".repeat(1 << 20)}}]);
        wire.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": content}))
            .await;
        wire.end(&prompt).await;
    })
    .await;
    let [Output::Tool(Update { output: Some(output), .. })] = told.as_slice() else {
        panic!("{}", told.len())
    };
    assert!(output.len() < 40_000 && output.ends_with("KB more"), "{}", output.len());
}

#[tokio::test]
async fn what_is_not_known_is_passed_over() {
    let (ended, told) = simply(&QWEN, Mode::Edit, async |wire| {
        let prompt = wire.open().await;
        wire.send(json!({"jsonrpc": "2.0", "method": "_vendor/news", "params": {"a": 1}})).await;
        wire.send(json!({"jsonrpc": "2.0", "method": "session/update", "params": [1]})).await;
        wire.update(json!({"sessionUpdate": "of_the_future", "_meta": {"b": 2}})).await;
        wire.send(json!({"jsonrpc": "2.0", "id": 7, "method": "fs/read_text_file",
                         "params": {"sessionId": SESSION, "path": "/etc/passwd"}}))
            .await;
        let refusal = wire.read().await.unwrap();
        assert_eq!((&refusal["id"], refusal["error"].is_object()), (&json!(7), true), "{refusal}");
        wire.raw("npm warn a greeting on stdout").await;
        wire.say("ok").await;
        wire.end(&prompt).await;
    })
    .await;
    assert_eq!(told, [text("ok")]);
    assert_eq!(ended.unwrap().stop, Stop::Done);
}

#[tokio::test]
async fn a_permission_is_asked_and_answered_by_its_kind() {
    for (answer, outcome, over) in [
        (Some(Permit::Once), json!({"outcome": "selected", "optionId": "id-allow_once"}), None),
        (
            Some(Permit::Reject),
            json!({"outcome": "selected", "optionId": "id-reject_once"}),
            Some(Status::Failed),
        ),
        (None, json!({"outcome": "cancelled"}), Some(Status::Failed)),
    ] {
        let person = Person::who_says(answer);
        let cancel = CancellationToken::new();
        let (ended, told) = play(&QWEN, turn(Mode::Ask), &person, &cancel, async |wire| {
            let prompt = wire.open().await;
            wire.ask(0, &["allow_always", "allow_once", "reject_once"]).await;
            let reply = wire.read().await.unwrap();
            assert_eq!(reply["result"]["outcome"], outcome);
            wire.end(&prompt).await;
        })
        .await;
        ended.unwrap();
        let [ask] = person.asks().try_into().unwrap();
        assert_eq!((ask.number, ask.title.as_str(), ask.kind), (1, "Run it", Kind::Execute));
        assert_eq!(ask.detail, "make");
        assert_eq!(ask.options, [Permit::Once, Permit::Always, Permit::Reject]);
        let statuses: Vec<_> = told
            .iter()
            .map(|output| match output {
                Output::Tool(update) => update.status.unwrap(),
                other => panic!("{other:?}"),
            })
            .collect();
        let expected: Vec<_> = [Some(Status::Pending), over].into_iter().flatten().collect();
        assert_eq!(statuses, expected, "{answer:?}");
    }
}

#[tokio::test]
async fn an_agent_that_only_reads_is_refused_without_a_question() {
    let person = Person::who_says(Permit::Always);
    let cancel = CancellationToken::new();
    let (ended, _) = play(&QWEN, turn(Mode::ReadOnly), &person, &cancel, async |wire| {
        let prompt = wire.open().await;
        wire.ask(0, &["allow_once", "reject_once"]).await;
        let reply = wire.read().await.unwrap();
        assert_eq!(reply["result"]["outcome"]["optionId"], "id-reject_once");
        wire.end(&prompt).await;
    })
    .await;
    ended.unwrap();
    assert!(person.asks().is_empty());
}

#[tokio::test]
async fn an_agent_goes_on_talking_while_a_person_is_asked() {
    let person = Person::away();
    let cancel = CancellationToken::new();
    let (ended, told) = play(&QWEN, turn(Mode::Ask), &person, &cancel, async |wire| {
        let prompt = wire.open().await;
        wire.ask(0, &["allow_once", "reject_once"]).await;
        wire.say("meanwhile").await;
        wire.end(&prompt).await;
    })
    .await;
    assert_eq!(ended.unwrap().stop, Stop::Done);
    assert_eq!(told.last(), Some(&text("meanwhile")));
}

#[tokio::test]
async fn a_cancelled_turn_ends_with_its_questions() {
    let person = Person::away();
    let cancel = CancellationToken::new();
    let (ended, told) = play(&QWEN, turn(Mode::Ask), &person, &cancel, async |wire| {
        let prompt = wire.open().await;
        wire.say("half").await;
        wire.ask(0, &["allow_once", "reject_once"]).await;
        while person.asks().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        let reply = wire.read().await.unwrap();
        assert_eq!(reply["result"]["outcome"], json!({"outcome": "cancelled"}));
        let stop = wire.expect("session/cancel").await;
        assert_eq!(stop["params"]["sessionId"], SESSION);
        wire.reply(&prompt, json!({"stopReason": "cancelled"})).await;
    })
    .await;
    assert_eq!(ended.unwrap().stop, Stop::Cancelled);
    assert_eq!(told[0], text("half"));
}

/// `history` is what the agent replays when it is asked to load.
async fn resume(
    agent: &'static Agent,
    capabilities: Value,
    found: bool,
) -> (Ended, Vec<Output>, Vec<String>) {
    let person = Person::who_says(None);
    let mut asked = turn(Mode::Edit);
    asked.resume = Some(SESSION.into());
    asked.before = Some("said before".into());
    let mut methods = Vec::new();
    let (ended, told) = play(agent, asked, &person, &CancellationToken::new(), async |wire| {
        let start = wire.expect("initialize").await;
        wire.reply(&start, json!({"protocolVersion": 1, "agentCapabilities": capabilities})).await;
        let prompt = loop {
            let request = wire.read().await.unwrap();
            let method = request["method"].as_str().unwrap().to_owned();
            match method.as_str() {
                "session/load" if found => {
                    wire.say("an old answer").await;
                    wire.reply(&request, json!({})).await;
                }
                "session/load" | "session/resume" if !found => {
                    wire.refuse(&request, -32002, "no", json!("s")).await
                }
                "session/new" => wire.reply(&request, json!({"sessionId": SESSION})).await,
                "session/prompt" => break request,
                _ => wire.reply(&request, json!({})).await,
            }
            methods.push(method);
        };
        if prompt["params"]["prompt"].to_string().contains("said before") {
            methods.push("told".to_owned());
        }
        wire.say("new").await;
        wire.end(&prompt).await;
    })
    .await;
    (ended.unwrap(), told, methods)
}

#[tokio::test]
async fn a_session_is_resumed_as_the_agent_can_and_its_history_not_told_again() {
    for (capabilities, found, resumed, can_resume, method) in [
        (json!({"loadSession": true}), true, true, true, Some("session/load")),
        (json!({"loadSession": true}), false, false, true, Some("session/load")),
        (json!({"sessionCapabilities": {"resume": {}}}), true, true, true, Some("session/resume")),
        (json!({"sessionCapabilities": {"resume": {}}}), false, false, true, Some("session/resume")),
        (json!({}), true, false, false, None),
    ] {
        let (ended, told, methods) = resume(&QWEN, capabilities.clone(), found).await;
        assert_eq!((ended.resumed, ended.can_resume), (resumed, can_resume), "{capabilities} {found}");
        assert_eq!(methods.contains(&"session/new".into()), !resumed, "{methods:?}");
        assert!(method.is_none_or(|method| methods.contains(&method.into())), "{methods:?}");
        assert_eq!(methods.contains(&"told".into()), !resumed, "who does not remember is told: {methods:?}");
        assert_eq!(told, [text("new")]);
    }
}

#[tokio::test]
async fn a_session_that_is_loaded_without_a_history_was_not_there() {
    let mut asked = turn(Mode::Edit);
    asked.resume = Some("gone".into());
    let (ended, _) = play(&QWEN, asked, &Person::who_says(None), &CancellationToken::new(), async |wire| {
        let start = wire.expect("initialize").await;
        wire.reply(&start, json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}})).await;
        let load = wire.expect("session/load").await;
        wire.reply(&load, json!({})).await;
        let new = wire.expect("session/new").await;
        wire.reply(&new, json!({"sessionId": SESSION})).await;
        let prompt = wire.set_mode().await;
        wire.say("new").await;
        wire.end(&prompt).await;
    })
    .await;
    let ended = ended.unwrap();
    assert_eq!((ended.resumed, ended.session.as_str()), (false, SESSION));
}

#[tokio::test]
async fn tokens_are_counted_as_each_agent_tells_them() {
    let script = async |wire: &mut crate::fake::Wire| {
        let prompt = wire.open().await;
        for tokens in [100, 200] {
            let content = json!({"type": "text", "text": "x"});
            let meta = json!({"usage": {"inputTokens": tokens, "outputTokens": 1}});
            wire.update(json!({"sessionUpdate": "agent_message_chunk", "content": content, "_meta": meta}))
                .await;
        }
        wire.end(&prompt).await;
    };
    let usage =
        |prompt, completion| Usage { prompt_tokens: Some(prompt), completion_tokens: Some(completion) };
    let (qwen, _) = simply(&QWEN, Mode::Edit, script).await;
    let qwen = qwen.unwrap();
    assert_eq!((qwen.usage, qwen.counted), (Some(usage(300, 2)), Counted::Turn));
    let (goose, _) = simply(&GOOSE, Mode::Edit, script).await;
    let goose = goose.unwrap();
    assert_eq!((goose.usage, goose.counted), (Some(usage(10, 2)), Counted::LastCall));
}

#[tokio::test]
async fn a_success_that_is_none_is_a_failure() {
    let error = "Ran into this error: Server error: 500.";
    for (said, usage, expected) in [
        (vec!["half an", error], None, Error::Model { said: format!("half an{error}") }),
        (vec![error], Some(()), Error::Model { said: error.into() }),
        (vec![], Some(()), Error::Wordless { agent: "Goose" }),
    ] {
        let (ended, _) = simply(&GOOSE, Mode::Edit, async |wire| {
            let prompt = wire.open().await;
            for text in &said {
                wire.say(text).await;
            }
            match usage {
                Some(()) => wire.end(&prompt).await,
                None => wire.reply(&prompt, json!({"stopReason": "end_turn"})).await,
            }
        })
        .await;
        assert_eq!(ended, Err(expected), "{said:?}");
    }
}

#[tokio::test]
async fn a_turn_that_was_cut_short_says_so() {
    for (reason, stop) in
        [("max_tokens", Stop::TokenLimit), ("max_turn_requests", Stop::CallLimit), ("refusal", Stop::Refused)]
    {
        let (ended, _) = simply(&GOOSE, Mode::Edit, async |wire| {
            let prompt = wire.open().await;
            wire.reply(&prompt, json!({"stopReason": reason})).await;
        })
        .await;
        assert_eq!(ended.unwrap().stop, stop);
    }
}

#[tokio::test]
async fn what_a_call_is_about_is_told_as_text() {
    let diff = json!([{"type": "diff", "path": "a.rs", "oldText": "", "newText": "fn a() {}"}]);
    for (call, input, output) in [
        (json!({"rawInput": {"command": "ls"}}), Some("ls"), None),
        (json!({"rawInput": "as it is"}), Some("as it is"), None),
        (json!({"content": diff}), Some("a.rs\nfn a() {}"), None),
        (
            json!({"rawInput": {"command": "ls"}, "content": diff, "status": "completed"}),
            Some("ls"),
            Some("Changed a.rs"),
        ),
        (json!({"locations": [{"path": "a.rs", "line": 3}, {"path": "b.rs"}]}), Some("a.rs:3\nb.rs"), None),
        (json!({"locations": [{"path": "a.rs"}], "status": "completed", "rawOutput": "3"}), None, Some("3")),
    ] {
        let (_, told) = simply(&QWEN, Mode::Edit, async |wire| {
            let prompt = wire.open().await;
            let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "t"});
            update.as_object_mut().unwrap().extend(call.as_object().unwrap().clone());
            wire.update(update).await;
            wire.end(&prompt).await;
        })
        .await;
        let [Output::Tool(update)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((update.input.as_deref(), update.output.as_deref()), (input, output), "{call}");
    }
}

#[tokio::test]
async fn two_messages_do_not_run_together() {
    let (_, told) = simply(&GOOSE, Mode::Edit, async |wire| {
        let prompt = wire.open().await;
        for (id, text) in [("m1", "One."), ("m1", " Still."), ("m2", "Two.")] {
            let content = json!({"type": "text", "text": text});
            wire.update(json!({"sessionUpdate": "agent_message_chunk", "content": content, "messageId": id}))
                .await;
        }
        wire.end(&prompt).await;
    })
    .await;
    assert_eq!(told, [text("One."), text(" Still."), text("\n\nTwo.")]);
}

/// The server runs turns as tasks of their own.
#[tokio::test]
async fn a_turn_can_move_between_threads() {
    let task = tokio::spawn(async {
        let (stdin, stdout) = (tokio::io::sink(), tokio::io::empty());
        let (outputs, _told) = tokio::sync::mpsc::channel(1);
        let (person, cancel) = (Person::who_says(None), CancellationToken::new());
        acp::run(&QWEN, stdin, stdout, turn(Mode::Edit), &outputs, &person, &cancel).await
    });
    assert!(matches!(task.await.unwrap(), Err(Error::Gone { .. })));
}

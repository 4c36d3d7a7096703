//! The real agents, against a model server that does as it is told.

mod process;

#[cfg(target_arch = "x86_64")]
use acp::agents::goose::GOOSE;
use acp::agents::qwen::QWEN;
use acp::{Agent, Counted, Error, Mode, Stop};
use domain::output::Output;
use domain::tool::{Kind, Permit, Status};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::permits::Person;
use process::{Outcome, Workshop};

/// A call of the agent's tool that writes a file.
fn write(shop: &Workshop, name: &str, content: &str) -> String {
    let path = shop.work().join(name);
    match shop.agent.name {
        "qwen" => format!("[[tool write_file {}]]", json!({"file_path": path, "content": content})),
        _ => format!("[[tool write {}]]", json!({"path": path, "content": content})),
    }
}

/// A call of the agent's tool that runs a command.
fn shell(shop: &Workshop, command: &str) -> String {
    match shop.agent.name {
        "qwen" => {
            format!("[[tool run_shell_command {}]]", json!({"command": command, "is_background": false}))
        }
        _ => format!("[[tool shell {}]]", json!({"command": command})),
    }
}

/// A call of the agent's tool that lists the folder.
fn list(shop: &Workshop) -> String {
    let tool = if shop.agent.name == "qwen" { "list_directory" } else { "tree" };
    format!("[[tool {tool} {}]]", json!({"path": shop.work()}))
}

fn text(told: &[Output]) -> String {
    let text = |output: &Output| match output {
        Output::Text(text) => Some(text.clone()),
        _ => None,
    };
    told.iter().filter_map(text).collect()
}

/// The kind and the last status of each call.
fn calls(told: &[Output]) -> Vec<(Kind, Status)> {
    let mut calls: Vec<(String, Kind, Status)> = Vec::new();
    for output in told {
        let Output::Tool(update) = output else { continue };
        let at = calls.iter().position(|(id, ..)| *id == update.id).unwrap_or_else(|| {
            calls.push((update.id.clone(), Kind::Other, Status::Pending));
            calls.len() - 1
        });
        calls[at].1 = update.kind.unwrap_or(calls[at].1);
        calls[at].2 = update.status.unwrap_or(calls[at].2);
    }
    calls.into_iter().map(|(_, kind, status)| (kind, status)).collect()
}

async fn says_text(agent: &'static Agent) {
    let shop = Workshop::open(agent).await;
    let Outcome { ended, told, .. } = shop.simply(Mode::Edit, "[[reasoning hm]] [[say Hello there]]").await;
    let ended = ended.unwrap();
    assert_eq!((ended.stop, ended.can_resume, ended.resumed), (Stop::Done, true, false));
    assert_eq!(text(&told), "Hello there");
    assert!(told.contains(&Output::Reasoning("hm".into())), "{told:?}");
    let usage = ended.usage.unwrap();
    assert!(usage.prompt_tokens > Some(500) && usage.completion_tokens > Some(0), "{usage:?}");
}

async fn changes_files_and_runs_commands(agent: &'static Agent) {
    let shop = Workshop::open(agent).await;
    let (write, shell) =
        (write(&shop, "a.txt", "from a tool\n"), shell(&shop, "tr a-z A-Z < a.txt > b.txt; cat b.txt"));
    let person = Person::who_says(Permit::Once);
    let script = format!("{write} {shell} [[say done]]");
    let Outcome { ended, told, .. } =
        shop.turn(Mode::Edit, &script, None, &person, &CancellationToken::new()).await;
    let ended = ended.unwrap();
    assert_eq!(shop.read("a.txt").as_deref(), Some("from a tool\n"));
    assert_eq!(shop.read("b.txt").as_deref(), Some("FROM A TOOL\n"));
    assert_eq!(calls(&told), [(Kind::Edit, Status::Done), (Kind::Execute, Status::Done)], "{told:?}");
    assert_eq!(text(&told), "done");
    let mut outputs = told.iter().rev().filter_map(|output| match output {
        Output::Tool(update) => update.output.clone(),
        _ => None,
    });
    assert!(outputs.next().is_some_and(|output| output.contains("FROM A TOOL")), "{told:?}");
    // Three calls of the model, and only one agent counts them all.
    let expected = if agent.name == "qwen" { Counted::Turn } else { Counted::LastCall };
    assert_eq!(ended.counted, expected);
}

async fn asks_before_it_acts(agent: &'static Agent) {
    for (permit, written, status) in [
        (Permit::Once, true, Status::Done),
        (Permit::Always, true, Status::Done),
        (Permit::Reject, false, Status::Failed),
    ] {
        let shop = Workshop::open(agent).await;
        let script = format!("{} [[say done]]", shell(&shop, "echo x > a.txt"));
        let person = Person::who_says(permit);
        let outcome = shop.turn(Mode::Ask, &script, None, &person, &CancellationToken::new()).await;
        outcome.ended.unwrap();
        assert_eq!(shop.read("a.txt").is_some(), written, "{permit:?}");
        assert_eq!(calls(&outcome.told), [(Kind::Execute, status)], "{permit:?} {:?}", outcome.told);
        let [ask] = person.asks().try_into().unwrap();
        assert_eq!(ask.kind, Kind::Execute);
        assert!(ask.detail.contains("echo x > a.txt") && ask.options.contains(&Permit::Once), "{ask:?}");
        // What is remembered is not remembered in the tree.
        assert_eq!(shop.files(), if written { vec!["a.txt"] } else { vec![] }, "{permit:?}");
    }
}

async fn reads_and_changes_nothing_when_it_only_reads(agent: &'static Agent) {
    let shop = Workshop::open(agent).await;
    let outcome = shop.simply(Mode::ReadOnly, &format!("{} [[say done]]", list(&shop))).await;
    outcome.ended.unwrap();
    assert!(matches!(calls(&outcome.told).as_slice(), [(_, Status::Done)]), "{:?}", outcome.told);
    let script = format!("{} {} [[say done]]", write(&shop, "a.txt", "x"), shell(&shop, "echo x > b.txt"));
    let person = Person::who_says(Permit::Always);
    let outcome = shop.turn(Mode::ReadOnly, &script, None, &person, &CancellationToken::new()).await;
    outcome.ended.unwrap();
    assert_eq!(shop.files(), Vec::<String>::new());
    assert!(person.asks().is_empty());
    // The control: the same script, where it may.
    let outcome = shop.turn(Mode::Edit, &script, None, &person, &CancellationToken::new()).await;
    outcome.ended.unwrap();
    assert_eq!(shop.files(), ["a.txt", "b.txt"]);
}

async fn stops_when_it_is_told(agent: &'static Agent) {
    // While the model talks, and while it is asked again and again because its server fails.
    for (script, hears_text) in [("[[tokens 3]] [[hang after 1]]", true), ("[[die]]", false)] {
        let shop = Workshop::open(agent).await;
        let cancel = CancellationToken::new();
        let stopper = async {
            shop.until_asked().await;
            cancel.cancel();
        };
        let person = Person::who_says(None);
        let (outcome, ()) = tokio::join!(shop.turn(Mode::Edit, script, None, &person, &cancel), stopper);
        assert_eq!(outcome.ended.unwrap().stop, Stop::Cancelled, "{script}");
        assert!(hears_text || text(&outcome.told).is_empty(), "{:?}", outcome.told);
        assert!(outcome.left_by_itself, "{} stays when its stdin is closed", agent.title);
    }
}

/// `script` makes the model fail; the agent's words about it have to hold `words`.
async fn tells_a_failure(agent: &'static Agent, script: &str, words: &str) {
    let shop = Workshop::open(agent).await;
    let script = script.replace("SHELL", &shell(&shop, "echo x"));
    let person = Person::who_says(Permit::Once);
    let outcome = shop.turn(Mode::Edit, &script, None, &person, &CancellationToken::new()).await;
    let Err(Error::Model { said }) = &outcome.ended else { panic!("{script}: {:?}", outcome.ended) };
    assert!(said.contains(words), "{script}: {said}");
}

async fn resumes_in_a_new_process(agent: &'static Agent) {
    let shop = Workshop::open(agent).await;
    let person = Person::who_says(None);
    let cancel = CancellationToken::new();
    let long = "word ".repeat(2_000);
    let first = shop.turn(Mode::Edit, &format!("{long} [[say first]]"), None, &person, &cancel).await;
    let first = first.ended.unwrap();
    let second = shop.turn(Mode::Edit, "[[say second]]", Some(first.session.clone()), &person, &cancel).await;
    let ended = second.ended.unwrap();
    assert_eq!((ended.resumed, &ended.session), (true, &first.session));
    assert_eq!(text(&second.told), "second");
    assert!(shop.histories().await.iter().any(|history| history == "first"), "the answer was forgotten");
    // The control: a session that never was.
    let unknown = Some("11111111-2222-4333-8444-555555555555".to_owned());
    let third = shop.turn(Mode::Edit, "[[say third]]", unknown, &person, &cancel).await;
    let fresh = third.ended.unwrap();
    assert!(!fresh.resumed && fresh.session != first.session);
    assert!(
        ended.usage.unwrap().prompt_tokens > fresh.usage.unwrap().prompt_tokens.map(|tokens| tokens + 1_000)
    );
}

macro_rules! with_each {
    ($($name:ident),*) => {
        mod qwen {
            $(#[tokio::test] async fn $name() { super::$name(&super::QWEN).await; })*
        }
        // It is made for this processor alone.
        #[cfg(target_arch = "x86_64")]
        mod goose {
            $(#[tokio::test] async fn $name() { super::$name(&super::GOOSE).await; })*
        }
    };
}

with_each!(
    says_text,
    changes_files_and_runs_commands,
    asks_before_it_acts,
    reads_and_changes_nothing_when_it_only_reads,
    stops_when_it_is_told,
    resumes_in_a_new_process
);

#[tokio::test]
async fn qwen_tells_that_the_model_failed() {
    for (script, words) in [
        ("[[status 400]]", "400"),
        ("[[overflow]]", "exceeds the available context size"),
        ("[[tokens 9]] [[cut after 3]]", "terminated"),
        ("SHELL [[status 400 step 1]] [[say done]]", "400"),
    ] {
        tells_a_failure(&QWEN, script, words).await;
    }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn goose_tells_that_the_model_failed() {
    for (script, words) in [
        ("[[die]]", "500"),
        ("[[tokens 9]] [[cut after 3]]", "Network error"),
        ("[[tokens 9]] [[truncate after 3]]", " "),
        ("SHELL [[status 400 step 1]] [[say done]]", "400"),
    ] {
        tells_a_failure(&GOOSE, script, words).await;
    }
}

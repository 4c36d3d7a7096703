//! The real agents, against a model server that does as it is told.
//!
//! Without a wall: what is tested here is how each of them talks. `cargo xtask test` runs those of
//! [`acp::agents::TESTED_ALWAYS`], `cargo xtask test --agents` all.

mod process;

use std::time::Duration;

use acp::agents::{
    claude::CLAUDE, codex::CODEX, gemini::GEMINI, goose::GOOSE, opencode::OPENCODE, qwen::QWEN,
};
use acp::{Agent, Counted, Error, Mode, Stop};
use domain::output::Output;
use domain::tool::{Kind, Permit, Status};
use scripted::calls::{asking_shell, list, shell, write};
use tokio_util::sync::CancellationToken;

use crate::permits::Person;
use process::{Outcome, Workshop};

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
    let reasons = |output: &Output| matches!(output, Output::Reasoning(text) if text.ends_with("hm"));
    assert!(told.iter().any(reasons), "{told:?}");
    let usage = ended.usage.unwrap();
    assert!(usage.prompt_tokens > Some(500) && usage.completion_tokens > Some(0), "{usage:?}");
}

async fn changes_files_and_runs_commands(agent: &'static Agent) {
    let shop = Workshop::open(agent).await;
    let write = write(agent.name, &shop.work().join("a.txt"), "from a tool\n");
    let shell = shell(agent.name, "tr a-z A-Z < a.txt > b.txt; cat b.txt");
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
    // One agent does not tell what its commands said.
    let tells_outputs = agent.name != "gemini";
    assert!(outputs.any(|output| output.contains("FROM A TOOL")) == tells_outputs, "{told:?}");
    // Three calls of the model, and not every agent counts them all.
    let first = shop.simply(Mode::Edit, "[[say one]]").await.ended.unwrap().usage.unwrap().prompt_tokens;
    let counts_all = ended.usage.unwrap().prompt_tokens > first.map(|tokens| 2 * tokens);
    assert_eq!(counts_all, ended.counted == Counted::Turn, "{:?} {first:?}", ended.usage);
}

async fn asks_before_it_acts(agent: &'static Agent) {
    for (permit, written, status) in [
        (Permit::Once, true, Status::Done),
        (Permit::Always, true, Status::Done),
        (Permit::Reject, false, Status::Failed),
    ] {
        let shop = Workshop::open(agent).await;
        let script = format!("{} [[say done]]", asking_shell(agent.name, "echo x > a.txt"));
        let person = Person::who_says(permit);
        let outcome = shop.turn(Mode::Ask, &script, None, &person, &CancellationToken::new()).await;
        outcome.ended.unwrap();
        assert_eq!(shop.read("a.txt").is_some(), written, "{permit:?}");
        assert_eq!(calls(&outcome.told), [(Kind::Execute, status)], "{permit:?} {:?}", outcome.told);
        let [ask] = person.asks().try_into().unwrap();
        assert_eq!(ask.kind, Kind::Execute);
        let said = format!("{} {}", ask.title, ask.detail);
        assert!(said.contains("echo x > a.txt") && ask.options.contains(&Permit::Once), "{ask:?}");
        // What is remembered is not remembered in the tree.
        assert_eq!(shop.files(), if written { vec!["a.txt"] } else { vec![] }, "{permit:?}");
    }
}

async fn reads_and_changes_nothing_when_it_only_reads(agent: &'static Agent) {
    let shop = Workshop::open(agent).await;
    let list = list(agent.name, &shop.work());
    let outcome = shop.simply(Mode::ReadOnly, &format!("{list} [[say done]]")).await;
    outcome.ended.unwrap();
    assert!(matches!(calls(&outcome.told).as_slice(), [(_, Status::Done)]), "{:?}", outcome.told);
    let write = write(agent.name, &shop.work().join("a.txt"), "x\n");
    let script = format!("{write} {} [[say done]]", shell(agent.name, "echo x > b.txt"));
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
    // While the model talks, before it says anything, and while it is asked again and again because its server
    // fails, which one agent does not do.
    let scripts = [("[[tokens 3]] [[hang after 1]]", true), ("[[hang]]", false), ("[[die]]", false)];
    let count = if agent.name == "codex" { 2 } else { 3 };
    for (script, hears_text) in &scripts[..count] {
        let shop = Workshop::open(agent).await;
        let cancel = CancellationToken::new();
        let stopper = async {
            shop.until_asked().await;
            cancel.cancel();
        };
        let person = Person::who_says(None);
        let (outcome, ()) = tokio::join!(shop.turn(Mode::Edit, script, None, &person, &cancel), stopper);
        assert_eq!(outcome.ended.unwrap().stop, Stop::Cancelled, "{script}");
        assert!(*hears_text || text(&outcome.told).is_empty(), "{:?}", outcome.told);
        assert!(outcome.left_by_itself, "{} stays when its stdin is closed", agent.title);
    }
}

/// A turn that fails is never taken for one that ended well, whatever the agent calls it. What an agent tries again
/// without end is not here: the relay ends it.
async fn tells_that_the_model_failed(agent: &'static Agent) {
    const CUT: &str = "[[tokens 9]] [[cut after 3]]";
    const TRUNCATED: &str = "[[tokens 9]] [[truncate after 3]]";
    const SECOND_CALL: (&str, &str) = ("SHELL [[status 400 step 1]] [[say done]]", "400");
    const STATUS: (&str, &str) = ("[[status 400]]", "400");
    const OVERFLOW: (&str, &str) = ("[[overflow]]", "exceeds the available context size");
    let failures: &[(&str, &str)] = match agent.name {
        "qwen" => &[STATUS, OVERFLOW, (CUT, "terminated"), SECOND_CALL],
        "goose" => &[("[[die]]", "500"), (CUT, "Network error"), (TRUNCATED, " "), SECOND_CALL],
        "codex" => &[
            STATUS,
            OVERFLOW,
            ("[[die]]", "high demand"),
            (CUT, "stream disconnected"),
            (TRUNCATED, "stream disconnected"),
            SECOND_CALL,
        ],
        "gemini" => &[STATUS, OVERFLOW, (CUT, "terminated"), (TRUNCATED, " "), SECOND_CALL],
        "opencode" => &[STATUS, ("[[overflow]]", "context exceeds model limit"), SECOND_CALL],
        _ => &[STATUS, OVERFLOW, SECOND_CALL],
    };
    for (script, words) in failures {
        tells_a_failure(agent, script, words).await;
    }
}

/// `script` makes the model fail; the agent's words about it have to hold `words`.
async fn tells_a_failure(agent: &'static Agent, script: &str, words: &str) {
    let shop = Workshop::open(agent).await;
    let script = script.replace("SHELL", &shell(agent.name, "echo x"));
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
    if agent.name == "gemini" {
        // It names its files by the minute, and forgets a session that is loaded in the minute of its making.
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
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

/// In its plan mode it would ask another one, if it were told the chosen one in one place only.
async fn plans_with_the_model_that_was_chosen(agent: &'static Agent) {
    let shop = Workshop::open(agent).await;
    let outcome = shop.simply(Mode::ReadOnly, "Make a plan. [[say planned]]").await;
    assert_eq!(text(&outcome.told), "planned");
    let models = shop.models().await;
    assert!(!models.is_empty() && models.iter().all(|model| model == "small"), "{models:?}");
}

macro_rules! tests_of {
    ($(#[$made_for:meta])? $agent:ident $module:ident $($more:ident)*) => {
        $(#[$made_for])?
        mod $module {
            tests_of!(@ $agent
                says_text
                changes_files_and_runs_commands
                asks_before_it_acts
                stops_when_it_is_told
                resumes_in_a_new_process
                tells_that_the_model_failed
                $($more)*
            );
        }
    };
    (@ $agent:ident $($name:ident)*) => {
        $(#[tokio::test] async fn $name() { super::$name(&super::$agent).await; })*
    };
}

tests_of!(QWEN qwen reads_and_changes_nothing_when_it_only_reads);
tests_of!(#[cfg(target_arch = "x86_64")] GOOSE goose reads_and_changes_nothing_when_it_only_reads);
// Two have no mode that keeps them from writing; then the wall has to: see the server's tests.
tests_of!(CLAUDE claude plans_with_the_model_that_was_chosen);
tests_of!(CODEX codex);
tests_of!(#[cfg(target_arch = "x86_64")] OPENCODE opencode reads_and_changes_nothing_when_it_only_reads);
tests_of!(GEMINI gemini reads_and_changes_nothing_when_it_only_reads);

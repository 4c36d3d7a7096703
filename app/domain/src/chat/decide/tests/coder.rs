//! Turns that are an agent's work.

use super::*;
use crate::{
    backend::Backend,
    chat::Coder,
    id::WorktreeId,
    output::Phase,
    tool::{self, Ask},
    worktree::{State, Worktree},
};

fn coder_chat() -> Chat {
    Chat { kind: Kind::Coder, ..Story::new().chat }
}

fn coder(host: &str) -> Option<Coder> {
    Some(Coder { backend: Backend::native(), host: host.into(), carry: false, asks: false })
}

fn ask(chat: &Chat, coder: Option<Coder>) -> Result<Vec<Event>, Rejected> {
    let choice = Choice { coder, ..choice() };
    let text = "Make it faster".into();
    chat.decide(Input::Ask { turn: turn(1), text, choice, enclosed: Enclosed::default(), at_ms: 5 })
}

fn fed(mut chat: Chat, events: &[Event]) -> Chat {
    events.iter().for_each(|event| chat.apply(event));
    chat
}

#[test]
fn an_agent_works_in_a_coder_and_only_there() {
    let words = |result: Result<Vec<Event>, Rejected>| result.map(drop).map_err(|no| no.to_string());
    let chat = Story::new().chat;
    assert_eq!(words(ask(&chat, coder("here"))), Err("Agents work in a Coder, not in a chat.".into()));
    assert_eq!(words(ask(&coder_chat(), None)), Err("Choose who does the work.".into()));
    let events = ask(&coder_chat(), coder("here")).unwrap();
    let work = events.iter().find_map(|event| match event {
        Event::TaskQueued { task, .. } => Some((task.work, task.coder.clone())),
        _ => None,
    });
    assert_eq!(work, Some((Work::CoderTurn, coder("here"))));
}

#[test]
fn a_worktree_that_cannot_be_worked_in_is_said_before_anything_runs() {
    let with = |state| {
        let id = WorktreeId(id(7));
        let worktree = Worktree { id, host: "here".into(), base: "abc".into(), carried: false, state };
        let mut chat = coder_chat();
        chat.apply(&Event::WorktreeChanged { chat: chat.id, worktree });
        chat
    };
    let words = |state, host| ask(&with(state), coder(host)).map(drop).map_err(|no| no.to_string());
    assert_eq!(words(State::Ready, "here"), Ok(()));
    let elsewhere = "The worktree is on here. Open BooCode there to go on.";
    assert_eq!(words(State::Ready, "there"), Err(elsewhere.into()));
    let discarded = "The worktree is in the trash. Restore it, or begin a new task.";
    assert_eq!(words(State::Discarded, "here"), Err(discarded.into()));
    assert_eq!(words(State::Gone, "here"), Err("The worktree is gone. Begin a new task.".into()));
}

#[test]
fn what_was_done_is_not_unsaid() {
    let mut chat = coder_chat();
    chat = fed(chat.clone(), &ask(&chat, coder("here")).unwrap());
    let stopped = chat.decide(Input::Stop).unwrap();
    chat = fed(chat, &stopped);
    let (of, turn, choice) = (turn(1).message, turn(2), Choice { coder: coder("here"), ..choice() });
    let again = Input::Resend {
        of,
        turn,
        text: "Other words".into(),
        choice,
        enclosed: Enclosed::default(),
        at_ms: 9,
    };
    let no = "What was done stays. Say what to change in a new message.";
    assert_eq!(chat.decide(again).map_err(|no| no.to_string()), Err(no.into()));
}

#[test]
fn a_request_is_answered_once_and_only_as_it_offers() {
    let mut chat = coder_chat();
    chat = fed(chat.clone(), &ask(&chat, coder("here")).unwrap());
    let task = turn(1).task;
    chat = fed(chat.clone(), &chat.tasks[&task].decide(task::Input::Claim { at_ms: 6 }).unwrap());
    let attempt = Attempt(1);
    let options = vec![Permit::Once, Permit::Reject];
    let question =
        Ask { number: 3, title: "rm x".into(), kind: tool::Kind::Execute, detail: String::new(), options };
    let phase = Phase::Asking(question);
    chat = fed(
        chat.clone(),
        &chat.tasks[&task].decide(task::Input::Phase { attempt, phase, at_ms: 3 }).unwrap(),
    );
    let answer = |chat: &Chat, attempt, number, permit| {
        chat.decide(Input::Answer { task, attempt: Attempt(attempt), number, permit })
    };
    assert_eq!(answer(&chat, 1, 2, Permit::Once), Err(Rejected::Stale));
    assert_eq!(answer(&chat, 2, 3, Permit::Once), Err(Rejected::Stale));
    assert_eq!(answer(&chat, 1, 3, Permit::Always), Err(Rejected::Stale));
    let answered = answer(&chat, 1, 3, Permit::Reject).unwrap();
    chat = fed(chat, &answered);
    assert_eq!(answer(&chat, 1, 3, Permit::Once), Err(Rejected::Stale));
    assert!(matches!(&chat.tasks[&task].status, Status::Running { phase: Phase::Generating, .. }));
}

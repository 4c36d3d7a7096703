//! The wire format, letter by letter: stored events and old pages must stay readable.

use super::*;
use crate::{
    catalogue::ModelRef,
    chat::{Body, Choice, NewTurn},
    id::{ProjectId, SessionId},
    output::Measured,
    task::Status,
};

fn check(event: Event, json: &str) {
    assert_eq!(serde_json::to_string(&event).unwrap(), json);
    assert_eq!(serde_json::from_str::<Event>(json).unwrap(), event);
}

fn id(n: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(n)
}

const ONE: &str = "00000000-0000-0000-0000-000000000001";
const TWO: &str = "00000000-0000-0000-0000-000000000002";
const THREE: &str = "00000000-0000-0000-0000-000000000003";

#[test]
fn workspace_events() {
    let project = Project { id: ProjectId(id(1)), name: "shop".into(), path: "/src/shop".into() };
    check(
        Event::ProjectAdded { project },
        &format!(r#"{{"project_added":{{"project":{{"id":"{ONE}","name":"shop","path":"/src/shop"}}}}}}"#),
    );
    let session = Session { id: SessionId(id(1)), project: ProjectId(id(2)), name: "main".into() };
    check(
        Event::SessionAdded { session },
        &format!(r#"{{"session_added":{{"session":{{"id":"{ONE}","project":"{TWO}","name":"main"}}}}}}"#),
    );
    let chat =
        ChatEntry { id: ChatId(id(1)), session: SessionId(id(2)), title: "New chat".into(), running: false };
    check(
        Event::ChatAdded { chat },
        &format!(
            r#"{{"chat_added":{{"chat":{{"id":"{ONE}","session":"{TWO}","title":"New chat","running":false}}}}}}"#
        ),
    );
    check(
        Event::ChatTitled { chat: ChatId(id(1)), title: "Sorting".into(), by: TitledBy::Model },
        &format!(r#"{{"chat_titled":{{"chat":"{ONE}","title":"Sorting","by":"model"}}}}"#),
    );
}

#[test]
fn message_events() {
    let chat = ChatId(id(1));
    let message = Message { id: MessageId(id(2)), parent: None, body: Body::User { text: "hi".into() } };
    check(
        Event::MessageAdded { chat, message },
        &format!(
            r#"{{"message_added":{{"chat":"{ONE}","message":{{"id":"{TWO}","parent":null,"body":{{"user":{{"text":"hi"}}}}}}}}}}"#
        ),
    );
    let turn = NewTurn { message: MessageId(id(1)), reply: MessageId(id(2)), task: TaskId(id(3)) };
    let choice = Choice { model: ModelRef { server: "s".into(), model: "m".into() }, paid: false };
    check(
        Event::MessageQueued { chat, queued: Queued { turn, text: "next".into(), choice } },
        &format!(
            r#"{{"message_queued":{{"chat":"{ONE}","queued":{{"turn":{{"message":"{ONE}","reply":"{TWO}","task":"{THREE}"}},"text":"next","choice":{{"model":{{"server":"s","model":"m"}},"paid":false}}}}}}}}"#
        ),
    );
    check(
        Event::HeadMoved { chat, head: MessageId(id(2)) },
        &format!(r#"{{"head_moved":{{"chat":"{ONE}","head":"{TWO}"}}}}"#),
    );
    check(
        Event::QueuedEdited { chat, message: MessageId(id(2)), text: "x".into() },
        &format!(r#"{{"queued_edited":{{"chat":"{ONE}","message":"{TWO}","text":"x"}}}}"#),
    );
    check(
        Event::QueuedRemoved { chat, message: MessageId(id(2)) },
        &format!(r#"{{"queued_removed":{{"chat":"{ONE}","message":"{TWO}"}}}}"#),
    );
}

#[test]
fn task_events() {
    let (chat, task, attempt) = (ChatId(id(1)), TaskId(id(2)), Attempt(1));
    let queued = Task {
        id: task,
        chat,
        work: Work::ChatTurn,
        model: ModelRef { server: "s".into(), model: "m".into() },
        attempts_max: 3,
        queued_at_ms: 5,
        lost: vec![(Attempt(1), 9)],
        status: Status::Queued,
    };
    check(
        Event::TaskQueued { chat, task: queued },
        &format!(
            r#"{{"task_queued":{{"chat":"{ONE}","task":{{"id":"{TWO}","chat":"{ONE}","work":"chat_turn","model":{{"server":"s","model":"m"}},"attempts_max":3,"queued_at_ms":5,"lost":[[1,9]],"status":"queued"}}}}}}"#
        ),
    );
    check(
        Event::TaskStarted { chat, task, attempt, at_ms: 7 },
        &format!(r#"{{"task_started":{{"chat":"{ONE}","task":"{TWO}","attempt":1,"at_ms":7}}}}"#),
    );
    check(
        Event::TaskPhase { chat, task, attempt, phase: Phase::Waiting { seconds: 3 } },
        &format!(
            r#"{{"task_phase":{{"chat":"{ONE}","task":"{TWO}","attempt":1,"phase":{{"waiting":{{"seconds":3}}}}}}}}"#
        ),
    );
    check(
        Event::TaskCancelling { chat, task },
        &format!(r#"{{"task_cancelling":{{"chat":"{ONE}","task":"{TWO}"}}}}"#),
    );
    check(
        Event::TaskRequeued { chat, task, attempt, stream_len: 4 },
        &format!(r#"{{"task_requeued":{{"chat":"{ONE}","task":"{TWO}","attempt":1,"stream_len":4}}}}"#),
    );
    let measured = Measured { duration_ms: 9, ..Measured::default() };
    check(
        Event::TaskSettled {
            chat,
            task,
            work: Work::Title,
            attempt: Some(attempt),
            outcome: Outcome::Done { measured },
            stream_len: 4,
        },
        &format!(
            r#"{{"task_settled":{{"chat":"{ONE}","task":"{TWO}","work":"title","attempt":1,"outcome":{{"done":{{"measured":{{"duration_ms":9,"first_token_ms":null,"load_ms":null,"usage":null,"timings":null,"cut_short":false}}}}}},"stream_len":4}}}}"#
        ),
    );
}

#[test]
fn frames_and_cursors() {
    let stream = StreamId { task: TaskId(id(2)), attempt: Attempt(1) };
    let delta = Frame::Delta(Delta { stream, offset: 3, text: "a\nb".into() });
    let data = delta.data().unwrap();
    assert_eq!(data, format!(r#"{{"stream":"{TWO}.1","offset":3,"text":"a\nb"}}"#));
    assert_eq!(Frame::parse(delta.name(), &data), Ok(delta));

    let cursor = Cursor { after: 4, watch: [(stream, 17)].into() };
    assert_eq!(cursor.to_query(), format!("after=4&watch={TWO}.1:17"));
    assert_eq!(Cursor::parse(4, &format!("{TWO}.1:17")), Ok(cursor));
    assert_eq!(Cursor::parse(4, ""), Ok(Cursor { after: 4, watch: BTreeMap::new() }));
    assert!(Cursor::parse(4, "nonsense").is_err());
    assert!(Cursor::parse(4, &format!("{TWO}.1:-1")).is_err());
}

//! The wire format, letter by letter: stored events and old pages must stay readable.

mod battle;

use super::*;
use crate::{
    attachment::{ImageType, Media},
    backend::Backend,
    catalogue::ModelRef,
    chat::{Body, Choice, Coder, Kind, NewTurn},
    feed::{Cursor, Delta, Frame, StreamId},
    flow::{Band, FlowId, StepId},
    id::{AttachmentId, ProjectId, SessionId, WorktreeId},
    layout::{Anchor, Change, Content, Edge, PaneId, Place, SplitId, Tab, TabNumber},
    output::Measured,
    task::Status,
    tool::{self, Ask},
    worktree,
};

fn check(event: Event, json: &str) {
    assert_eq!(serde_json::to_string(&event).unwrap(), json);
    assert_eq!(serde_json::from_str::<Event>(json).unwrap(), event);
    // The browser reads in its own way.
    assert_eq!(crate::json::read::<Event>(json).unwrap(), event);
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
    let chat = ChatEntry::new(ChatId(id(1)), SessionId(id(2)), "New chat".into());
    check(
        Event::ChatAdded { chat: chat.clone() },
        &format!(
            r#"{{"chat_added":{{"chat":{{"id":"{ONE}","session":"{TWO}","title":"New chat","turn":null,"queued":[]}}}}}}"#
        ),
    );
    let before = format!(
        r#"{{"chat_added":{{"chat":{{"id":"{ONE}","session":"{TWO}","title":"New chat","running":false}}}}}}"#
    );
    assert_eq!(serde_json::from_str::<Event>(&before).unwrap(), Event::ChatAdded { chat });
    check(
        Event::ChatTitled { chat: ChatId(id(1)), title: "Sorting".into(), by: TitledBy::Model },
        &format!(r#"{{"chat_titled":{{"chat":"{ONE}","title":"Sorting","by":"model"}}}}"#),
    );
}

#[test]
fn archive_events() {
    let (project, session) = (ProjectId(id(1)), SessionId(id(2)));
    let name = || "Shop".to_owned();
    check(
        Event::ProjectRenamed { project, name: name() },
        &format!(r#"{{"project_renamed":{{"project":"{ONE}","name":"Shop"}}}}"#),
    );
    check(
        Event::SessionRenamed { session, name: name() },
        &format!(r#"{{"session_renamed":{{"session":"{TWO}","name":"Shop"}}}}"#),
    );
    check(Event::ProjectArchived { project }, &format!(r#"{{"project_archived":{{"project":"{ONE}"}}}}"#));
    check(Event::SessionArchived { session }, &format!(r#"{{"session_archived":{{"session":"{TWO}"}}}}"#));
    check(
        Event::ChatArchived { chat: ChatId(id(3)) },
        &format!(r#"{{"chat_archived":{{"chat":"{THREE}"}}}}"#),
    );
    let chat = ChatEntry::new(ChatId(id(3)), session, "Sorting".into());
    let entry = format!(r#"{{"id":"{THREE}","session":"{TWO}","title":"Sorting","turn":null,"queued":[]}}"#);
    check(Event::ChatRestored { chat: chat.clone() }, &format!(r#"{{"chat_restored":{{"chat":{entry}}}}}"#));
    let lines = Lines {
        sessions: vec![Session { id: session, project, name: name() }],
        chats: vec![chat],
        ..Lines::default()
    };
    let listed =
        format!(r#"{{"sessions":[{{"id":"{TWO}","project":"{ONE}","name":"Shop"}}],"chats":[{entry}]}}"#);
    check(
        Event::SessionRestored { session, lines: lines.clone().into() },
        &format!(r#"{{"session_restored":{{"session":"{TWO}","lines":{listed}}}}}"#),
    );
    check(
        Event::ProjectRestored { project, lines: lines.into() },
        &format!(r#"{{"project_restored":{{"project":"{ONE}","lines":{listed}}}}}"#),
    );
}

fn said(text: &str) -> Body {
    Body::User { text: text.into(), attachments: Vec::new(), left_out: Vec::new() }
}

fn queued(turn: NewTurn, choice: Choice) -> Queued {
    Queued { turn, text: "next".into(), choice, attachments: Vec::new(), left_out: Vec::new() }
}

/// What has no files is written as it was before there were any, and read again.
#[test]
fn settings_events() {
    let changed = |what| Event::SettingsChanged { what };
    check(changed(Part::ModelServers), r#"{"settings_changed":{"what":"model_servers"}}"#);
    check(changed(Part::DefaultModel), r#"{"settings_changed":{"what":"default_model"}}"#);
    check(changed(Part::Flows), r#"{"settings_changed":{"what":"flows"}}"#);
    check(changed(Part::OwnLogins), r#"{"settings_changed":{"what":"own_logins"}}"#);
    check(changed(Part::Projects), r#"{"settings_changed":{"what":"projects"}}"#);
    check(changed(Part::Worktrees), r#"{"settings_changed":{"what":"worktrees"}}"#);
}

#[test]
fn layout_events() {
    let tab = Tab { number: TabNumber(3), content: Content::Chat(ChatId(id(2))) };
    let place = Place { beside: Anchor::Pane(PaneId(0)), edge: Edge::Right, split: SplitId(2), share: 500 };
    let change = Change::PaneOpened { pane: PaneId(1), tab, place: Some(place) };
    check(
        Event::LayoutChanged { session: SessionId(id(1)), change },
        &format!(
            r#"{{"layout_changed":{{"session":"{ONE}","change":{{"pane_opened":{{"pane":1,"tab":{{"number":3,"content":{{"chat":"{TWO}"}}}},"place":{{"beside":{{"pane":0}},"edge":"right","split":2,"share":500}}}}}}}}}}"#
        ),
    );
    check(
        Event::LayoutChanged {
            session: SessionId(id(1)),
            change: Change::TabActivated { tab: TabNumber(3) },
        },
        &format!(r#"{{"layout_changed":{{"session":"{ONE}","change":{{"tab_activated":{{"tab":3}}}}}}}}"#),
    );
}

#[test]
fn message_events() {
    let chat = ChatId(id(1));
    let message = Message { id: MessageId(id(2)), parent: None, body: said("hi") };
    check(
        Event::MessageAdded { chat, message },
        &format!(
            r#"{{"message_added":{{"chat":"{ONE}","message":{{"id":"{TWO}","parent":null,"body":{{"user":{{"text":"hi"}}}}}}}}}}"#
        ),
    );
    let turn = NewTurn { message: MessageId(id(1)), reply: MessageId(id(2)), task: TaskId(id(3)) };
    let choice = Choice {
        model: ModelRef { server: "s".into(), model: "m".into() },
        paid: false,
        persona: None,
        coder: None,
        machine: None,
    };
    check(
        Event::MessageQueued { chat, queued: queued(turn, choice) },
        &format!(
            r#"{{"message_queued":{{"chat":"{ONE}","queued":{{"turn":{{"message":"{ONE}","reply":"{TWO}","task":"{THREE}"}},"text":"next","choice":{{"model":{{"server":"s","model":"m"}},"paid":false}}}}}}}}"#
        ),
    );
    check(
        Event::HeadMoved { chat, head: MessageId(id(2)) },
        &format!(r#"{{"head_moved":{{"chat":"{ONE}","head":"{TWO}"}}}}"#),
    );
    check(
        Event::QueuedEdited {
            chat,
            message: MessageId(id(2)),
            text: "x".into(),
            attachments: None,
            left_out: Vec::new(),
        },
        &format!(r#"{{"queued_edited":{{"chat":"{ONE}","message":"{TWO}","text":"x"}}}}"#),
    );
    check(
        Event::QueuedRemoved { chat, message: MessageId(id(2)) },
        &format!(r#"{{"queued_removed":{{"chat":"{ONE}","message":"{TWO}"}}}}"#),
    );
    check(
        Event::QueuedChosen { chat, message: Some(MessageId(id(2))) },
        &format!(r#"{{"queued_chosen":{{"chat":"{ONE}","message":"{TWO}"}}}}"#),
    );
    check(
        Event::QueuedChosen { chat, message: None },
        &format!(r#"{{"queued_chosen":{{"chat":"{ONE}","message":null}}}}"#),
    );
}

#[test]
fn messages_with_files() {
    let chat = ChatId(id(1));
    let text = Attachment {
        id: AttachmentId(id(2)),
        name: "src/a.rs".into(),
        media: Media::Text,
        bytes: 5,
        is_mention: true,
    };
    let image = Attachment {
        id: AttachmentId(id(3)),
        name: "b.png".into(),
        media: Media::Image { mime: ImageType::Png },
        bytes: 7,
        is_mention: false,
    };
    let left_out = vec![LeftOut { name: "c.bin".into(), reason: "It is not a text.".into() }];
    let text_json =
        format!(r#"{{"id":"{TWO}","name":"src/a.rs","media":"text","bytes":5,"is_mention":true}}"#);
    let image_json =
        format!(r#"{{"id":"{THREE}","name":"b.png","media":{{"image":{{"mime":"image/png"}}}},"bytes":7}}"#);
    let left_json = r#"[{"name":"c.bin","reason":"It is not a text."}]"#;
    let body = Body::User {
        text: "hi".into(),
        attachments: vec![text.clone(), image.clone()],
        left_out: left_out.clone(),
    };
    check(
        Event::MessageAdded { chat, message: Message { id: MessageId(id(2)), parent: None, body } },
        &format!(
            r#"{{"message_added":{{"chat":"{ONE}","message":{{"id":"{TWO}","parent":null,"body":{{"user":{{"text":"hi","attachments":[{text_json},{image_json}],"left_out":{left_json}}}}}}}}}}}"#
        ),
    );
    let turn = NewTurn { message: MessageId(id(1)), reply: MessageId(id(2)), task: TaskId(id(3)) };
    let choice = Choice {
        model: ModelRef { server: "s".into(), model: "m".into() },
        paid: false,
        persona: None,
        coder: None,
        machine: None,
    };
    let queued = Queued { attachments: vec![image], left_out: left_out.clone(), ..queued(turn, choice) };
    check(
        Event::MessageQueued { chat, queued },
        &format!(
            r#"{{"message_queued":{{"chat":"{ONE}","queued":{{"turn":{{"message":"{ONE}","reply":"{TWO}","task":"{THREE}"}},"text":"next","choice":{{"model":{{"server":"s","model":"m"}},"paid":false}},"attachments":[{image_json}],"left_out":{left_json}}}}}}}"#
        ),
    );
    let message = MessageId(id(2));
    let attachments = Some(vec![text]);
    check(
        Event::QueuedEdited { chat, message, text: "x".into(), attachments, left_out },
        &format!(
            r#"{{"queued_edited":{{"chat":"{ONE}","message":"{TWO}","text":"x","attachments":[{text_json}],"left_out":{left_json}}}}}"#
        ),
    );
}

#[test]
fn coder_events() {
    let (chat, task, attempt) = (ChatId(id(1)), TaskId(id(2)), Attempt(1));
    let owner = Owner::Chat(chat);
    let mut added = ChatEntry::new(chat, SessionId(id(2)), "New task".into());
    added.kind = Kind::Coder;
    check(
        Event::ChatAdded { chat: added },
        &format!(
            r#"{{"chat_added":{{"chat":{{"id":"{ONE}","session":"{TWO}","kind":"coder","title":"New task","turn":null,"queued":[]}}}}}}"#
        ),
    );
    let queued = Task {
        id: task,
        owner,
        work: Work::CoderTurn,
        model: ModelRef { server: "s".into(), model: "m".into() },
        persona: Some("Debugger".into()),
        coder: Some(Coder { backend: Backend::native(), host: "here".into(), carry: true, asks: false }),
        host: Some("here".into()),
        machine: Some("box".into()),
        limit_s: None,
        attempts_max: 3,
        queued_at_ms: 5,
        lost: Vec::new(),
        status: Status::Queued,
    };
    check(
        Event::TaskQueued { owner, task: queued },
        &format!(
            r#"{{"task_queued":{{"chat":"{ONE}","task":{{"id":"{TWO}","chat":"{ONE}","work":"coder_turn","model":{{"server":"s","model":"m"}},"persona":"Debugger","coder":{{"backend":"native","host":"here","carry":true}},"host":"here","machine":"box","attempts_max":3,"queued_at_ms":5,"lost":[],"status":"queued"}}}}}}"#
        ),
    );
    let ask = Ask {
        number: 1,
        title: "rm -r x".into(),
        kind: tool::Kind::Execute,
        detail: String::new(),
        options: vec![Permit::Once, Permit::Reject],
    };
    check(
        Event::TaskPhase { owner, task, attempt, phase: Phase::Asking(ask), began_at_ms: None },
        &format!(
            r#"{{"task_phase":{{"chat":"{ONE}","task":"{TWO}","attempt":1,"phase":{{"asking":{{"number":1,"title":"rm -r x","kind":"execute","options":["once","reject"]}}}}}}}}"#
        ),
    );
    check(
        Event::TaskAnswered { owner, task, attempt, number: 1, permit: Permit::Once },
        &format!(
            r#"{{"task_answered":{{"chat":"{ONE}","task":"{TWO}","attempt":1,"number":1,"permit":"once"}}}}"#
        ),
    );
    let worktree = Worktree {
        id: WorktreeId(id(3)),
        host: "here".into(),
        base: "abc".into(),
        carried: false,
        state: worktree::State::Ready,
    };
    check(
        Event::WorktreeChanged { chat, worktree },
        &format!(
            r#"{{"worktree_changed":{{"chat":"{ONE}","worktree":{{"id":"{THREE}","host":"here","base":"abc","carried":false,"state":"ready"}}}}}}"#
        ),
    );
}

#[test]
fn task_events() {
    let (owner, task, attempt) = (Owner::Chat(ChatId(id(1))), TaskId(id(2)), Attempt(1));
    let queued = Task {
        id: task,
        owner,
        work: Work::ChatTurn,
        model: ModelRef { server: "s".into(), model: "m".into() },
        persona: None,
        coder: None,
        host: None,
        machine: None,
        limit_s: None,
        attempts_max: 3,
        queued_at_ms: 5,
        lost: vec![(Attempt(1), 9)],
        status: Status::Queued,
    };
    check(
        Event::TaskQueued { owner, task: queued },
        &format!(
            r#"{{"task_queued":{{"chat":"{ONE}","task":{{"id":"{TWO}","chat":"{ONE}","work":"chat_turn","model":{{"server":"s","model":"m"}},"attempts_max":3,"queued_at_ms":5,"lost":[[1,9]],"status":"queued"}}}}}}"#
        ),
    );
    check(
        Event::TaskStarted { owner, task, attempt, at_ms: 7 },
        &format!(r#"{{"task_started":{{"chat":"{ONE}","task":"{TWO}","attempt":1,"at_ms":7}}}}"#),
    );
    check(
        Event::TaskPhase { owner, task, attempt, phase: Phase::Waiting { seconds: 3 }, began_at_ms: None },
        &format!(
            r#"{{"task_phase":{{"chat":"{ONE}","task":"{TWO}","attempt":1,"phase":{{"waiting":{{"seconds":3}}}}}}}}"#
        ),
    );
    check(
        Event::TaskPhase { owner, task, attempt, phase: Phase::Generating, began_at_ms: Some(8) },
        &format!(
            r#"{{"task_phase":{{"chat":"{ONE}","task":"{TWO}","attempt":1,"phase":"generating","began_at_ms":8}}}}"#
        ),
    );
    check(
        Event::TaskCancelling { owner, task },
        &format!(r#"{{"task_cancelling":{{"chat":"{ONE}","task":"{TWO}"}}}}"#),
    );
    check(
        Event::TaskRequeued { owner, task, attempt, stream_len: 4 },
        &format!(r#"{{"task_requeued":{{"chat":"{ONE}","task":"{TWO}","attempt":1,"stream_len":4}}}}"#),
    );
    let measured = Measured { duration_ms: 9, ..Measured::default() };
    check(
        Event::TaskSettled {
            owner,
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
fn run_events() {
    let (run, task) = (RunId(id(1)), TaskId(id(2)));
    let step = || StepId("options".into());
    let updated = |task, change| Event::FlowRunStepUpdated { run, task, change: Box::new(change), tried: 0 };
    check(
        updated(Some(task), run::Change::StepReady { step: step() }),
        &format!(
            r#"{{"flow_run_step_updated":{{"run":"{ONE}","task":"{TWO}","change":{{"step_ready":{{"step":"options"}}}}}}}}"#
        ),
    );
    check(
        updated(None, run::Change::StepSkipped { step: step(), because: "no sign of it".into() }),
        &format!(
            r#"{{"flow_run_step_updated":{{"run":"{ONE}","change":{{"step_skipped":{{"step":"options","because":"no sign of it"}}}}}}}}"#
        ),
    );
    let status = run::StepStatus::Done { attempt: Attempt(1) };
    check(
        updated(None, run::Change::StepSettled { step: step(), status }),
        &format!(
            r#"{{"flow_run_step_updated":{{"run":"{ONE}","change":{{"step_settled":{{"step":"options","status":{{"done":{{"attempt":1}}}}}}}}}}}}"#
        ),
    );
    let all = |change| Event::FlowRunUpdated { run, change: Box::new(change), at_ms: 7 };
    check(
        all(run::Change::RunCancelling),
        &format!(r#"{{"flow_run_updated":{{"run":"{ONE}","change":"run_cancelling","at_ms":7}}}}"#),
    );
    let status = run::Status::Failed { reason: "Gate failed: no".into() };
    check(
        all(run::Change::RunSettled { status }),
        &format!(
            r#"{{"flow_run_updated":{{"run":"{ONE}","change":{{"run_settled":{{"status":{{"failed":{{"reason":"Gate failed: no"}}}}}}}},"at_ms":7}}}}"#
        ),
    );
    let mut started = run::tests::shown(FlowId::CodeReview, Band::Small);
    started.run.steps.truncate(1);
    started.run.steps[0].step.needs.clear();
    let json = include_str!("../../../golden/events/flow_run_started.json");
    check(Event::FlowRunStarted { run: Box::new(started) }, json.trim_end());
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
    assert_eq!(Cursor::parse(4, ""), Ok(Cursor { after: 4, watch: Default::default() }));
    assert!(Cursor::parse(4, "nonsense").is_err());
    assert!(Cursor::parse(4, &format!("{TWO}.1:-1")).is_err());
}

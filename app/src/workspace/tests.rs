use domain::{
    Rejected,
    catalogue::ModelRef,
    chat::{Chat, Choice, Input, NewTurn, Report},
    feed::StreamId,
    id::{Attempt, ChatId, MessageId, ProjectId, SessionId, TaskId},
    output::Outcome,
    page::OpenSession,
    task,
    workspace::{ChatEntry, Project, Session},
};

use uuid::Uuid;

use super::*;

fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

/// A chat with one question, decided by the same rules as anywhere.
struct Story {
    page: Page,
    streams: Vec<(StreamId, String)>,
}

impl Story {
    fn new(question: &str) -> Self {
        let session = SessionId(id(2));
        let chat = Chat::new(ChatId(id(1)), session, "New chat".into());
        let entry = ChatEntry::new(chat.id, session, "Greeting".into());
        let project = Project { id: ProjectId(id(3)), name: "shop".into(), path: "/src/shop".into() };
        let workspace = domain::workspace::Workspace {
            sessions: vec![Session { id: session, project: project.id, name: "Session 1".into() }],
            projects: vec![project],
            chats: vec![entry],
            ..Default::default()
        };
        let open = OpenSession { chats: [(chat.id, chat)].into(), ..OpenSession::empty(session) };
        let mut story = Self { page: Page { workspace, session: Some(open) }, streams: Vec::new() };
        let turn = NewTurn { message: MessageId(id(10)), reply: MessageId(id(11)), task: TaskId(id(12)) };
        let choice = Choice {
            model: ModelRef { server: "local".into(), model: "small".into() },
            paid: false,
            persona: None,
            coder: None,
            machine: None,
        };
        story.input(Input::Ask {
            turn,
            text: question.into(),
            choice,
            enclosed: Default::default(),
            at_ms: 0,
        });
        story
    }

    fn input(&mut self, input: Input) {
        let chat = self.page.session.as_mut().unwrap().chats.values_mut().next().unwrap();
        let events = chat.decide(input).unwrap();
        events.iter().for_each(|event| chat.apply(event));
    }

    /// Runs the next attempt, which says `text` and ends so, or goes on.
    fn attempt(mut self, text: &str, outcome: Option<Outcome>) -> Self {
        let chat = self.page.session.as_mut().unwrap().chats.values_mut().next().unwrap();
        let task = chat.tasks[&TaskId(id(12))].clone();
        let attempt = task.next_attempt();
        let events = task.decide(task::Input::Claim { at_ms: 0 }).unwrap();
        events.iter().for_each(|event| chat.apply(event));
        let stream = format!("\u{1e}text\n{text}");
        if let Some(outcome) = outcome {
            let stream_len = stream.len() as u64;
            let report =
                Report { task: task.id, attempt, outcome, stream_len, said: None, title: None, at_ms: 1 };
            self.input(Input::Report(report));
        }
        self.streams.push((StreamId { task: task.id, attempt: Attempt(attempt.0) }, stream));
        self
    }

    /// The page as the server sends it.
    fn html(self) -> String {
        let snapshot = Snapshot { seq: 1, state: self.page, streams: self.streams };
        Owner::new_root(None).with(|| {
            crate::ui::provide();
            let first = First {
                wanted: Wanted::Chat(ChatId(id(1))),
                page: Ok((snapshot, Models::default())),
                refused: None,
                settings: None,
                read: Default::default(),
            };
            let html = view! { <Workspace first /> }.to_html();
            html.replace("<!>", "").replace("<!---->", "")
        })
    }
}

#[track_caller]
fn check(html: &str, parts: &[&str]) {
    for part in parts {
        assert!(html.contains(part), "{part} is not in {html}");
    }
}

fn done() -> Option<Outcome> {
    Some(Outcome::Done { measured: Default::default() })
}

#[test]
fn a_chat_can_be_read_without_scripts() {
    let html = Story::new("Hello?").attempt("Good **day**.", done()).html();
    check(&html, &["Hello?", "Good <strong>day</strong>.", "shop", "href=\"/chat/00000000-"]);
    check(&html, &["action=\"/api/ask\"", "action=\"/api/add_chat\"", "action=\"/api/retry\""]);
    assert!(!html.contains("style="), "{html}");
}

#[test]
fn a_message_is_never_markup() {
    let html = Story::new("<script>alert(1)</script>")
        .attempt("<script>alert(2)</script> <img src=x onerror=alert(3)> [a](javascript:alert(4))", done())
        .html();
    check(&html, &["&lt;script&gt;alert(1)", "&lt;script&gt;alert(2)", "&lt;img src=x"]);
    assert!(!html.contains("<script>alert") && !html.contains("<img"), "{html}");
    assert!(!html.contains("href=\"javascript"), "{html}");
}

#[test]
fn a_lost_attempt_stays_readable_and_is_marked() {
    let html = Story::new("Hello?").attempt("Good d", Some(Outcome::Lost)).attempt("Good day.", None).html();
    check(&html, &["attempt interrupted", "Good d", "Good day."]);
}

#[test]
fn an_answer_that_failed_says_why_and_can_be_repeated() {
    let html = Story::new("Hello?").attempt("", Some(Outcome::Void { reason: "It is down.".into() })).html();
    check(&html, &["No whole answer came", "It is down.", "Retry"]);
}

#[test]
fn what_does_not_exist_is_said_in_words() {
    let html = Owner::new_root(None)
        .with(|| view! { <Problem error=AppError::Rejected(Rejected::missing("chat")) /> }.to_html());
    check(&html, &["That chat does not exist (any more)."]);
}

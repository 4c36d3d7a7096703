use uuid::Uuid;

use super::*;
use crate::{
    feed::Fold as _,
    id::{Attempt, ChatId, MessageId, SessionId},
    output::Measured,
    task::{Owner, Work},
    tool,
};

const CHAT: ChatId = ChatId(Uuid::from_u128(1));
const TASK: TaskId = TaskId(Uuid::from_u128(2));

fn settled(work: Work, outcome: Outcome) -> Event {
    Event::TaskSettled {
        owner: Owner::Chat(CHAT),
        task: TASK,
        work,
        attempt: Some(Attempt(1)),
        outcome,
        stream_len: 0,
    }
}

fn phase(phase: Phase) -> Event {
    Event::TaskPhase { owner: Owner::Chat(CHAT), task: TASK, attempt: Attempt(1), phase, began_at_ms: None }
}

fn event(word: &str) -> Event {
    let turn = |outcome| settled(Work::ChatTurn, outcome);
    let done = || Outcome::Done { measured: Measured::default() };
    match word {
        "done" => turn(done()),
        "titled" => settled(Work::Title, done()),
        "failed" => turn(Outcome::Failed { reason: "too\nlong".into() }),
        "void" => turn(Outcome::Void { reason: "down".into() }),
        "lost" => turn(Outcome::Lost),
        "cancelled" => turn(Outcome::Cancelled),
        "stop" => Event::TaskCancelling { owner: Owner::Chat(CHAT), task: TASK },
        "started" => {
            Event::TaskStarted { owner: Owner::Chat(CHAT), task: TASK, attempt: Attempt(1), at_ms: 0 }
        }
        "requeued" => {
            Event::TaskRequeued { owner: Owner::Chat(CHAT), task: TASK, attempt: Attempt(1), stream_len: 0 }
        }
        "asks" => phase(Phase::Asking(Ask {
            number: 1,
            title: "Run cargo\ntest".into(),
            kind: tool::Kind::Execute,
            detail: String::new(),
            options: vec![],
        })),
        "writes" => phase(Phase::Generating),
        other => panic!("unknown word {other}"),
    }
}

fn sight(words: &str) -> Sight {
    Sight {
        is_visible: !words.contains("hidden"),
        is_focused: !words.contains("hidden") && !words.contains("unfocused"),
        in_front: words.contains("front").then_some(Content::Chat(CHAT)).into_iter().collect(),
    }
}

/// What is told, as `channel:kind`, to one who has `sees` before them while `queued` messages wait.
fn told_of(events: &str, queued: u128, sees: &str, choice: &Choice) -> Vec<(Channel, Notice)> {
    let mut entry = ChatEntry::new(CHAT, SessionId(Uuid::nil()), "Sorting".into());
    entry.queued = (0..queued).map(|n| MessageId(Uuid::from_u128(n))).collect();
    let mut workspace = Workspace { chats: vec![entry], ..Default::default() };
    let mut notifier = Notifier::default();
    let mut all = Vec::new();
    for word in events.split_whitespace() {
        let event = event(word);
        workspace.apply(&event);
        all.extend(notifier.hear(&event, &workspace, &sight(sees), choice));
    }
    all
}

fn everything() -> Choice {
    let mut choice = Choice::default();
    Kind::ALL.into_iter().for_each(|kind| choice.set(kind, Channel::Browser, true));
    choice
}

#[track_caller]
fn check_with(choice: &Choice, events: &str, queued: u128, sees: &str, expected: &str) {
    let told = told_of(events, queued, sees, choice);
    let told: Vec<_> =
        told.iter().map(|(channel, notice)| format!("{channel:?}:{:?}", notice.kind)).collect();
    assert_eq!(told.join(" "), expected, "{events}, {queued} queued, {sees}");
}

#[track_caller]
fn check(events: &str, queued: u128, sees: &str, expected: &str) {
    check_with(&everything(), events, queued, sees, expected);
}

#[test]
fn how_a_turn_ended_is_told_once() {
    check("done", 0, "elsewhere", "Page:Done");
    check("failed", 0, "elsewhere", "Page:Failed");
    check("void", 0, "elsewhere", "Page:Failed");
    check("started requeued started requeued lost", 0, "elsewhere", "Page:Failed");
    check("started requeued started done", 0, "elsewhere", "Page:Done");
    check("titled", 0, "elsewhere", "");
}

#[test]
fn what_is_looked_at_is_not_told() {
    check("done", 0, "front", "");
    check("failed", 1, "front", "");
    // In front of a page that can be seen beside another window.
    check("done", 0, "front unfocused", "");
    check("done", 0, "front hidden", "Page:Done Browser:Done");
}

#[test]
fn of_what_was_overslept_ends_are_told_that_no_other_page_told() {
    let check = |word, seen, expected| {
        assert_eq!(Overslept::is_worth_telling(&event(word), 7, seen), expected, "{word} {seen:?}");
    };
    check("failed", None, true);
    check("failed", Some(6), true);
    check("failed", Some(7), false);
    // Its chat has a mark for as long as it asks.
    check("asks", None, false);
}

#[test]
fn the_browser_tells_only_one_who_is_away() {
    check("done", 0, "elsewhere", "Page:Done");
    check("done", 0, "elsewhere unfocused", "Page:Done Browser:Done");
    check("failed", 0, "elsewhere hidden", "Page:Failed Browser:Failed");
}

#[test]
fn how_a_stopped_turn_ends_is_no_news() {
    check("cancelled", 2, "elsewhere hidden", "");
    check("stop cancelled", 0, "elsewhere", "");
    // The answer, or a fault, was quicker than the stop.
    check("stop done", 0, "elsewhere", "");
    check("stop failed", 2, "elsewhere", "");
    let mut notifier = Notifier::default();
    for n in 0..1_000 {
        let stop = Event::TaskCancelling { owner: Owner::Chat(CHAT), task: TaskId(Uuid::from_u128(n)) };
        notifier.hear(&stop, &Workspace::default(), &Sight::default(), &Choice::default());
    }
    assert_eq!(notifier.stopped.len(), STOPPED_MAX);
}

#[test]
fn a_failure_that_keeps_messages_waiting_needs_an_answer() {
    check("failed", 2, "elsewhere", "Page:NeedsAnswer");
    // The next one is sent by itself.
    check("done", 2, "elsewhere", "Page:Done");
    // It is a failure all the same.
    let mut choice = everything();
    choice.set(Kind::NeedsAnswer, Channel::Page, false);
    check_with(&choice, "failed", 2, "hidden", "Page:Failed Browser:NeedsAnswer");
    choice.set(Kind::Failed, Channel::Page, false);
    check_with(&choice, "failed", 2, "hidden", "Browser:NeedsAnswer");
}

#[test]
fn an_agent_that_asks_needs_an_answer() {
    check("started asks", 0, "elsewhere", "Page:NeedsAnswer");
    check("asks", 0, "front", "");
    // Whoever types beside it sees the page, and may not look.
    check("asks", 0, "front unfocused", "Browser:NeedsAnswer");
    check("failed", 1, "front unfocused", "Browser:NeedsAnswer");
    check("asks", 0, "front hidden", "Page:NeedsAnswer Browser:NeedsAnswer");
    check("writes", 0, "elsewhere hidden", "");
    let mut choice = everything();
    choice.set(Kind::NeedsAnswer, Channel::Page, false);
    check_with(&choice, "asks", 0, "elsewhere", "");
}

#[test]
fn each_kind_is_switched_for_each_channel() {
    for (kind, word) in [(Kind::Done, "done"), (Kind::Failed, "failed")] {
        let mut choice = everything();
        choice.set(kind, Channel::Page, false);
        check_with(&choice, word, 0, "hidden", &format!("Browser:{kind:?}"));
        choice.set(kind, Channel::Browser, false);
        check_with(&choice, word, 0, "hidden", "");
    }
    check_with(&Choice::default(), "done", 0, "hidden", "Page:Done");
}

#[test]
fn a_notice_says_what_happened_in_a_line_and_leads_to_its_chat() {
    let words = |events: &str, queued, expected: &str| {
        let (_, notice) = told_of(events, queued, "elsewhere", &everything()).remove(0);
        assert_eq!((notice.title.as_str(), notice.body.as_str()), ("Sorting", expected));
        assert_eq!((notice.tag, notice.leads_to), (TASK.to_string(), Wanted::Chat(CHAT)));
    };
    words("done", 0, "The answer is ready.");
    words("asks", 0, "Asks before it goes on: Run cargo test");
    words("failed", 0, "The answer failed: too long");
    words("void", 0, "No whole answer came: down");
    words("failed", 1, "Waits for you with 1 unsent message. The answer failed: too long");
    words("failed", 3, "Waits for you with 3 unsent messages. The answer failed: too long");
    let long = settled(Work::ChatTurn, Outcome::Failed { reason: "word ".repeat(500) });
    let workspace = Workspace {
        chats: vec![ChatEntry::new(CHAT, SessionId(Uuid::nil()), "Sorting".into())],
        ..Default::default()
    };
    let told = Notifier::default().hear(&long, &workspace, &Sight::default(), &Choice::default());
    assert!(told[0].1.body.chars().count() <= BODY_CHARS_MAX, "{}", told[0].1.body);
    assert!(told[0].1.body.ends_with('…'));
}

#[test]
fn a_choice_is_remembered_as_words() {
    let check =
        |text: Option<&str>, expected: &str| assert_eq!(Choice::of(text).text(), expected, "{text:?}");
    let default = "done.page failed.page needs-answer.page";
    check(None, default);
    check(Some(default), default);
    check(Some("nothing"), "nothing");
    check(Some("failed.browser nonsense done"), "failed.browser");
    assert_eq!(Choice::of(Some(&everything().text())), everything());
    assert!(everything().uses(Channel::Browser) && !Choice::default().uses(Channel::Browser));
}

use domain::{
    catalogue::ModelRef,
    chat::{Body, Message},
    feed::{Delta, Envelope, Event, Fold as _, Truncate},
    id::{Attempt, MessageId, SessionId, TaskId},
    page::OpenSession,
    task::{self, Task, Work},
    transcript::Kind,
};
use uuid::Uuid;

use super::*;

fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn stream() -> StreamId {
    StreamId { task: TaskId(id(3)), attempt: Attempt(1) }
}

fn snapshot(text: &str) -> Snapshot<Page> {
    let mut chat = Chat::new(ChatId(id(1)), SessionId(id(2)), "A chat".into());
    let owner = task::Owner::Chat(chat.id);
    let model = ModelRef { server: "local".into(), model: "small".into() };
    let task = Task::new(stream().task, owner, Work::ChatTurn, model, 0);
    let message = Message { id: MessageId(id(4)), parent: None, body: Body::Assistant { task: task.id } };
    chat.apply(&Event::TaskQueued { owner, task });
    chat.apply(&Event::MessageAdded { chat: chat.id, message });
    chat.apply(&Event::TaskStarted { owner, task: stream().task, attempt: Attempt(1), at_ms: 0 });
    let open = OpenSession { chats: [(chat.id, chat.clone())].into(), ..OpenSession::empty(chat.session) };
    let state = Page { workspace: Workspace::default(), session: Some(open) };
    Snapshot { seq: 3, state, streams: vec![(stream(), text.to_owned())] }
}

fn delta(offset: u64, text: &str) -> Frame {
    Frame::Delta(Delta { stream: stream(), offset, text: text.into() })
}

/// Shows a stream, feeds it, and compares the segments that stand on the page: `T` text, `R` reasoning.
fn check(frames: &[Frame], expected: &str, retracted: bool) {
    Owner::new().with(|| {
        let feed = Feed::new(snapshot("\u{1e}text\nab"));
        let text = feed.text(stream());
        for frame in frames {
            feed.receive(std::slice::from_ref(frame));
        }
        let shown = text.segments.get_untracked();
        let shown: Vec<_> = shown
            .iter()
            .map(|segment| {
                let kind = if segment.kind == Kind::Text { 'T' } else { 'R' };
                format!("{kind}:{}", segment.text.get_untracked())
            })
            .collect();
        assert_eq!((shown.join(" ").as_str(), text.retracted.get_untracked()), (expected, retracted));
    });
}

#[test]
fn text_grows_where_it_stands() {
    let at = "\u{1e}text\nab".len() as u64;
    check(&[], "T:ab", false);
    check(&[delta(at, "cd"), delta(at + 2, "e")], "T:abcde", false);
    check(&[delta(at, "cd"), delta(at, "cd")], "T:abcd", false);
    check(&[delta(at, "\u{1e}reason"), delta(at + 7, "ing\nhm")], "T:ab R:hm", false);
    check(&[delta(at + 9, "lost")], "T:ab", false);
}

#[test]
fn what_is_taken_back_is_marked_and_written_anew() {
    let at = "\u{1e}text\nab".len() as u64;
    let cut = |len| Frame::Truncate(Truncate { stream: stream(), len });
    check(&[cut(at - 1)], "T:a", true);
    check(&[cut(at - 1), delta(at - 1, "xyz")], "T:axyz", true);
    check(&[delta(at, "\u{1e}reasoning\nhm"), cut(at)], "T:ab", true);
}

#[test]
fn a_delta_wakes_nothing_but_its_text() {
    Owner::new().with(|| {
        let feed = Feed::new(snapshot("\u{1e}text\nab"));
        let woken = StoredValue::new(0);
        let state = Memo::new_with_compare(
            move |_| {
                woken.update_value(|woken| *woken += 1);
                feed.chat(ChatId(id(1)), |chat| chat.messages.len())
            },
            |_, _| true,
        );
        state.get_untracked();
        feed.receive(&[delta(8, "c")]);
        state.get_untracked();
        assert_eq!(woken.get_value(), 1);

        let event = Event::TaskCancelling { owner: task::Owner::Chat(ChatId(id(1))), task: stream().task };
        feed.receive(&[Frame::Event(Box::new(Envelope { seq: 4, event }))]);
        state.get_untracked();
        assert_eq!(woken.get_value(), 2);
    });
}

#[test]
fn a_gap_is_told_and_nothing_after_it_is_applied() {
    Owner::new().with(|| {
        let feed = Feed::new(snapshot("\u{1e}text\nab"));
        assert_eq!(feed.receive(&[delta(8, "c"), delta(99, "z"), delta(9, "d")]), Received::Gap);
        assert_eq!(feed.text(stream()).answer(), "abc");
    });
}

/// It may be fetched in one piece after the feed has stopped carrying it.
#[test]
fn a_text_that_a_view_holds_outlives_what_the_feed_carries_of_it() {
    Owner::new().with(|| {
        let feed = Feed::new(snapshot("\u{1e}text\nab"));
        let held = feed.text(stream());
        let over = || {
            let mut over = snapshot("");
            over.streams.clear();
            let chats = &mut over.state.session.as_mut().unwrap().chats;
            // Another branch is shown, so it is not among the streams of the page.
            chats.values_mut().for_each(|chat| (chat.messages, chat.head) = (Vec::new(), None));
            over
        };
        assert!(over().state.streams().is_empty());
        feed.renew(over());
        feed.bring(stream(), "\u{1e}text\nall of it");
        assert_eq!(held.answer(), "all of it");
        feed.renew(over());
        assert_eq!(feed.text(stream()).answer(), "all of it");
        // Nothing of another page is kept.
        let state = Page { workspace: Workspace::default(), session: None };
        feed.renew(Snapshot { seq: 9, state, streams: Vec::new() });
        assert!(!feed.is_brought(&stream()));
        assert_eq!(feed.text(stream()).answer(), "");
    });
}

#[test]
fn of_a_text_that_is_not_all_here_that_is_said() {
    let shown = |len| {
        Owner::new().with(|| {
            provide_context(Feed::new(snapshot("\u{1e}text\nab")));
            let no = Signal::stored(false);
            view! { <crate::chat::AttemptView stream=stream() len interrupted=no streaming=no /> }.to_html()
        })
    };
    for (len, is_said) in [(None, false), (Some(8), false), (Some(9), true)] {
        assert_eq!(shown(len).contains("This is not all of it"), is_said, "{len:?}");
    }
}

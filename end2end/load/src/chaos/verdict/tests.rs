//! The judge finds what it is there to find. Each fault is made by hand on a chat that is clean without it.

use domain::{
    catalogue::ModelRef,
    chat::{Choice, Input, NewTurn, Report},
    feed::{Event, Mirror},
    id::{Attempt, ChatId, SessionId, TaskId},
    output::Measured,
    page::OpenSession,
    task,
    workspace::Workspace,
};
use uuid::Uuid;

use super::*;
use crate::boocode::Question;

const ANSWER: &str = "\u{1e}text\n1 2 3 ";

/// One question with its answer, as the page, a reload and the model server have them.
struct Scene {
    asked: Asked,
    fresh: Snapshot<Page>,
    page: Snapshot<Page>,
    promises: Promises,
    records: Vec<Record>,
}

impl Scene {
    fn new() -> Self {
        let id = ChatId(Uuid::from_u128(1));
        let asked = Asked { question: Question::new(id, "s/m", "[[count 3]]".into()), numbers: 3 };
        let mut chat = Chat::new(id, SessionId(Uuid::from_u128(2)), "New chat".into());
        let reply = domain::id::MessageId(Uuid::from_u128(3));
        let turn = NewTurn { message: asked.question.message, reply, task: TaskId(Uuid::from_u128(4)) };
        let choice = Choice {
            model: ModelRef { server: "s".into(), model: "m".into() },
            paid: false,
            persona: None,
            coder: None,
            machine: None,
        };
        let ask = Input::Ask {
            turn,
            text: asked.question.text.clone(),
            choice,
            enclosed: Default::default(),
            at_ms: 0,
        };
        apply(&mut chat, |chat| chat.decide(ask).unwrap());
        apply(&mut chat, |chat| chat.tasks[&turn.task].decide(task::Input::Claim { at_ms: 0 }).unwrap());
        let report = Report {
            task: turn.task,
            attempt: Attempt(1),
            outcome: Outcome::Done { measured: Measured::default() },
            stream_len: ANSWER.len() as u64,
            said: None,
            title: None,
            at_ms: 0,
        };
        apply(&mut chat, |chat| chat.decide(Input::Report(report)).unwrap());
        let stream = StreamId { task: turn.task, attempt: Attempt(1) };
        let open =
            OpenSession { chats: [(chat.id, chat.clone())].into(), ..OpenSession::empty(chat.session) };
        let state = Page { workspace: Workspace::default(), session: Some(open) };
        let fresh = Snapshot { seq: 9, state, streams: vec![(stream, ANSWER.into())] };
        let mut promises = Promises::default();
        promises.note(&Mirror::new(fresh.clone())).unwrap();
        let records = vec![Record::answered(0, "[[count 3]]")];
        Self { asked, page: fresh.clone(), fresh, promises, records }
    }

    fn judged(&self) -> (usize, usize) {
        let mut verdict = Verdict::default();
        let page = Watcher::showing(self.asked.question.chat, Mirror::new(self.page.clone()));
        verdict.look_at(&page, &self.promises, &self.fresh, std::slice::from_ref(&self.asked));
        verdict.compare(&self.records);
        (verdict.faults.lost.len(), verdict.faults.double.len())
    }

    fn chat(&mut self) -> &mut Chat {
        chat_of(&mut self.fresh)
    }
}

fn chat_of(page: &mut Snapshot<Page>) -> &mut Chat {
    page.state.session.as_mut().unwrap().chats.values_mut().next().unwrap()
}

fn apply(chat: &mut Chat, decide: impl FnOnce(&Chat) -> Vec<Event>) {
    let events = decide(chat);
    events.iter().for_each(|event| chat.apply(event));
}

/// Whether something counts as lost, and whether something counts as double.
fn check(fault: impl FnOnce(&mut Scene), lost: bool, double: bool) {
    let mut scene = Scene::new();
    assert_eq!(scene.judged(), (0, 0), "clean without the fault");
    fault(&mut scene);
    let found = scene.judged();
    assert_eq!((found.0 > 0, found.1 > 0), (lost, double), "found {found:?}");
}

#[test]
fn what_is_missing_is_found() {
    // The model was asked, and there is no attempt to show for it.
    check(|scene| scene.chat().messages.clear(), true, true);
    check(|scene| drop(scene.chat().messages.pop()), true, true);
    check(|scene| scene.fresh.streams[0].1 = "\u{1e}text\n1 2 ".into(), true, false);
    check(|scene| scene.page.streams[0].1.clear(), true, false);
    check(|scene| chat_of(&mut scene.page).title = "Other".into(), true, false);
    check(|scene| scene.records[0].disconnected = true, true, false);
}

#[test]
fn what_never_ended_or_was_given_up_early_is_found() {
    let settle = |scene: &mut Scene, status: Status| {
        for page in [&mut scene.fresh, &mut scene.page] {
            chat_of(page).tasks.values_mut().for_each(|task| task.status = status.clone());
        }
    };
    check(|scene| settle(scene, Status::Queued), true, true);
    let stream_len = ANSWER.len() as u64;
    let early = Status::Settled { attempt: Some(Attempt(1)), outcome: Outcome::Lost, stream_len };
    check(|scene| settle(scene, early), true, false);
}

#[test]
fn what_is_there_twice_is_found() {
    check(
        |scene| {
            let question = scene.chat().messages[0].clone();
            scene.chat().messages.push(question.clone());
            chat_of(&mut scene.page).messages.push(question);
        },
        false,
        true,
    );
    let twice = "\u{1e}text\n1 2 2 3 ";
    check(
        |scene| {
            for page in [&mut scene.fresh, &mut scene.page] {
                page.streams[0].1 = twice.into();
            }
            scene.promises.texts.clear();
        },
        true,
        true,
    );
    check(|scene| scene.records.push(Record::answered(1, "[[count 3]]")), false, true);
}

#[test]
fn a_trial_in_which_hardly_anything_was_answered_shows_nothing() {
    let check = |asked, done, faults: usize| {
        let mut verdict = Verdict { asked, done, given_up: asked - done, ..Verdict::default() };
        verdict.look_back();
        assert_eq!(verdict.faults.lost.len(), faults, "{done} of {asked}");
    };
    check(4, 4, 0);
    check(4, 2, 0);
    check(4, 1, 1);
    check(4, 0, 1);
    check(0, 0, 1);
}

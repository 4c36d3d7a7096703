use super::*;
use crate::{
    attachment::{Enclosed, ImageType},
    catalogue::ModelRef,
    chat::{Choice, Input, NewTurn, Report},
    id::{AttachmentId, Attempt, ChatId, MessageId, SessionId, TaskId},
    output::Measured,
    task,
};

fn id(n: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(n)
}

fn file(media: Media) -> Attachment {
    Attachment { id: AttachmentId(id(9)), name: "f".into(), media, bytes: 80, is_mention: false }
}

fn image() -> Attachment {
    file(Media::Image { mime: ImageType::Png })
}

fn used(prompt: u64, completion: u64) -> Outcome {
    let usage = Usage { prompt_tokens: Some(prompt), completion_tokens: Some(completion) };
    Outcome::Done { measured: Measured { usage: Some(usage), ..Measured::default() } }
}

/// A chat of questions of 40 bytes whose answers, of 20 bytes, ended like this.
fn chat(turns: &[(Outcome, Option<Attachment>)]) -> Chat {
    let mut chat = Chat::new(ChatId(id(1)), SessionId(id(2)), "New chat".into());
    for (n, (outcome, attached)) in turns.iter().enumerate() {
        let n = 10 * (n as u128 + 1);
        let turn =
            NewTurn { message: MessageId(id(n)), reply: MessageId(id(n + 1)), task: TaskId(id(n + 2)) };
        let model = ModelRef { server: "s".into(), model: "m".into() };
        let enclosed = Enclosed { attached: attached.iter().cloned().collect(), ..Enclosed::default() };
        let (text, choice) =
            ("x".repeat(40), Choice { model, paid: false, persona: None, coder: None, machine: None });
        let ask = Input::Ask { turn, text, choice, enclosed, at_ms: 0 };
        let events = chat.decide(ask).unwrap();
        events.iter().for_each(|event| chat.apply(event));
        let events = chat.tasks[&turn.task].decide(task::Input::Claim { at_ms: 0 }).unwrap();
        events.iter().for_each(|event| chat.apply(event));
        let report = Report {
            task: turn.task,
            attempt: Attempt(1),
            outcome: outcome.clone(),
            stream_len: 20,
            said: None,
            title: None,
            at_ms: 0,
        };
        let events = chat.decide(Input::Report(report)).unwrap();
        events.iter().for_each(|event| chat.apply(event));
    }
    chat
}

#[test]
fn what_was_counted_and_what_is_guessed() {
    let check =
        |turns: &[(Outcome, Option<Attachment>)], draft: &str, attached: &[Attachment], expected: &str| {
            assert_eq!(ContextUse::of(&chat(turns), draft, attached, Some(1_000)).words(), expected);
        };
    let failed = || Outcome::Failed { reason: "no".into() };
    let unmeasured = || Outcome::Done { measured: Measured::default() };
    check(&[], "", &[], "0 of 1,000 tokens (0 %)");
    check(&[], "twelve bytes", &[], "About 3 of 1,000 tokens (1 %)");
    check(&[(used(100, 20), None)], "", &[], "120 of 1,000 tokens (12 %)");
    check(&[(used(100, 20), None)], "four", &[], "About 121 of 1,000 tokens (13 %)");
    // The last count has everything before it.
    check(&[(used(100, 20), None), (used(300, 50), None)], "", &[], "350 of 1,000 tokens (35 %)");
    // A failed turn is sent again with the rest: 40 bytes and 20 bytes.
    check(&[(used(100, 20), None), (failed(), None)], "", &[], "About 135 of 1,000 tokens (14 %)");
    check(&[(unmeasured(), None)], "", &[], "About 15 of 1,000 tokens (2 %)");
    // A text file by its length, an image not at all; once an answer was counted, both are in it.
    check(&[], "", &[file(Media::Text)], "About 20 of 1,000 tokens (2 %)");
    check(&[], "", &[image(), image()], "About 0 of 1,000 tokens (0 %), 2 images not counted");
    check(&[(failed(), Some(image()))], "", &[], "About 15 of 1,000 tokens (2 %), one image not counted");
    check(&[(used(100, 20), Some(image()))], "", &[], "120 of 1,000 tokens (12 %)");
    check(&[(used(1_500, 0), None)], "", &[], "1,500 of 1,000 tokens (150 %)");
}

#[test]
fn what_is_not_known_is_said() {
    let of = |limit| ContextUse::of(&chat(&[(used(12_000, 345), None)]), "", &[], limit);
    assert_eq!(of(None).words(), "12,345 tokens; how many the model takes is not known");
    assert_eq!((of(None).percent(), of(Some(0)).percent()), (None, None));
    assert_eq!(of(Some(24_690)).percent(), Some(50));
    let half = Usage { prompt_tokens: Some(5), completion_tokens: None };
    let half = Outcome::Done { measured: Measured { usage: Some(half), ..Measured::default() } };
    assert_eq!(ContextUse::of(&chat(&[(half, None)]), "", &[], None).counted, None);
}

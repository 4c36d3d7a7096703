use super::*;
use crate::{attachment::Media, id::AttachmentId};

fn file(n: u128, is_mention: bool) -> Attachment {
    let (id, name) = (AttachmentId(id(n)), format!("{n}.txt"));
    Attachment { id, name, media: Media::Text, bytes: 1, is_mention }
}

/// `ask1+7+8@9` is `ask1` with files 7 and 8 attached and file 9 mentioned.
pub fn enclosed(word: &str) -> (&str, Enclosed) {
    let mut enclosed = Enclosed::default();
    let (word, files) = word.split_at(word.find(['+', '@']).unwrap_or(word.len()));
    for part in files.split_inclusive(|c: char| c.is_ascii_digit()) {
        let n = part[1..].parse().unwrap();
        match part.starts_with('@') {
            true => enclosed.mentioned.push(file(n, true)),
            false => enclosed.attached.push(file(n, false)),
        }
    }
    (word, enclosed)
}

/// The files of each shown question, then of each one that waits.
fn files(story: &Story) -> String {
    let numbers = |files: &[Attachment]| {
        files.iter().map(|file| file.id.0.as_u128().to_string()).collect::<Vec<_>>().join("+")
    };
    let shown = story.chat.branch().into_iter().filter_map(|message| match &message.body {
        Body::User { attachments, .. } => Some(numbers(attachments)),
        Body::Assistant { .. } => None,
    });
    let waiting = story.chat.queue.iter().map(|queued| numbers(&queued.attachments));
    format!("{} | {}", shown.collect::<Vec<_>>().join(" "), waiting.collect::<Vec<_>>().join(" "))
}

fn check(script: &str, expected: &str) {
    let mut story = Story::new();
    for word in script.split_whitespace() {
        story.step(word).unwrap_or_else(|no| panic!("{script}: {word}: {no}"));
    }
    assert_eq!(files(&story).trim(), expected, "script: {script}");
}

#[test]
fn files_go_with_their_message() {
    check("ask1+7@8", "7+8 |");
    check("ask1+7 ask2+8", "7 | 8");
    check("ask1+7 ask2+8@9 claim1 done1", "7 8+9 |");
    check("ask1+7 claim1 done1 retry1>2", "7 |");
    // Twice the same file, and twice the same message.
    check("ask1+7+7", "7 |");
    check("ask1+7@8 ask1+7@9", "7+8 |");
}

#[test]
fn a_file_goes_with_one_message_and_its_versions() {
    let refused = |script: &str| {
        let (before, last) = script.rsplit_once(' ').unwrap();
        let mut story = Story::new();
        before.split_whitespace().for_each(|word| story.step(word).unwrap());
        let no = story.step(last).unwrap_err().to_string();
        assert!(no.contains("another message") || no.contains("sent already"), "{script}: {no}");
    };
    check("ask1+7 claim1 done1 edit1>2+7", "7 |");
    check("ask1+7 claim1 done1 edit1>2+7 claim2 done2 edit2>3+7+8", "7+8 |");
    refused("ask1+7 ask2+7");
    refused("ask1 ask2+7 ask3+7");
    refused("ask1+7 claim1 done1 ask2+8 claim2 done2 edit2>3+7");
    // Other files under a known id were never sent, which must not look like success.
    refused("ask1+7 ask1+8");
    // Taken back from the queue, it is free again.
    check("ask1 ask2+7 unqueue2 ask3+7", "| 7");
}

#[test]
fn a_queued_message_keeps_its_files_when_its_words_change() {
    check("ask1 ask2+7@8 reword2@9", "| 7+9");
    check("ask1 ask2+7@8 reword2", "| 7");
}

#[test]
fn a_file_can_stand_for_itself() {
    let ask = |word: &str| {
        let (turn, (_, enclosed)) = (turn(1), enclosed(word));
        let mut story = Story::new();
        let input = Input::Ask { turn, text: " ".into(), choice: choice(), enclosed, at_ms: 0 };
        story.chat.decide(input).map(|events| {
            story.feed(events);
            story.chat.title
        })
    };
    assert_eq!(ask("ask1"), Err(Rejected::Empty));
    assert_eq!(ask("ask1+7"), Ok("7.txt".into()));
}

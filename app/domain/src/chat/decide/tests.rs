use super::*;
use crate::{
    catalogue::ModelRef,
    chat::Chat,
    id::{ChatId, SessionId},
};

mod coder;
mod files;

fn id(n: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(n)
}

fn model() -> ModelRef {
    ModelRef { server: "local".into(), model: "small".into() }
}

fn choice() -> Choice {
    Choice { model: model(), paid: false, persona: None, coder: None, machine: None }
}

/// Turn `n` has message `n`, reply `100 + n` and task `200 + n`.
fn turn(n: u128) -> NewTurn {
    NewTurn { message: MessageId(id(n)), reply: MessageId(id(100 + n)), task: TaskId(id(200 + n)) }
}

struct Story {
    chat: Chat,
}

impl Story {
    fn new() -> Self {
        Self { chat: Chat::new(ChatId(id(1)), SessionId(id(2)), "New chat".into()) }
    }

    fn feed(&mut self, events: Vec<Event>) {
        events.iter().for_each(|event| self.chat.apply(event));
    }

    /// One word a step: `ask1 edit1>2 retry1>2 claim1 done1 fail1 lost1 stop switch1 unqueue2 send send2`. A
    /// question may have files: `ask1+7@8` has file 7 attached and file 8 mentioned.
    fn step(&mut self, word: &str) -> Result<(), Rejected> {
        let (word, enclosed) = files::enclosed(word);
        let (verb, rest) = word.split_at(word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len()));
        let (of, new) = rest.split_once('>').unwrap_or((rest, rest));
        let (of, new) = (of.parse().unwrap_or(0), new.parse().unwrap_or(0));
        let text = format!("text {new}");
        let at_ms = 5;
        let input = match verb {
            "ask" => Input::Ask { turn: turn(new), text, choice: choice(), enclosed, at_ms },
            "edit" => {
                let (of, turn) = (turn(of).message, turn(new));
                Input::Resend { of, turn, text, choice: choice(), enclosed, at_ms }
            }
            "reword" => {
                let Enclosed { mentioned, left_out, .. } = enclosed;
                Input::EditQueued { message: turn(of).message, text, mentioned, left_out }
            }
            "retry" => Input::Retry {
                of: turn(of).reply,
                reply: turn(new).reply,
                task: turn(new).task,
                choice: choice(),
                at_ms,
            },
            "switch" => Input::Switch { to: turn(of).message },
            "unqueue" => Input::Unqueue { message: turn(of).message },
            "send" if rest.is_empty() => Input::SendQueued { at_ms },
            "send" => Input::SendNow { message: turn(of).message, at_ms },
            "stop" => Input::Stop,
            "claim" => {
                let events = self.chat.tasks[&turn(of).task].decide(task::Input::Claim { at_ms })?;
                self.feed(events);
                return Ok(());
            }
            "done" => self.report(of, Outcome::Done { measured: Default::default() }),
            "fail" => self.report(of, Outcome::Failed { reason: "no".into() }),
            "lost" => self.report(of, Outcome::Lost),
            "stopped" => self.report(of, Outcome::Cancelled),
            other => panic!("unknown word {other}"),
        };
        let events = self.chat.decide(input)?;
        self.feed(events);
        Ok(())
    }

    fn report(&self, n: u128, outcome: Outcome) -> Input {
        let attempt = self.chat.tasks[&turn(n).task].attempts().last().map_or(Attempt(0), |last| last.0);
        Input::Report(Report {
            task: turn(n).task,
            attempt,
            outcome,
            stream_len: 4,
            said: None,
            title: Some((TaskId(id(999)), choice())),
            at_ms: 6,
        })
    }

    /// The shown branch as turn numbers (`1 101` is question 1 and its answer), then the queue.
    fn shown(&self) -> String {
        let number = |id: MessageId| id.0.as_u128().to_string();
        let branch: Vec<_> = self.chat.branch().iter().map(|message| number(message.id)).collect();
        let queue: Vec<_> = self.chat.queue.iter().map(|queued| number(queued.turn.message)).collect();
        format!("{} | {}", branch.join(" "), queue.join(" ")).trim().to_owned()
    }
}

fn check(script: &str, expected: &str) {
    let mut story = Story::new();
    for word in script.split_whitespace() {
        story.step(word).unwrap_or_else(|no| panic!("{script}: {word}: {no}"));
    }
    assert_eq!(story.shown(), expected, "script: {script}");
}

fn refuses(script: &str, expected: Rejected) {
    let (last, before) =
        script.split_whitespace().collect::<Vec<_>>().split_last().map(|(l, b)| (*l, b.to_vec())).unwrap();
    let mut story = Story::new();
    for word in before {
        story.step(word).unwrap();
    }
    let untouched = story.chat.clone();
    assert_eq!(story.step(last), Err(expected), "script: {script}");
    assert_eq!(story.chat, untouched);
}

#[test]
fn what_is_asked_while_a_turn_stops_goes_when_it_has() {
    check("ask1 claim1 stop ask2 stopped1", "1 101 2 102 |");
    check("ask1 claim1 stop ask2 ask3 stopped1", "1 101 2 102 | 3");
    check("ask1 claim1 stop ask2 done1", "1 101 2 102 |");
    // What waited before the stop is looked at first, and a second stop holds everything.
    check("ask1 claim1 ask2 stop ask3 stopped1", "1 101 | 2 3");
    check("ask1 claim1 stop ask2 stop stopped1", "1 101 | 2");
}

#[test]
fn a_question_gets_an_answer() {
    check("ask1", "1 101 |");
    check("ask1 claim1 done1 ask2 claim2 done2", "1 101 2 102 |");
}

#[test]
fn what_is_asked_meanwhile_waits_and_goes_on_by_itself() {
    check("ask1 ask2 ask3", "1 101 | 2 3");
    check("ask1 ask2 ask3 claim1 done1", "1 101 2 102 | 3");
    check("ask1 ask2 unqueue2 claim1 done1", "1 101 |");
    // Whoever looks at another branch meanwhile does not change what is followed.
    check("ask1 claim1 done1 edit1>3 ask4 claim3 switch1 done3", "3 103 4 104 |");
}

#[test]
fn a_question_that_arrives_twice_is_asked_once() {
    check("ask1 ask1", "1 101 |");
    check("ask1 claim1 done1 ask1", "1 101 |");
    check("ask1 ask2 ask2", "1 101 | 2");
    check("ask1 claim1 done1 edit1>2 edit1>2", "2 102 |");
}

#[test]
fn an_answer_that_is_asked_for_twice_is_made_once() {
    check("ask1 claim1 done1 retry1>2 retry1>2", "1 102 |");
    check("ask1 claim1 done1 retry1>2 claim2 done2 retry1>2", "1 102 |");
    // The control: under another id it is another one.
    check("ask1 claim1 done1 retry1>2 claim2 done2 retry1>3", "1 103 |");
    let known = || Rejected::Invalid("This answer was asked for already. Ask for another one.".into());
    refuses("ask1 claim1 done1 retry1>1", known());
    refuses("ask1 claim1 done1 ask2 claim2 done2 retry2>1", known());

    let mut story = Story::new();
    "ask1 claim1 done1 retry1>2 claim2 done2".split_whitespace().for_each(|word| story.step(word).unwrap());
    let other = Choice {
        model: ModelRef { model: "large".into(), ..model() },
        paid: false,
        persona: None,
        coder: None,
        machine: None,
    };
    let (of, NewTurn { reply, task, .. }) = (turn(1).reply, turn(2));
    let retry = Input::Retry { of, reply, task, choice: other, at_ms: 5 };
    assert_eq!(story.chat.decide(retry), Err(known()), "another model was not asked");
}

#[test]
fn other_words_under_a_known_id_are_refused_rather_than_lost() {
    let check = |words: &str, n: u128, text: &str, is_repeat: bool| {
        let mut story = Story::new();
        words.split_whitespace().for_each(|word| story.step(word).unwrap());
        let enclosed = Enclosed::default();
        let (text, choice) = (text.to_owned(), choice());
        let ask = Input::Ask {
            turn: turn(n),
            text: text.clone(),
            choice: choice.clone(),
            enclosed: enclosed.clone(),
            at_ms: 5,
        };
        let resend = Input::Resend {
            of: turn(1).message,
            turn: turn(n),
            text: text.clone(),
            choice,
            enclosed,
            at_ms: 5,
        };
        for input in [ask, resend] {
            match story.chat.decide(input) {
                Ok(events) => assert!(is_repeat && events.is_empty(), "{words} {text}"),
                Err(no) => assert!(!is_repeat && matches!(no, Rejected::Invalid(_)), "{words} {text}: {no}"),
            }
        }
    };
    check("ask1", 1, "text 1", true);
    check("ask1", 1, "text 1, but shorter", false);
    check("ask1 ask2", 2, "text 2", true);
    check("ask1 ask2", 2, "something else", false);
    check("ask1 claim1 done1 edit1>2", 2, "text 1", false);
    // The id of an answer is no question's.
    check("ask1", 101, "text 101", false);
}

#[test]
fn after_a_failure_or_a_stop_the_queue_is_held() {
    check("ask1 ask2 claim1 fail1", "1 101 | 2");
    check("ask1 ask2 claim1 stop stopped1", "1 101 | 2");
    check("ask1 ask2 claim1 stop done1", "1 101 | 2");
    check("ask1 ask2 claim1 fail1 ask3", "1 101 | 2 3");
    check("ask1 ask2 claim1 fail1 send", "1 101 2 102 |");
    let held = |script: &str, expected| {
        let mut story = Story::new();
        script.split_whitespace().for_each(|word| story.step(word).unwrap());
        assert_eq!(story.chat.is_held(), expected, "script: {script}");
    };
    held("ask1 ask2 claim1 fail1", true);
    held("ask1 ask2 claim1 stop", false);
    held("ask1 ask2 claim1 fail1 send", false);
    held("ask1 claim1 fail1", false);
}

#[test]
fn a_waiting_message_is_sent_now_in_place_of_the_running_turn() {
    // One that nobody has begun makes room at once.
    check("ask1 ask2 ask3 send3", "1 101 3 103 | 2");
    // One that runs is stopped first; how it ends does not matter.
    check("ask1 ask2 ask3 claim1 send3", "1 101 | 2 3");
    check("ask1 ask2 ask3 claim1 send3 stopped1", "1 101 3 103 | 2");
    check("ask1 ask2 ask3 claim1 send3 fail1", "1 101 3 103 | 2");
    check("ask1 ask2 ask3 claim1 send3 lost1", "1 101 3 103 | 2");
    check("ask1 ask2 ask3 claim1 send3 done1", "1 101 3 103 | 2");
    // The rest follows in order.
    check("ask1 ask2 ask3 ask4 claim1 send3 stopped1 claim3 done3", "1 101 3 103 2 102 | 4");
    // A stop that was asked for before does not hold what is sent now; one that is asked for after it does.
    check("ask1 ask2 claim1 stop send2 stopped1", "1 101 2 102 |");
    check("ask1 ask2 claim1 send2 stop stopped1", "1 101 | 2");
    check("ask1 ask2 ask3 claim1 send3 send2 stopped1", "1 101 2 102 | 3");
    check("ask1 ask2 ask3 claim1 send3 unqueue3 stopped1", "1 101 | 2");
    // Whoever looks at another branch meanwhile does not change what is followed.
    check("ask1 claim1 done1 edit1>3 ask4 claim3 send4 switch1 stopped3", "3 103 4 104 |");
}

#[test]
fn of_a_held_queue_one_is_sent_and_the_rest_follows_it() {
    check("ask1 ask2 ask3 claim1 fail1 send3", "1 101 3 103 | 2");
    check("ask1 ask2 ask3 claim1 fail1 send3 claim3 done3", "1 101 3 103 2 102 |");
    check("ask1 ask2 ask3 claim1 fail1 send3 claim3 fail3", "1 101 3 103 | 2");
}

#[test]
fn sending_now_twice_is_sending_once() {
    check("ask1 ask2 claim1 send2 send2 stopped1 send2", "1 101 2 102 |");
    check("ask1 ask2 claim1 done1 send2", "1 101 2 102 |");
    refuses("ask1 send7", Rejected::missing("queued message"));
}

#[test]
fn a_lost_attempt_keeps_the_turn_open() {
    check("ask1 ask2 claim1 lost1", "1 101 | 2");
    check("ask1 ask2 claim1 lost1 claim1 done1", "1 101 2 102 |");
}

#[test]
fn editing_makes_a_branch_and_the_old_one_stays_reachable() {
    check("ask1 claim1 done1 ask2 claim2 done2 edit1>3", "3 103 |");
    check("ask1 claim1 done1 ask2 claim2 done2 edit1>3 claim3 done3 switch1", "1 101 2 102 |");
    check("ask1 claim1 done1 retry1>2", "1 102 |");
}

#[test]
fn what_cannot_be_done_is_refused_and_changes_nothing() {
    refuses("ask1 edit1>2", Rejected::Busy);
    refuses("ask1 retry1>2", Rejected::Busy);
    refuses("stop", Rejected::Idle);
    refuses("send", Rejected::Idle);
    refuses("switch1", Rejected::missing("message"));
    refuses("ask1 unqueue1", Rejected::missing("queued message"));
    refuses("ask1 claim1 done1 done1", Rejected::Stale);
}

#[test]
fn a_message_has_a_sensible_size() {
    let chat = Story::new().chat;
    let ask = |text: String| {
        let (turn, choice, enclosed) = (turn(1), choice(), Enclosed::default());
        chat.decide(Input::Ask { turn, text, choice, enclosed, at_ms: 0 })
    };
    assert_eq!(ask(" \n".into()), Err(Rejected::Empty));
    assert_eq!(ask("x".repeat(256 * 1024 + 1)), Err(Rejected::TooLong { got: 257, max: 256 }));
    assert!(ask("x".repeat(256 * 1024)).is_ok());
}

#[test]
fn the_first_finished_turn_asks_for_a_title_once() {
    let mut story = Story::new();
    for word in "ask1 claim1 done1 ask2 claim2 done2".split_whitespace() {
        story.step(word).unwrap();
    }
    assert_eq!(story.chat.title, "text 1");
    assert_eq!(story.chat.tasks.values().filter(|task| task.work == Work::Title).count(), 1);

    let title = TaskId(id(999));
    let events = story.chat.tasks[&title].decide(task::Input::Claim { at_ms: 7 }).unwrap();
    story.feed(events);
    let done = Outcome::Done { measured: Default::default() };
    let report = Report {
        task: title,
        attempt: Attempt(1),
        outcome: done,
        stream_len: 9,
        said: Some("Sorting lists".into()),
        title: None,
        at_ms: 8,
    };
    let events = story.chat.decide(Input::Report(report)).unwrap();
    story.feed(events);
    assert_eq!((story.chat.title.as_str(), story.chat.titled_by), ("Sorting lists", Some(TitledBy::Model)));
}

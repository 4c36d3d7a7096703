//! What a battle may use, and what happens when it has.

use super::{
    super::decide::Input,
    story::{judge, play, refuses},
    *,
};

#[test]
fn a_battle_that_has_spent_its_tokens_is_stopped() {
    let spend = |max, script: &str, expected: &str| {
        let story = play(battle(Kind::Coding, "C1 C2", |terms| terms.tokens_max = Some(max)), script);
        assert_eq!(story.shown(), expected, "{script}");
        story.battle.spent()
    };
    assert_eq!(spend(100, "A.used:60 B.used:40", "dispatched dispatched | running"), 100);
    assert_eq!(spend(100, "A.used:60 B.used:41 A.stopped B.stopped", "cancelled cancelled | cancelled"), 101);
    let story = play(battle(Kind::Coding, "C1 C2", |terms| terms.tokens_max = Some(1)), "A.used:2 A.stopped");
    assert_eq!(story.battle.contestants[0].standing.reason(), Some(Stopped::Spent.words()));
    // What a report measured was counted before.
    assert_eq!(spend(100, "A.used:60 A.done:60", "done queued | running"), 60);
    assert_eq!(spend(100, "A.used:10 A.fail A.retry A.used:20 A.done:20", "done queued | running"), 30);
    refuses("C1 C2", "A.done A.used:5", "That report belongs to an earlier attempt.");
}

/// The contestants may use 100 tokens together with the judge that was agreed on.
#[test]
fn comparing_counts_too_and_is_ended_without_a_verdict() {
    let spent = |script: &str| {
        let terms = |terms: &mut Terms| (terms.tokens_max, terms.judge) = (Some(100), Some(judge()));
        play(battle(Kind::Coding, "C1 C2", terms), script).battle
    };
    let it = spent("A.used:40 A.done B.used:40 B.done digest.used:15 digest.one digest.used:5");
    assert_eq!((it.spent(), it.course.opinion_tokens, it.course.status), (100, 20, Status::Analysing));
    let it = spent("A.used:40 A.done B.used:40 B.done digest.used:21");
    let told = it.told().unwrap();
    assert_eq!(told.words, "No verdict: The battle had used all the tokens that it may.");
    assert_eq!((it.course.status, it.course.stopped), (Status::Completed, None));
    let again = Input::Retry { contestant: it.contestants[0].id, fresh: Fresh::new(id(7)), at_ms: 9 };
    assert!(it.decide(again).unwrap_err().to_string().contains("used all the tokens"));
    // What a person asks for besides is counted, and not ended.
    let it = spent("A.used:40 A.done B.used:40 B.done digest.used:21 analyse digest.used:50 digest.one");
    assert_eq!((it.spent(), it.course.status), (151, Status::Analysing));
}

/// What is asked for besides, while a check runs, may be what is too much.
#[test]
fn whoever_has_spent_while_it_checks_compares_nothing() {
    let terms = |terms: &mut Terms| {
        (terms.tokens_max, terms.judge, terms.check) = (Some(100), Some(judge()), Some("make".into()));
    };
    let script =
        "A.used:40 A.done B.used:40 B.fail check.0 check.0 examine B.retry B.done examination.used:30";
    let it = play(battle(Kind::Coding, "C1 C2", terms), script);
    assert_eq!((it.battle.course.stopped, it.battle.analyses.len()), (Some(Stopped::Spent), 0));
}

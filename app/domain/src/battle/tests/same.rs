//! Results that are none, and results that are the same.

use super::{super::decide::Input, story::play, *};

#[test]
fn whoever_says_and_changes_nothing_has_no_result() {
    let check = |kind, end: &str, expected: &str| {
        let it = play(battle(kind, "C1 C2", |_| {}), &format!("B.fail {end}")).battle;
        let standing = &it.contestants[0].standing;
        assert_eq!(standing.reason().unwrap_or(standing.word()), expected, "{end}");
        assert_eq!(it.survivors().count(), usize::from(expected == "done"), "{end}");
    };
    check(Kind::Qa, "A.silent", "It said nothing.");
    check(Kind::Qa, "A.says:so", "done");
    check(Kind::Coding, "A.patch:", "It said nothing and changed nothing.");
    check(Kind::Coding, "A.patch:x", "done");
    check(Kind::Coding, "A.says:so", "done");
    // Nobody knows what it said.
    check(Kind::Qa, "A.done", "done");
}

#[test]
fn who_made_the_same_is_not_compared() {
    let opinions = |roster: &str, script: &str| {
        let judged = |terms: &mut Terms| terms.judge = Some(judge());
        let it = play(battle(Kind::Coding, roster, judged), script).battle;
        let count = |work| it.tasks.values().filter(|task| task.work == work).count();
        let told = it.told().map(|told| told.words).unwrap_or_default();
        let (done, all) = it.newest_analysis().unwrap().progress();
        let goes = match it.course.status {
            Status::Analysing => format!("{done}/{all}"),
            status => status.word().to_owned(),
        };
        format!("{} {} {goes}: {told}", count(Work::Digest), count(Work::Judgement))
    };
    let check = |roster: &str, script: &str, expected: &str| {
        assert_eq!(opinions(roster, script), expected, "{script}");
    };
    let both = "No winner: both made the same, so nobody was asked.";
    check("C1 C2", "A.patch:x B.patch:x", &format!("0 0 completed: {both}"));
    check("C1 C2", "A.says:so B.says:so", &format!("0 0 completed: {both}"));
    check("C1 C2", "A.patch:x B.patch:x analyse", &format!("0 0 completed: {both}"));
    check("C1 C2", "A.patch:x B.patch:y", "2 0 0/8: ");
    // What was changed counts, whatever is said of it; and words are no change.
    check("C1 C2", "A.patch:x B.says:x", "2 0 0/8: ");
    // Nobody knows whether they are the same.
    check("C1 C2", "A.done B.done", "2 0 0/8: ");
    // The one description is of both, and each is compared with the third.
    check("C1 C2 C3", "A.patch:x B.patch:x C.patch:y", "2 0 0/14: ");
    check("C1 C2 C3", "A.patch:x B.patch:x C.patch:y digest.one", "2 0 1/14: ");
    let wins = "C wins over every other in both orders; 12 of 12 judgements agree.";
    let told = format!("2 12 completed: {wins}");
    check("C1 C2 C3", "A.patch:x B.patch:x C.patch:y digest.one digest.two judge:C", &told);
    // Another try may make something else.
    check("C1 C2", "A.patch:x B.patch:x B.retry B.patch:y", "2 0 0/8: ");
}

#[test]
fn where_nobody_changed_anything_the_verdict_says_so() {
    let told = |script: &str| {
        let terms = |terms: &mut Terms| terms.judge = Some(judge());
        let mut story = super::story::Story::new(battle(Kind::Coding, "C1 C2", terms));
        for word in script.split_whitespace() {
            match word.split_once(".unchanged:") {
                Some((who, said)) => {
                    let Input::Report(mut report) = story.told(who, &format!("says:{said}")) else {
                        panic!()
                    };
                    report.changes = Some(Default::default());
                    let events = story.battle.decide(Input::Report(report)).unwrap();
                    story.feed(events);
                }
                None => story.step(word).unwrap(),
            }
        }
        story.battle.told().map(|told| told.words).unwrap_or_default()
    };
    let wins = "A wins over the other in both orders; 6 of 6 judgements agree.";
    let words = "Nobody changed anything: they were compared by what they said.";
    let judged = "digest.one digest.two judge:A";
    assert_eq!(told(&format!("A.unchanged:x B.unchanged:y {judged}")), format!("{wins} {words}"));
    assert_eq!(told(&format!("A.unchanged:x B.patch:y {judged}")), wins);
    // Nobody was compared.
    assert_eq!(told("A.unchanged:x B.unchanged:x"), "No winner: both made the same, so nobody was asked.");
}

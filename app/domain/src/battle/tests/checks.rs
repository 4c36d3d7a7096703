//! Checks of the project and of what was made of it.

use super::{super::decide::Input, story::play, *};

#[test]
fn the_base_is_checked_first_and_then_each_result() {
    let checked = |script: &str, expected: &str| {
        let terms = |terms: &mut Terms| terms.check = Some("make test".into());
        let story = play(battle(Kind::Coding, "C1 C2 C3", terms), script);
        let words = |state: &CheckState| match state {
            CheckState::None => "none",
            CheckState::Pending { .. } => "pending",
            CheckState::Done { checked, .. } if checked.passed() => "passed",
            CheckState::Done { .. } => "failed",
            CheckState::Void { .. } => "void",
        };
        let all = [&story.battle.course.base_check].into_iter();
        let all: Vec<_> = all.chain(story.battle.contestants.iter().map(|it| &it.check)).map(words).collect();
        let status = story.battle.course.status.label();
        assert_eq!(format!("{} | {status}", all.join(" ")), expected, "{script}");
    };
    checked("A.done B.done", "none none none none | Running");
    checked("A.done B.done C.fail", "pending none none none | Running");
    checked("A.done B.done C.fail check.1", "failed pending pending none | Running");
    checked("A.done B.done C.fail check.1 check.0 check.1", "failed passed failed none | Completed");
    checked("A.done B.done C.fail check.void check.0 check.0", "void passed passed none | Completed");
    // What could not be run is run when there is another try.
    let void = "A.done B.done C.fail check.void check.0 check.void";
    checked(void, "void passed void none | Completed");
    checked(&format!("{void} C.retry"), "none passed none none | Running");
    checked(&format!("{void} C.retry C.done check.1"), "failed passed pending pending | Running");
    checked("A.done B.done C.fail stop", "void none none none | Cancelled");
    checked("A.done B.done C.fail check+ stop", "pending none none none | Running");
    checked("A.done B.done C.fail check+ stop check.stopped", "void none none none | Cancelled");
    checked("A.fail B.fail C.void", "none none none none | Completed");
}

/// It is the project as it was, whose own check is known.
#[test]
fn whoever_changed_nothing_is_not_checked_again() {
    let terms = |terms: &mut Terms| terms.check = Some("make test".into());
    let says = |story: &mut super::story::Story, who: &str| {
        let Input::Report(mut report) = story.told(who, "says:so") else { panic!() };
        report.changes = Some(Default::default());
        let events = story.battle.decide(Input::Report(report)).unwrap();
        story.feed(events);
    };
    for (base, expected) in [("1", Some("check fails, it failed before too")), ("void", None)] {
        let mut story = play(battle(Kind::Coding, "C1 C2", terms), "A.patch:x");
        says(&mut story, "B");
        story.step(&format!("check.{base}")).unwrap();
        let it = &story.battle;
        let compared = it.contestants[1].check.compared(&it.course.base_check).map(|it| it.words());
        assert_eq!((compared.as_deref(), it.contestants[1].check.is_void()), (expected, expected.is_none()));
        assert_eq!(it.tasks.values().filter(|task| task.work == Work::Check).count(), 2);
    }
}

/// What is known of a result is what it is judged by.
#[test]
fn a_verdict_does_not_outlive_what_was_known_of_the_results() {
    let terms = |terms: &mut Terms| {
        terms.check = Some("make test".into());
        terms.judge = Some(judge());
    };
    let judged = "A.patch:x B.patch:y C.fail check.0 check.void check.0 digest.one digest.two judge:A";
    let is_of_now = |script: &str| {
        let it = play(battle(Kind::Coding, "C1 C2 C3", terms), script).battle;
        let first = &it.analyses[0];
        (first.is_of_now(&it), it.analyses.len(), it.course.status)
    };
    assert_eq!(is_of_now(judged), (true, 1, Status::Completed));
    // The check that could not be run says nothing new the second time.
    let again = format!("{judged} C.retry C.fail");
    assert_eq!(is_of_now(&format!("{again} check.void")), (true, 1, Status::Completed));
    assert_eq!(is_of_now(&format!("{again} check.1")), (false, 2, Status::Analysing));
    // One from before that was noted is as good as it was.
    let mut it = play(battle(Kind::Coding, "C1 C2 C3", terms), &format!("{again} check.1")).battle;
    it.analyses[0].checks = None;
    assert!(it.analyses[0].is_of_now(&it));
}

#[test]
fn a_check_that_could_not_be_run_is_over_too() {
    let checks = |script: &str| {
        let terms = |terms: &mut Terms| terms.check = Some("make test".into());
        play(battle(Kind::Coding, "C1 C2 C3", terms), script).battle.checks()
    };
    assert_eq!(checks("A.done B.done C.fail"), (0, 3));
    assert_eq!(checks("A.done B.done C.fail check.void"), (1, 3));
    assert_eq!(checks("A.done B.done C.fail check.void check.0"), (2, 3));
}

/// Whoever made what never comes to an end answers for it, however long the tree and the setup before it took.
#[test]
fn the_limit_of_the_command_comes_before_that_of_its_task() {
    let terms = |terms: &mut Terms| terms.check = Some("make test".into());
    let it = play(battle(Kind::Coding, "C1 C2", terms), "A.done B.done").battle;
    let task = &it.tasks[&it.course.base_check.task().unwrap()];
    let before = u64::from(task.limit_s.unwrap() - super::super::check::LIMIT_S);
    assert!(before > crate::setup::SECONDS_MAX, "{before}");
}

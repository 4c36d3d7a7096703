//! What must hold of a battle whatever happens.

use super::{super::*, *};

pub fn check_battle(battle: &Battle) {
    let under_way = |contestant: &&Contestant| contestant.is_under_way(battle.task_of(contestant));
    let local = battle.contestants.iter().filter(|contestant| contestant.lane == Lane::Local);
    assert!(local.clone().filter(under_way).count() <= 1, "two local contestants at once");
    let unfinished = |task: &&Task| !task.is_settled() && task.work != Work::Examination;
    let in_flight = battle.tasks.values().filter(unfinished).count();
    let is_over = battle.contestants.iter().all(|contestant| contestant.standing.is_over());
    match battle.course.status {
        Status::Running => assert!(in_flight > 0, "a running battle has nothing in flight"),
        Status::Analysing => {
            assert!(is_over, "analysed before all were over");
            assert!(battle.newest_analysis().is_some_and(|analysis| !analysis.is_over()), "no analysis");
            assert!(in_flight > 0, "an analysis has nothing in flight");
        }
        Status::Completed | Status::Cancelled => {
            assert!(is_over, "over before all were over");
            let opinions = |task: &&Task| matches!(task.work, Work::Digest | Work::Judgement);
            let left = battle.tasks.values().filter(unfinished).filter(|task| !opinions(task)).count();
            // Opinions that nobody wants any more are being ended.
            assert_eq!(left, 0, "over, and something runs");
        }
    }
    match battle.course.status {
        Status::Running => assert_eq!(battle.course.finished_at_ms, None, "finished, and running"),
        Status::Analysing => {}
        Status::Completed | Status::Cancelled => assert!(battle.course.finished_at_ms.is_some()),
    }
    for contestant in &battle.contestants {
        let waits = battle.waits_for_turn(contestant);
        assert!(!(waits && contestant.lane == Lane::Cloud), "cloud waits for local");
        let Some(task) = battle.task_of(contestant) else { continue };
        if !task.is_settled() {
            assert!(!contestant.standing.is_over(), "over, and its task is not");
        }
    }
    if let Some(leader) = battle.leader() {
        let leader = battle.contestant(leader).unwrap();
        assert_eq!(leader.standing, Standing::Done, "one without a result is ahead");
        let is_judged = |it: &Analysis| {
            it.is_of_now(battle) && it.verdict().is_some_and(|verdict| verdict.winner == Some(leader.id))
        };
        let is_named = battle.course.winner == Some(leader.id) || battle.analyses.iter().any(is_judged);
        assert!(is_named, "one is ahead for what it made before");
    }
    let judged = battle.verdict().and_then(|verdict| verdict.winner);
    assert_eq!(battle.course.judged, judged, "the judge's choice is not what its verdict says");
    if let Some(max) = battle.terms.tokens_max.filter(|max| battle.spent() > *max) {
        let is_own = battle.newest_analysis().is_some_and(|it| !it.is_over() && !it.by_person);
        assert!(!is_own, "more than {max} tokens are spent, and it compares by itself");
        let goes_on = battle.course.status == Status::Running && battle.course.stopped.is_none();
        assert!(!goes_on, "more than {max} tokens are spent, and it goes on");
    }
}

/// Of the local ones that wait, the first in the roster goes next.
pub fn check_turn(before: &Battle, contestant: &Contestant) {
    let known = before.contestant(contestant.id).unwrap();
    if contestant.lane == Lane::Local && contestant.tries.len() > known.tries.len() {
        let mut waiting = before.contestants.iter().filter(|it| it.lane == Lane::Local);
        let first = waiting.find(|it| before.waits_for_turn(it)).map(|it| it.id);
        assert_eq!(first, Some(contestant.id), "a local contestant went before its turn");
    }
}

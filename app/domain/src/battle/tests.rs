mod checks;
mod same;
mod spent;
pub(super) mod story;

use uuid::Uuid;

use super::*;
use crate::{
    backend::Backend,
    catalogue::Lane,
    id::{Attempt, ChatId},
    output::{Measured, Outcome, Phase},
    task::{self, Work},
};
use story::{Story, check, judge, play, refuses};

pub(super) fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

/// `L1` is a local contestant on model 1, `C2` a cloud one on model 2.
pub(crate) fn battle(kind: Kind, roster: &str, change: impl FnOnce(&mut Terms)) -> Battle {
    let entry = |(place, word): (usize, &str)| {
        let (lane, server) = match word.split_at(1).0 {
            "L" => (Lane::Local, "local"),
            _ => (Lane::Cloud, "cloud"),
        };
        let identity = match kind {
            Kind::Coding => Identity::Backend(Backend(format!("agent{place}"))),
            Kind::Qa => Identity::Persona(format!("Persona {place}")),
        };
        let model = ModelRef { server: server.into(), model: word.into() };
        Entry { identity, model, variant: String::new(), lane }
    };
    let entries: Vec<_> = roster.split_whitespace().enumerate().map(entry).collect();
    let ids = (0..entries.len()).map(|place| ContestantId(id(100 + place as u128))).collect();
    let mut terms = Terms {
        limit_s: LIMIT_S,
        tokens_max: None,
        carry: false,
        check: None,
        setup: None,
        judge: None,
        host: "here".into(),
        machines: Default::default(),
    };
    change(&mut terms);
    let launch = Launch {
        id: BattleId(id(1)),
        session: SessionId(id(2)),
        project: ProjectId(id(3)),
        kind,
        prompt: "Mend it".into(),
        terms,
        roster: Roster::new(kind, entries).unwrap(),
        ids,
        at_ms: 1,
    };
    Battle::new(launch).unwrap()
}

#[test]
fn cloud_starts_at_once_and_local_one_at_a_time_in_roster_order() {
    check("L1 L2 C1 C2", "", "queued -queued queued queued | running");
    check("L1 L2 C1", "A+ A> C+", "running -queued dispatched | running");
    check("L1 L2 C1", "A.done", "done queued queued | running");
    check("L1 L2 L3", "A.fail B+", "failed dispatched -queued | running");
    // The other lane does not wait.
    check("L1 C1 C2", "B.done C.done", "queued done done | running");
}

#[test]
fn a_failure_aborts_nothing_and_ours_is_void() {
    check("L1 C1", "A.fail B.done", "failed done | completed");
    check("L1 C1", "A.void B.fail", "void failed | completed");
    check("L1 C1", "A.lost", "queued queued | running");
    check("L1 C1", "A.lost A.lost A.lost B.done", "void done | completed");
    // A paid one is tried twice only.
    check("C1 C2", "A.lost A.lost B.done", "void done | completed");
}

#[test]
fn a_stop_ends_what_runs_and_keeps_what_is_done() {
    check("L1 L2 C1", "C.done A> stop", "running cancelled done | running");
    check("L1 L2 C1", "C.done A> stop A.stopped", "cancelled cancelled done | cancelled");
    check("L1 L2", "stop", "cancelled cancelled | cancelled");
    // It was quicker than the stop.
    check("L1 C1", "B.done A> stop A.done", "done done | cancelled");
    check("L1 L2", "A> A.stop", "running -queued | running");
    check("L1 L2", "A> A.stop A.stopped B.done", "cancelled done | completed");
    check("L1 L2", "B.stop A.done", "done cancelled | completed");
    refuses("L1 L2", "stop stop", "Nothing is running here.");
    refuses("L1 L2", "A.done A.stop", "Nothing is running here.");
    let why = |script: &str| {
        let story = play(battle(Kind::Coding, "L1 L2", |_| {}), script);
        story.battle.contestants[0].standing.reason().unwrap().to_owned()
    };
    assert_eq!(why("A> stop A.stopped"), "The battle was stopped.");
    assert_eq!(why("A> A.stop A.stopped"), "It was stopped.");
}

#[test]
fn a_retry_begins_anew_and_what_was_made_stays() {
    check("L1 L2", "A.fail B.done A.retry", "queued done | running");
    check("L1 L2", "A.fail A.retry", "-queued queued | running");
    check("L1 L2", "A.fail A.retry B.done A.done", "done done | completed");
    check("L1 L2", "stop A.retry", "queued cancelled | running");
    let story = play(battle(Kind::Coding, "C1 C2", |_| {}), "A.done B.done A.wins A.retry");
    assert_eq!((story.battle.contestants[0].tries.len(), story.battle.course.winner), (2, None));
    refuses("L1 L2", "A.retry", "It is not over yet. Stop it first.");
    refuses("C1 C2", "A.done B> stop A.retry", "The battle is being stopped.");
}

/// Who came to no result was at work too, from when its folder was ready.
#[test]
fn how_long_it_took_is_known_of_everybody_who_began() {
    let took = |script: &str| {
        let it = play(battle(Kind::Coding, "C1 C2", |_| {}), script).battle;
        it.contestants[0].benchmark.as_ref().map(|it| it.duration_ms)
    };
    // Begun at 2, reported at 9; who is done measured it itself.
    assert_eq!([took("A.done"), took("A.fail"), took("A.void")], [Some(5), Some(7), Some(7)]);
    assert_eq!([took("A> stop A.stopped"), took("stop"), took("A.lost")], [Some(7), None, None]);
    assert_eq!(took("A.fail A.retry"), None);
}

fn judged(roster: &str, script: &str) -> Story {
    play(battle(Kind::Coding, roster, |terms| terms.judge = Some(judge())), script)
}

#[test]
fn survivors_are_compared_and_a_winner_is_named() {
    let check = |roster: &str, script: &str, expected: &str| {
        let story = judged(roster, script);
        let said = match story.battle.newest_analysis().map(|analysis| &analysis.state) {
            None => "none".to_owned(),
            Some(analysis::State::Digesting) => "digesting".to_owned(),
            Some(analysis::State::Judging) => "judging".to_owned(),
            Some(analysis::State::Done { verdict }) => verdict.sentence.clone(),
            Some(analysis::State::Failed { reason }) => reason.clone(),
            Some(analysis::State::Stopped) => "stopped".to_owned(),
        };
        let status = story.battle.course.status.label();
        assert_eq!(format!("{status}: {said}"), expected, "{roster}: {script}");
    };
    check("C1 C2", "A.done", "Running: none");
    check("C1 C2", "A.done B.done", "Analysing: digesting");
    check("C1 C2", "A.done B.done digest.text", "Analysing: digesting");
    check("C1 C2", "A.done B.done digest.text digest.text", "Analysing: judging");
    let wins = "Completed: B wins over the other in both orders; 6 of 6 judgements agree.";
    check("C1 C2", "A.done B.done digest.one digest.two judge:B", wins);
    check("C1 C2", "A.done B.fail", "Completed: none");
    let three = "C1 C2 C3";
    let two_left = "A.done B.fail C.done digest.one digest.two judge:C";
    check(three, two_left, "Completed: C wins over the other in both orders; 6 of 6 judgements agree.");
    // What fails leaves no verdict, and says why.
    check("C1 C2", "A.done B.done digest.void", "Completed: A result could not be described: down");
    let twice = "Completed: The judge did not answer in the form that was asked for, twice.";
    let digested = "A.done B.done digest.one digest.two";
    check("C1 C2", &format!("{digested} judgement.nonsense"), "Analysing: judging");
    let all_nonsense = "judgement.nonsense ".repeat(7);
    check("C1 C2", &format!("{digested} {all_nonsense}").replace("  ", " "), twice);
    check("C1 C2", &format!("{digested} judgement.fail"), "Completed: The judge could not be asked: no");
    check("C1 C2", &format!("{digested} unanalyse"), "Completed: stopped");
    check("C1 C2", &format!("{digested} stop"), "Cancelled: stopped");
    check("C1 C2", &format!("{digested} judgement.nonsense judge:A analyse"), "Analysing: digesting");
    // What was finished before it was compared again stays as it was.
    check("C1 C2", &format!("{digested} judge:B analyse stop"), "Completed: stopped");
    check("C1 C2", &format!("{digested} stop analyse stop"), "Cancelled: stopped");
}

#[test]
fn verdicts_are_never_overwritten_and_a_retry_is_compared_again() {
    let story =
        judged("C1 C2", "A.done B.done digest.one digest.two judge:A analyse digest.one digest.two judge:B");
    let winners: Vec<_> = story.battle.analyses.iter().map(|it| it.verdict().unwrap().winner).collect();
    let [a, b] = [0, 1].map(|place| Some(story.battle.contestants[place].id));
    assert_eq!((winners, story.battle.leader()), (vec![a, b], b));
    let story = judged("C1 C2", "A.done B.done digest.one digest.two judge:A B.retry B.done");
    assert_eq!((story.battle.analyses.len(), story.shown().as_str()), (2, "done done | analysing"));
    assert!(!story.battle.analyses[0].is_of_now(&story.battle));
}

#[test]
fn a_verdict_holds_for_what_it_was_given_on() {
    let check = |roster: &str, script: &str, leader: Option<char>, expected: &str| {
        let it = judged(roster, script).battle;
        assert_eq!(it.leader().map(|id| it.letter(id)), leader, "{script}");
        assert_eq!(it.course.judged, it.verdict().and_then(|verdict| verdict.winner), "{script}");
        assert_eq!(it.told().map(|told| told.words).unwrap_or_default(), expected, "{script}");
    };
    let two = "A.done B.done digest.one digest.two judge:B";
    let wins = "B wins over the other in both orders; 6 of 6 judgements agree.";
    check("C1 C2", two, Some('B'), wins);
    // Whoever is tried again, and comes to nothing, has not won.
    check("C1 C2", &format!("{two} B.retry"), None, "");
    check("C1 C2", &format!("{two} B.retry B.fail"), None, "No winner: only one has a result.");
    check("C1 C2", &format!("{two} A.retry A.fail"), None, "No winner: only one has a result.");
    // A comparison that fails, or is stopped, takes nothing away from the one before.
    let failed = format!("{wins} Analysis 2 brought no verdict: The judge could not be asked: no.");
    check("C1 C2", &format!("{two} analyse digest.one digest.two judgement.fail"), Some('B'), &failed);
    let stopped = format!("{wins} Analysis 2 brought no verdict: it was stopped.");
    check("C1 C2", &format!("{two} analyse unanalyse"), Some('B'), &stopped);
    check("C1 C2", &format!("{two} analyse"), Some('B'), wins);
    check("C1 C2", "A.done B.done digest.void", None, "No verdict: A result could not be described: down.");
    // Who failed at first is compared with the others, and when it fails again they have been compared already.
    let three = "A.done B.done C.fail digest.one digest.two judge:B C.retry C.done digest.one digest.two digest.three judge:C";
    check("C1 C2 C3", three, Some('C'), "C wins over every other in both orders; 18 of 18 judgements agree.");
    check("C1 C2 C3", &format!("{three} C.retry C.fail"), Some('B'), wins);
}

#[test]
fn comparing_again_does_not_begin_the_battle_again() {
    let it = judged("C1 C2", "A.done B.done digest.one digest.two judge:B analyse").battle;
    assert_eq!((it.course.finished_at_ms, it.course.status), (Some(9), Status::Analysing));
    let it = judged("C1 C2", "A.done B.done digest.one digest.two judge:B B.retry").battle;
    assert_eq!(it.course.finished_at_ms, None);
    // What is stopped ends when it is stopped.
    let it = judged("C1 C2", "A.done B.done stop").battle;
    assert_eq!(it.analyses[0].ended_at_ms, Some(9));
}

/// Only whoever works in a folder is bound to the machine that has it.
#[test]
fn folders_are_of_one_host_and_opinions_are_not() {
    let hosts = |kind, script: &str| {
        let it = play(battle(kind, "C1 C2", |terms| terms.check = Some("make".into())), script).battle;
        let mut all: Vec<_> =
            it.tasks.values().map(|task| (format!("{:?}", task.work), task.host.is_some())).collect();
        all.sort();
        all.dedup();
        all.into_iter()
            .map(|(work, bound)| format!("{work}{}", if bound { "!" } else { "" }))
            .collect::<Vec<_>>()
    };
    let whole = "A.done B.done check.0 check.0 check.0 analyse digest.one digest.two judge:A examine examine-by-agent";
    let expected = ["Check!", "Contestant!", "Digest", "Examination", "Examination!", "Judgement"];
    assert_eq!(hosts(Kind::Coding, whole), expected);
    let answers = "A.done B.done analyse digest.one digest.two judge:A examine examine-by-agent";
    assert_eq!(
        hosts(Kind::Qa, answers),
        ["Contestant", "Digest", "Examination", "Examination!", "Judgement"]
    );
}

#[test]
fn the_judge_learns_no_name() {
    let story = judged("C1 C2", "A.done B.done digest.AGENT0-and-Claude-did-it");
    let analysis = story.battle.newest_analysis().unwrap();
    let text = analysis.entrants.iter().find_map(|entrant| entrant.text.clone()).unwrap();
    assert_eq!(text, "[name]-and-[name]-did-it");
}

#[test]
fn a_person_has_the_last_word_and_can_take_it_back() {
    let story = judged("C1 C2", "A.done B.done digest.one digest.two judge:A B.wins");
    let [a, b] = [0, 1].map(|place| story.battle.contestants[place].id);
    assert_eq!(
        (story.battle.leader(), story.battle.newest_analysis().unwrap().verdict().unwrap().winner),
        (Some(b), Some(a))
    );
    let story = judged("C1 C2", "A.done B.done digest.one digest.two judge:A B.wins unwin");
    assert_eq!(story.battle.leader(), Some(a));
    refuses("C1 C2", "A.done A.wins", "The battle is still running. Choose a winner when all are over.");
    refuses("C1 C2", "A.done B.fail B.wins", "Only a contestant that has a result can win.");
    let foreign = Input::SetWinner { winner: Some(ContestantId(id(7))) };
    assert_eq!(story.battle.decide(foreign), Err(Rejected::missing("contestant of this battle")));
}

#[test]
fn what_cannot_be_is_refused() {
    refuses("C1 C2", "analyse", "The battle is still running. Analyse it when it is over.");
    let few = "Fewer than two contestants have a result, so there is nothing to compare.";
    refuses("C1 C2", "A.done B.fail analyse", few);
    refuses("C1 C2", "A.done B.done analyse analyse", "An analysis is under way.");
    refuses(
        "C1 C2",
        "A.done B.done analyse A.retry",
        "Its result is being compared. Wait for the analysis, or stop it.",
    );
    refuses("C1 C2", "examine", "The battle is not over yet.");
    refuses("C1 C2", "A.done unanalyse", "Nothing is running here.");
}

#[test]
fn results_are_examined_any_number_of_times() {
    let story = play(battle(Kind::Qa, "C1 C2", |_| {}), "A.done B.done examine examination.because examine");
    let questions: Vec<_> =
        story.battle.examinations.iter().map(|it| it.question.as_deref().unwrap()).collect();
    assert_eq!((questions, story.shown().as_str()), (vec!["why", "why"], "done done | completed"));
    let first = story.battle.examinations[0].task;
    assert!(story.battle.tasks[&first].is_settled());
    assert_eq!(story.battle.decide(Input::StopExamination { task: first }), Err(Rejected::Idle));
}

#[test]
fn a_launch_is_checked() {
    let check = |change: fn(&mut Launch), expected: &str| {
        let kind = Kind::Coding;
        let entry = |n: u8| Entry {
            identity: Identity::Backend(Backend::native()),
            model: ModelRef { server: "s".into(), model: n.to_string() },
            variant: String::new(),
            lane: Lane::Local,
        };
        let terms = Terms {
            limit_s: 60,
            tokens_max: None,
            carry: false,
            check: None,
            setup: None,
            judge: None,
            host: "h".into(),
            machines: Default::default(),
        };
        let mut launch = Launch {
            id: BattleId(id(1)),
            session: SessionId(id(2)),
            project: ProjectId(id(3)),
            kind,
            prompt: "Do".into(),
            terms,
            roster: Roster::new(kind, vec![entry(1), entry(2)]).unwrap(),
            ids: vec![ContestantId(id(4)), ContestantId(id(5))],
            at_ms: 1,
        };
        change(&mut launch);
        let told = Battle::new(launch).map_or_else(|no| no.to_string(), |_| "fine".into());
        assert_eq!(told, expected);
    };
    check(|_| {}, "fine");
    check(|launch| launch.prompt = " \n".into(), "Write something first.");
    check(|launch| launch.prompt = "x".repeat(1 << 20), "That is too long: at most 256 KB, this is 1024 KB.");
    check(|launch| launch.terms.limit_s = 1, "A contestant may take between 10 seconds and 120 minutes.");
    check(|launch| launch.terms.tokens_max = Some(0), "Without any token nobody can begin.");
}

#[test]
fn events_of_others_change_nothing() {
    let story = play(battle(Kind::Coding, "L1 C1", |_| {}), "A+");
    let mut battle = story.battle.clone();
    let other = BattleId(id(77));
    let updated = |battle| Event::BattleUpdated {
        battle,
        course: Box::new(Course { status: Status::Completed, ..story.battle.course.clone() }),
    };
    battle.apply(&updated(other));
    battle.apply(&Event::ChatTitled {
        chat: ChatId(id(1)),
        title: "x".into(),
        by: crate::chat::TitledBy::Person,
    });
    assert_eq!(battle, story.battle);
    battle.apply(&updated(story.battle.id));
    assert_ne!(battle, story.battle);
}

#[test]
fn who_waits_knows_for_whom() {
    let story = play(battle(Kind::Coding, "L1 C1 L2 L3", |_| {}), "A>");
    let ahead = |place: usize| {
        story.battle.ahead_of(&story.battle.contestants[place]).into_iter().collect::<String>()
    };
    assert_eq!([ahead(0), ahead(1), ahead(2), ahead(3)], ["", "", "A", "AC"]);
}

//! The events of battles.

use super::{super::*, ONE, THREE, TWO, check, id};
use crate::{
    backend::Backend,
    battle::{
        Benchmark, CheckState, Checked, Course, Entry, Examination, Examiner, Identity, Judge, Kind, Launch,
        Roster, Standing, Status, Stopped, Terms,
        analysis::{Analysis, Entrant, Judgement, State},
        judge::{Answer, Better},
        verdict::{Pair, PairResult, Verdict},
    },
    catalogue::{Lane, ModelRef},
    id::{BattleId, ContestantId, ProjectId, SessionId},
    output::Part,
    worktree::{Changed, Changes, Status as Became},
};

const BATTLE: BattleId = BattleId(uuid::Uuid::from_u128(1));

fn model(name: &str) -> ModelRef {
    ModelRef { server: "s".into(), model: name.into() }
}

fn battle() -> Battle {
    let entry = |name: &str, variant: &str, lane| Entry {
        identity: Identity::Backend(Backend(name.into())),
        model: model("m"),
        variant: variant.into(),
        lane,
    };
    let entries = vec![entry("goose", "", Lane::Local), entry("native", "slow", Lane::Cloud)];
    let terms = Terms {
        limit_s: 60,
        tokens_max: Some(9),
        carry: true,
        check: Some("make test".into()),
        setup: None,
        judge: Some(Judge { model: model("j"), paid: false }),
        host: "h".into(),
        machines: Default::default(),
    };
    Battle::new(Launch {
        id: BATTLE,
        session: SessionId(id(2)),
        project: ProjectId(id(3)),
        kind: Kind::Coding,
        prompt: "Mend it".into(),
        terms,
        roster: Roster::new(Kind::Coding, entries).unwrap(),
        ids: vec![ContestantId(id(2)), ContestantId(id(3))],
        at_ms: 5,
    })
    .unwrap()
}

#[test]
fn a_battle_started() {
    let started = Event::BattleStarted { battle: Box::new(battle()) };
    check(
        started,
        &format!(
            r#"{{"battle_started":{{"battle":{{"id":"{ONE}","session":"{TWO}","project":"{THREE}","kind":"coding","prompt":"Mend it","terms":{{"limit_s":60,"tokens_max":9,"carry":true,"check":"make test","judge":{{"model":{{"server":"s","model":"j"}},"paid":false}},"host":"h"}},"created_at_ms":5,"status":"running","stopped":null,"finished_at_ms":null,"winner_contestant_id":null,"base_check":"none","contestants":[{{"id":"{TWO}","identity":{{"backend":"goose"}},"model":{{"server":"s","model":"m"}},"lane":"local","tries":[],"standing":"queued","check":"none"}},{{"id":"{THREE}","identity":{{"backend":"native"}},"model":{{"server":"s","model":"m"}},"variant":"slow","lane":"cloud","tries":[],"standing":"queued","check":"none"}}],"analyses":[],"examinations":[],"tasks":{{}}}}}}}}"#
        ),
    );
}

#[test]
fn a_contestant_updated() {
    let mut contestant = battle().contestants.remove(0);
    let updated = |contestant| Event::ContestantUpdated {
        battle: BATTLE,
        contestant: Box::new(contestant),
        battle_status: Status::Running,
    };
    contestant.tries = vec![TaskId(id(3))];
    contestant.standing = Standing::Failed { reason: "no".into() };
    contestant.unkept = Some("full".into());
    check(
        updated(contestant.clone()),
        &format!(
            r#"{{"contestant_updated":{{"battle":"{ONE}","contestant":{{"id":"{TWO}","identity":{{"backend":"goose"}},"model":{{"server":"s","model":"m"}},"lane":"local","tries":["{THREE}"],"standing":{{"failed":{{"reason":"no"}}}},"unkept":"full","check":"none"}},"battle_status":"running"}}}}"#
        ),
    );
    contestant.standing = Standing::Done;
    contestant.unkept = None;
    contestant.tokens = Some(30);
    contestant.benchmark = Some(Benchmark {
        duration_ms: 900,
        first_token_ms: Some(260),
        load_ms: Some(200),
        prompt_tokens_per_sec: Some(2_000.0),
        tokens_per_sec: Some(50.5),
        prompt_tokens: Some(10),
        completion_tokens: Some(20),
        cut_short: true,
    });
    let file = Changed {
        path: "a".into(),
        moved_from: None,
        status: Became::Modified,
        added: 1,
        deleted: 2,
        is_binary: false,
    };
    let moved = Changed {
        path: "b".into(),
        moved_from: Some("c".into()),
        status: Became::Renamed,
        added: 0,
        deleted: 0,
        is_binary: false,
    };
    contestant.changes = Some(Changes {
        files: vec![file, moved],
        added: 1,
        deleted: 2,
        left_out: Vec::new(),
        is_applied: false,
    });
    contestant.mark = Some("5f".into());
    let checked = Checked { code: Some(1), duration_ms: 7, failures: vec!["t".into()], tail: "end".into() };
    contestant.check = CheckState::Done { task: TaskId(id(2)), checked };
    check(
        updated(contestant),
        &format!(
            r#"{{"contestant_updated":{{"battle":"{ONE}","contestant":{{"id":"{TWO}","identity":{{"backend":"goose"}},"model":{{"server":"s","model":"m"}},"lane":"local","tries":["{THREE}"],"standing":"done","benchmark":{{"duration_ms":900,"first_token_ms":260,"load_ms":200,"prompt_tokens_per_sec":2000.0,"tokens_per_sec":50.5,"prompt_tokens":10,"completion_tokens":20,"cut_short":true}},"tokens":30,"changes":{{"files":[{{"path":"a","status":"modified","added":1,"deleted":2,"is_binary":false}},{{"path":"b","moved_from":"c","status":"renamed","added":0,"deleted":0,"is_binary":false}}],"added":1,"deleted":2}},"mark":"5f","check":{{"done":{{"task":"{TWO}","checked":{{"code":1,"duration_ms":7,"failures":["t"],"tail":"end"}}}}}}}},"battle_status":"running"}}}}"#
        ),
    );
}

#[test]
fn a_battle_updated() {
    let updated = |course| Event::BattleUpdated { battle: BATTLE, course: Box::new(course) };
    let course = Course {
        status: Status::Analysing,
        stopped: None,
        finished_at_ms: None,
        winner: None,
        judged: None,
        base_check: CheckState::Pending { task: TaskId(id(2)) },
        opinion_tokens: 0,
        unwritten: None,
    };
    check(
        updated(course),
        &format!(
            r#"{{"battle_updated":{{"battle":"{ONE}","status":"analysing","stopped":null,"finished_at_ms":null,"winner_contestant_id":null,"base_check":{{"pending":{{"task":"{TWO}"}}}}}}}}"#
        ),
    );
    let course = Course {
        status: Status::Cancelled,
        stopped: Some(Stopped::Spent),
        finished_at_ms: Some(8),
        winner: Some(ContestantId(id(2))),
        judged: Some(ContestantId(id(3))),
        base_check: CheckState::Void { reason: "no".into() },
        opinion_tokens: 12,
        unwritten: Some("full".into()),
    };
    check(
        updated(course),
        &format!(
            r#"{{"battle_updated":{{"battle":"{ONE}","status":"cancelled","stopped":"spent","finished_at_ms":8,"winner_contestant_id":"{TWO}","judged_contestant_id":"{THREE}","base_check":{{"void":{{"reason":"no"}}}},"opinion_tokens":12,"unwritten":"full"}}}}"#
        ),
    );
}

fn judgement(answer: Option<Answer>) -> Judgement {
    Judgement { task: TaskId(id(3)), first: 0, second: 1, letters: None, round: 2, tries: 1, answer }
}

#[test]
fn an_analysis_updated() {
    let entrant = |n, text: Option<&str>| Entrant {
        contestant: ContestantId(id(n)),
        result: TaskId(id(1)),
        digest: TaskId(id(n)),
        text: text.map(str::to_owned),
        read: text.map(|_| Part { bytes: 7, of: 9 }),
    };
    let mut analysis = Analysis {
        number: 1,
        model: model("j"),
        paid: false,
        rounds: 3,
        by_person: false,
        entrants: vec![entrant(2, Some("It did.")), entrant(3, None)],
        checks: Some([TaskId(id(2))].into()),
        judgements: vec![judgement(None)],
        state: State::Digesting,
        begun_at_ms: 5,
        ended_at_ms: None,
    };
    let updated =
        |analysis: &Analysis| Event::AnalysisUpdated { battle: BATTLE, analysis: Box::new(analysis.clone()) };
    check(
        updated(&analysis),
        &format!(
            r#"{{"analysis_updated":{{"battle":"{ONE}","analysis":{{"number":1,"model":{{"server":"s","model":"j"}},"paid":false,"rounds":3,"entrants":[{{"contestant":"{TWO}","result":"{ONE}","digest":"{TWO}","text":"It did.","read":{{"bytes":7,"of":9}}}},{{"contestant":"{THREE}","result":"{ONE}","digest":"{THREE}"}}],"checks":["{TWO}"],"judgements":[{{"task":"{THREE}","first":0,"second":1,"round":2,"tries":1}}],"state":"digesting","begun_at_ms":5}}}}}}"#
        ),
    );
    let (one, other) = (ContestantId(id(2)), ContestantId(id(3)));
    let pair =
        |result| Pair { one, other, for_one: 2, for_other: 0, equal: 0, flipped: 1, same: false, result };
    let same = Pair { same: true, ..pair(PairResult::Tied) };
    analysis.entrants.clear();
    analysis.checks = None;
    analysis.judgements.clear();
    analysis.ended_at_ms = Some(9);
    let verdict = Verdict {
        winner: Some(one),
        pairs: vec![pair(PairResult::Won(one)), same, pair(PairResult::Unsettled)],
        agreeing: 4,
        judgements: 6,
        sentence: "A wins.".into(),
    };
    analysis.state = State::Done { verdict };
    check(
        updated(&analysis),
        &format!(
            r#"{{"analysis_updated":{{"battle":"{ONE}","analysis":{{"number":1,"model":{{"server":"s","model":"j"}},"paid":false,"rounds":3,"entrants":[],"judgements":[],"state":{{"done":{{"verdict":{{"winner":"{TWO}","pairs":[{{"one":"{TWO}","other":"{THREE}","for_one":2,"for_other":0,"equal":0,"flipped":1,"result":{{"won":"{TWO}"}}}},{{"one":"{TWO}","other":"{THREE}","for_one":2,"for_other":0,"equal":0,"flipped":1,"same":true,"result":"tied"}},{{"one":"{TWO}","other":"{THREE}","for_one":2,"for_other":0,"equal":0,"flipped":1,"result":"unsettled"}}],"agreeing":4,"judgements":6,"sentence":"A wins."}}}}}},"begun_at_ms":5,"ended_at_ms":9}}}}}}"#
        ),
    );
    analysis.state = State::Failed { reason: "no".into() };
    analysis.by_person = true;
    check(
        updated(&analysis),
        &format!(
            r#"{{"analysis_updated":{{"battle":"{ONE}","analysis":{{"number":1,"model":{{"server":"s","model":"j"}},"paid":false,"rounds":3,"by_person":true,"entrants":[],"judgements":[],"state":{{"failed":{{"reason":"no"}}}},"begun_at_ms":5,"ended_at_ms":9}}}}}}"#
        ),
    );
}

#[test]
fn a_judgement_made() {
    for (better, word) in [(Better::First, "first"), (Better::Second, "second"), (Better::Neither, "neither")]
    {
        let judgement = judgement(Some(Answer { better, reason: "So.".into() }));
        let made = Event::JudgementMade { battle: BATTLE, analysis: 1, place: 4, judgement };
        check(
            made,
            &format!(
                r#"{{"judgement_made":{{"battle":"{ONE}","analysis":1,"place":4,"judgement":{{"task":"{THREE}","first":0,"second":1,"round":2,"tries":1,"answer":{{"better":"{word}","reason":"So."}}}}}}}}"#
            ),
        );
    }
    let judgement = Judgement { letters: Some(['S', 'P']), ..judgement(None) };
    let made = Event::JudgementMade { battle: BATTLE, analysis: 1, place: 4, judgement };
    check(
        made,
        &format!(
            r#"{{"judgement_made":{{"battle":"{ONE}","analysis":1,"place":4,"judgement":{{"task":"{THREE}","first":0,"second":1,"letters":["S","P"],"round":2,"tries":1}}}}}}"#
        ),
    );
}

#[test]
fn an_examination_added() {
    let added = |identity, question: Option<&str>| Event::ExaminationAdded {
        battle: BATTLE,
        examination: Examination {
            task: TaskId(id(2)),
            examiner: Examiner { identity, model: model("m"), paid: true },
            question: question.map(str::to_owned),
            asked_at_ms: 7,
        },
    };
    check(
        added(Identity::Plain, None),
        &format!(
            r#"{{"examination_added":{{"battle":"{ONE}","examination":{{"task":"{TWO}","examiner":{{"identity":"plain","model":{{"server":"s","model":"m"}},"paid":true}},"asked_at_ms":7}}}}}}"#
        ),
    );
    let persona = Identity::Persona("Architect".into());
    check(
        added(persona, Some("Why?")),
        &format!(
            r#"{{"examination_added":{{"battle":"{ONE}","examination":{{"task":"{TWO}","examiner":{{"identity":{{"persona":"Architect"}},"model":{{"server":"s","model":"m"}},"paid":true}},"question":"Why?","asked_at_ms":7}}}}}}"#
        ),
    );
}

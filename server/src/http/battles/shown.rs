//! Battles as scripts read them.

use domain::{
    battle::{Battle, Benchmark, Standing, analysis::State, verdict::Verdict},
    feed::Seq,
    id::{BattleId, ContestantId, ProjectId, SessionId, TaskId},
};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
pub struct Listed {
    id: BattleId,
    project: ProjectId,
    battle_type: &'static str,
    title: String,
    status: &'static str,
    created_at_ms: i64,
    finished_at_ms: Option<i64>,
    winner_contestant_id: Option<ContestantId>,
}

impl Listed {
    pub fn of(row: store::battles::Listed) -> Self {
        Self {
            id: row.id,
            project: row.project,
            battle_type: row.kind.word(),
            title: row.title,
            status: row.status.word(),
            created_at_ms: row.created_at_ms,
            finished_at_ms: row.finished_at_ms,
            winner_contestant_id: row.winner,
        }
    }
}

#[derive(Serialize)]
pub struct Shown {
    id: BattleId,
    /// What happened after this is not in it.
    seq: Seq,
    session: SessionId,
    project: ProjectId,
    battle_type: &'static str,
    prompt: String,
    status: &'static str,
    stopped: Option<&'static str>,
    created_at_ms: i64,
    finished_at_ms: Option<i64>,
    /// Of contestants, digests, judgements and cross-examinations together.
    tokens: u64,
    contestants: Vec<Contestant>,
    base_check: Option<Value>,
    /// What there is to be said of it.
    base_check_told: Option<String>,
    analyses: Vec<Analysis>,
    cross_examinations: Vec<Examination>,
    /// Whom a person chose, or else whom the verdict on what is there now names.
    winner_contestant_id: Option<ContestantId>,
    chosen_by_person: bool,
    judged_contestant_id: Option<ContestantId>,
    /// Who won, or why nobody did, in a sentence.
    told: Option<String>,
    /// Why the results folder does not tell what is so.
    unwritten: Option<String>,
}

#[derive(Serialize)]
struct Contestant {
    id: ContestantId,
    letter: char,
    identity: String,
    model: String,
    /// Tells it from another that is otherwise the same.
    variant: String,
    lane: &'static str,
    status: &'static str,
    error: Option<String>,
    duration_ms: Option<u64>,
    tokens_per_sec: Option<f64>,
    tokens: Option<u64>,
    benchmark: Option<Benchmark>,
    tries: Vec<TaskId>,
    files_changed: Option<usize>,
    lines_added: Option<u64>,
    lines_deleted: Option<u64>,
    /// What is there and no patch can hold, each with the reason.
    left_out: Vec<String>,
    /// Why what it changed could not be kept.
    unkept: Option<String>,
    check: Option<String>,
    check_ms: Option<u64>,
}

#[derive(Serialize)]
struct Analysis {
    number: u32,
    model: String,
    state: &'static str,
    reason: Option<String>,
    verdict: Option<Verdict>,
}

#[derive(Serialize)]
struct Examination {
    task: TaskId,
    identity: String,
    model: String,
    question: Option<String>,
    status: &'static str,
}

impl Shown {
    pub fn of(battle: &Battle, seq: Seq) -> Self {
        Self {
            id: battle.id,
            seq,
            session: battle.session,
            project: battle.project,
            battle_type: battle.kind.word(),
            prompt: battle.prompt.clone(),
            status: battle.course.status.word(),
            stopped: battle.course.stopped.map(|stopped| stopped.words()),
            created_at_ms: battle.created_at_ms,
            finished_at_ms: battle.course.finished_at_ms,
            tokens: battle.spent(),
            contestants: battle.contestants.iter().map(|it| contestant(battle, it)).collect(),
            base_check: battle.course.base_check.checked().and_then(|it| serde_json::to_value(it).ok()),
            base_check_told: battle.course.base_check.told_of_base(),
            analyses: battle.analyses.iter().map(analysis).collect(),
            cross_examinations: battle
                .examinations
                .iter()
                .map(|it| Examination {
                    task: it.task,
                    identity: it.examiner.identity.name().to_owned(),
                    model: it.examiner.model.to_string(),
                    question: it.question.clone(),
                    status: battle.tasks.get(&it.task).map_or("queued", |task| Standing::of(task).word()),
                })
                .collect(),
            winner_contestant_id: battle.leader(),
            chosen_by_person: battle.course.winner.is_some(),
            judged_contestant_id: battle.course.judged,
            told: battle.told().map(|told| told.words),
            unwritten: battle.course.unwritten.clone(),
        }
    }
}

fn contestant(battle: &Battle, of: &domain::battle::Contestant) -> Contestant {
    let standing = battle.standing(of);
    let base = &battle.course.base_check;
    let check = match of.check.compared(base) {
        Some(compared) => Some(compared.words()),
        None => of.check.told(base),
    };
    Contestant {
        id: of.id,
        letter: battle.letter(of.id),
        identity: of.identity.name().to_owned(),
        model: of.model.to_string(),
        variant: of.variant.clone(),
        lane: of.lane.word(),
        status: standing.word(),
        error: standing.reason().map(str::to_owned),
        duration_ms: of.benchmark.as_ref().map(|it| it.duration_ms),
        tokens_per_sec: of.benchmark.as_ref().and_then(|it| it.tokens_per_sec),
        tokens: of.tokens,
        benchmark: of.benchmark.clone(),
        tries: of.tries.clone(),
        files_changed: of.changes.as_ref().map(|it| it.files.len()),
        lines_added: of.changes.as_ref().map(|it| it.added),
        lines_deleted: of.changes.as_ref().map(|it| it.deleted),
        left_out: of.changes.as_ref().map(|it| it.left_out.clone()).unwrap_or_default(),
        unkept: of.unkept.clone(),
        check,
        check_ms: of.check.checked().map(|it| it.duration_ms),
    }
}

fn analysis(of: &domain::battle::Analysis) -> Analysis {
    let (state, reason) = match &of.state {
        State::Digesting => ("digesting", None),
        State::Judging => ("judging", None),
        State::Done { .. } => ("done", None),
        State::Failed { reason } => ("failed", Some(reason.clone())),
        State::Stopped => ("stopped", None),
    };
    let (model, verdict) = (of.model.to_string(), of.verdict().cloned());
    Analysis { number: of.number, model, state, reason, verdict }
}

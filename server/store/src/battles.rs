//! Battles as rows.

use std::collections::BTreeMap;

use domain::{
    Rejected,
    battle::{
        Analysis, Battle, Contestant, Course, Examination, Identity, Kind, Standing, Status,
        analysis::Judgement,
    },
    catalogue::{ModelRef, NotAModelRef},
    id::{BattleId, ContestantId, ProjectId, SessionId, TaskId},
    task::Task,
    workspace::BattleEntry,
};
use serde_json::Value;
use sqlx::{PgConnection, Postgres, Transaction};
use uuid::Uuid;

use crate::{
    Db, Error, Result,
    chats::{from_word, word},
    tasks::TaskRow,
};

/// Locks the battle and whatever of its tasks is not over, so that what is decided on stays as it was read.
pub(crate) async fn lock(tx: &mut Transaction<'_, Postgres>, id: BattleId) -> Result<Battle> {
    sqlx::query!("select 1 as one from battles where id = $1 for update", id.0)
        .fetch_optional(&mut **tx)
        .await?
        .ok_or_else(|| Rejected::missing("battle"))?;
    sqlx::query!(
        "select 1 as one from tasks where battle_id = $1 and status <> 'settled' order by id for update",
        id.0
    )
    .fetch_all(&mut **tx)
    .await?;
    load(tx, id).await
}

pub async fn get(db: &Db, id: BattleId) -> Result<Battle> {
    load(&mut *db.pool.acquire().await?, id).await
}

pub(crate) async fn load(connection: &mut PgConnection, id: BattleId) -> Result<Battle> {
    let row = sqlx::query!(
        "select session_id, project_id, battle_type, prompt, terms, status, stopped, base_check, created_at_ms,
             finished_at_ms, winner_contestant_id
         from battles where id = $1",
        id.0
    )
    .fetch_optional(&mut *connection)
    .await?
    .ok_or_else(|| Rejected::missing("battle"))?;
    let kind = from_word::<Kind>(&row.battle_type)?;
    Ok(Battle {
        id,
        session: SessionId(row.session_id),
        project: ProjectId(row.project_id),
        kind,
        prompt: row.prompt,
        terms: serde_json::from_value(row.terms)?,
        created_at_ms: row.created_at_ms,
        course: Course {
            status: from_word(&row.status)?,
            stopped: row.stopped.as_deref().map(from_word).transpose()?,
            finished_at_ms: row.finished_at_ms,
            winner: row.winner_contestant_id.map(ContestantId),
            base_check: serde_json::from_value(row.base_check)?,
        },
        contestants: contestants(connection, id, kind).await?,
        analyses: analyses(connection, id).await?,
        examinations: examinations(connection, id).await?,
        tasks: tasks(connection, id).await?,
    })
}

struct ContestantRow {
    id: Uuid,
    identity: String,
    model: String,
    variant: String,
    lane: String,
    tries: Value,
    status: String,
    error: Option<String>,
    cost_tokens: Option<i64>,
    benchmark: Option<Value>,
    changes: Option<Value>,
    checked: Value,
}

impl ContestantRow {
    fn into_contestant(self, kind: Kind) -> Result<Contestant> {
        let unknown = |error: NotAModelRef| Error::Unknown(error.to_string());
        Ok(Contestant {
            id: ContestantId(self.id),
            identity: Identity::named(kind, &self.identity),
            model: self.model.parse().map_err(unknown)?,
            variant: self.variant,
            lane: from_word(&self.lane)?,
            tries: serde_json::from_value(self.tries)?,
            standing: standing(&self.status, self.error),
            benchmark: self.benchmark.map(serde_json::from_value).transpose()?,
            tokens: self.cost_tokens.map(|tokens| tokens as u64),
            changes: self.changes.map(serde_json::from_value).transpose()?,
            check: serde_json::from_value(self.checked)?,
        })
    }
}

/// What lies between queued and over is the task's to tell.
fn standing(status: &str, error: Option<String>) -> Standing {
    let reason = error.unwrap_or_default();
    match status {
        "done" => Standing::Done,
        "failed" => Standing::Failed { reason },
        "cancelled" => Standing::Cancelled { reason },
        "void" => Standing::Void { reason },
        _ => Standing::Queued,
    }
}

async fn contestants(connection: &mut PgConnection, id: BattleId, kind: Kind) -> Result<Vec<Contestant>> {
    let rows = sqlx::query_as!(
        ContestantRow,
        "select id, identity, model, variant, lane, tries, status, error, cost_tokens, benchmark, changes, checked
         from contestants where battle_id = $1 order by place",
        id.0
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| row.into_contestant(kind)).collect()
}

async fn analyses(connection: &mut PgConnection, id: BattleId) -> Result<Vec<Analysis>> {
    let rows =
        sqlx::query_scalar!("select analysis from analyses where battle_id = $1 order by number", id.0)
            .fetch_all(connection)
            .await?;
    Ok(rows.into_iter().map(serde_json::from_value).collect::<std::result::Result<_, _>>()?)
}

async fn examinations(connection: &mut PgConnection, id: BattleId) -> Result<Vec<Examination>> {
    let rows = sqlx::query!(
        "select task_id, examiner, question, asked_at_ms from cross_examinations where battle_id = $1 order by place",
        id.0
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Examination {
                task: TaskId(row.task_id),
                examiner: serde_json::from_value(row.examiner)?,
                question: row.question,
                asked_at_ms: row.asked_at_ms,
            })
        })
        .collect()
}

async fn tasks(connection: &mut PgConnection, id: BattleId) -> Result<BTreeMap<TaskId, Task>> {
    let rows = sqlx::query_as!(
        TaskRow,
        "select id, chat_id, battle_id, run_id, work, server, model, persona, coder, host, limit_s, status, attempt,
             attempts_max, lost, phase, cancelling, outcome, settled_attempt, stream_len, queued_at_ms, started_at_ms
         from tasks where battle_id = $1",
        id.0
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok((TaskId(row.id), row.into_task()?))).collect()
}

/// Older ones are found in the history.
const ENTRIES_MAX: i64 = 200;

/// The battles as the sidebar lists them.
pub(crate) async fn entries(connection: &mut PgConnection) -> Result<Vec<BattleEntry>> {
    let rows = sqlx::query!(
        r#"select id as "id!", session_id as "session_id!", left(prompt, 400) as "prompt!", status as "status!"
           from (
               select * from battles where status in ('running', 'analysing')
               union select * from (select * from battles order by id desc limit $1) newest
           ) listed order by id"#,
        ENTRIES_MAX
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(BattleEntry {
                id: BattleId(row.id),
                session: SessionId(row.session_id),
                title: domain::chat::title::from_prompt(&row.prompt),
                status: from_word(&row.status)?,
            })
        })
        .collect()
}

/// The rows of a battle in which nobody has begun.
pub(crate) async fn insert(connection: &mut PgConnection, battle: &Battle) -> Result<()> {
    sqlx::query!(
        "insert into battles
             (id, session_id, project_id, battle_type, prompt, terms, status, base_check, created_at_ms)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        battle.id.0,
        battle.session.0,
        battle.project.0,
        word(&battle.kind)?,
        battle.prompt,
        serde_json::to_value(&battle.terms)?,
        word(&battle.course.status)?,
        serde_json::to_value(&battle.course.base_check)?,
        battle.created_at_ms
    )
    .execute(&mut *connection)
    .await
    .map_err(|error| {
        Error::on_constraint(error, "battles_pkey", Rejected::Invalid("It was launched already.".into()))
    })?;
    for (place, contestant) in battle.contestants.iter().enumerate() {
        sqlx::query!(
            "insert into contestants (id, battle_id, place, identity, model, variant, lane, status, checked)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            contestant.id.0,
            battle.id.0,
            place as i32,
            contestant.identity.name(),
            contestant.model.to_string(),
            contestant.variant,
            contestant.lane.word(),
            contestant.standing.word(),
            serde_json::to_value(&contestant.check)?
        )
        .execute(&mut *connection)
        .await
        .map_err(|error| {
            let twice = Rejected::Invalid("A contestant is in the battle twice.".into());
            Error::on_constraint(error, "contestants_unique", twice)
        })?;
    }
    Ok(())
}

pub(crate) async fn record_contestant(connection: &mut PgConnection, contestant: &Contestant) -> Result<()> {
    let benchmark = contestant.benchmark.as_ref();
    sqlx::query!(
        "update contestants set task_id = $2, tries = $3, status = $4, error = $5, duration_ms = $6,
             tokens_per_sec = $7, cost_tokens = $8, benchmark = $9, changes = $10, checked = $11
         where id = $1",
        contestant.id.0,
        contestant.tries.last().map(|task| task.0),
        serde_json::to_value(&contestant.tries)?,
        contestant.standing.word(),
        contestant.standing.reason(),
        benchmark.map(|it| it.duration_ms as i64),
        benchmark.and_then(|it| it.tokens_per_sec),
        contestant.tokens.map(|tokens| tokens as i64),
        benchmark.map(serde_json::to_value).transpose()?,
        contestant.changes.as_ref().map(serde_json::to_value).transpose()?,
        serde_json::to_value(&contestant.check)?
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// For whoever reads the table: what the contestant's task is doing.
pub(crate) async fn record_task(
    connection: &mut PgConnection,
    task: TaskId,
    standing: &Standing,
) -> Result<()> {
    sqlx::query!("update contestants set status = $2 where task_id = $1", task.0, standing.word())
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn record_course(
    connection: &mut PgConnection,
    id: BattleId,
    course: &Course,
) -> Result<()> {
    sqlx::query!(
        "update battles set status = $2, stopped = $3, base_check = $4, finished_at_ms = $5, winner_contestant_id = $6
         where id = $1",
        id.0,
        word(&course.status)?,
        course.stopped.as_ref().map(word).transpose()?,
        serde_json::to_value(&course.base_check)?,
        course.finished_at_ms,
        course.winner.map(|winner| winner.0)
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn record_analysis(
    connection: &mut PgConnection,
    id: BattleId,
    analysis: &Analysis,
) -> Result<()> {
    sqlx::query!(
        "insert into analyses (battle_id, number, analysis) values ($1, $2, $3)
         on conflict (battle_id, number) do update set analysis = excluded.analysis",
        id.0,
        analysis.number as i32,
        serde_json::to_value(analysis)?
    )
    .execute(&mut *connection)
    .await?;
    if let Some(verdict) = analysis.verdict() {
        let winner = verdict.winner.map(|winner| winner.0);
        sqlx::query!("update battles set judged_contestant_id = $2 where id = $1", id.0, winner)
            .execute(connection)
            .await?;
    }
    Ok(())
}

pub(crate) async fn record_judgement(
    connection: &mut PgConnection,
    id: BattleId,
    analysis: u32,
    place: u32,
    judgement: &Judgement,
) -> Result<()> {
    sqlx::query!(
        "update analyses set analysis = jsonb_set(analysis, array['judgements', $3::text], $4)
         where battle_id = $1 and number = $2",
        id.0,
        analysis as i32,
        place.to_string(),
        serde_json::to_value(judgement)?
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn record_examination(
    connection: &mut PgConnection,
    id: BattleId,
    examination: &Examination,
) -> Result<()> {
    sqlx::query!(
        "insert into cross_examinations (task_id, battle_id, examiner, question, asked_at_ms)
         values ($1, $2, $3, $4, $5)",
        examination.task.0,
        id.0,
        serde_json::to_value(&examination.examiner)?,
        examination.question,
        examination.asked_at_ms
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// A battle as a list has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub id: BattleId,
    pub project: ProjectId,
    pub kind: Kind,
    pub title: String,
    pub status: Status,
    pub created_at_ms: i64,
    pub finished_at_ms: Option<i64>,
    /// Whom a person chose, or else whom the newest verdict names.
    pub winner: Option<ContestantId>,
}

/// The newest first, those before a given one.
pub async fn list(
    db: &Db,
    project: Option<ProjectId>,
    kind: Option<Kind>,
    before: Option<BattleId>,
    limit: u32,
) -> Result<Vec<Listed>> {
    let rows = sqlx::query!(
        r#"select id, project_id, battle_type, left(prompt, 400) as "prompt!", status, created_at_ms, finished_at_ms,
               coalesce(winner_contestant_id, judged_contestant_id) as winner
           from battles
           where ($1::uuid is null or project_id = $1) and ($2::text is null or battle_type = $2)
             and ($3::uuid is null or id < $3)
           order by id desc limit $4"#,
        project.map(|project| project.0),
        kind.map(Kind::word),
        before.map(|before| before.0),
        i64::from(limit)
    )
    .fetch_all(&db.pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Listed {
                id: BattleId(row.id),
                project: ProjectId(row.project_id),
                kind: from_word(&row.battle_type)?,
                title: domain::chat::title::from_prompt(&row.prompt),
                status: from_word(&row.status)?,
                created_at_ms: row.created_at_ms,
                finished_at_ms: row.finished_at_ms,
                winner: row.winner.map(ContestantId),
            })
        })
        .collect()
}

/// The battles of a host whose results may not be written as they are.
pub async fn unwritten(db: &Db, host: &str) -> Result<Vec<BattleId>> {
    let rows = sqlx::query_scalar!(
        "select id from battles
         where (results_path is null or status in ('running', 'analysing')) and terms ->> 'host' = $1
         order by id desc limit 1000",
        host
    )
    .fetch_all(&db.pool)
    .await?;
    Ok(rows.into_iter().map(BattleId).collect())
}

/// How long this model took lately for one digest or judgement; nothing where it gave none.
pub async fn opinion_ms(db: &Db, model: &ModelRef) -> Result<Option<u64>> {
    let ms = sqlx::query_scalar!(
        "select percentile_disc(0.5) within group (order by ms) from (
             select (outcome -> 'done' -> 'measured' ->> 'duration_ms')::bigint as ms from tasks
             where work in ('digest', 'judgement') and server = $1 and model = $2 and outcome ? 'done'
             order by queued_at_ms desc limit 50
         ) lately",
        model.server,
        model.model
    )
    .fetch_one(&db.pool)
    .await?;
    Ok(ms.map(|ms| ms as u64))
}

/// Notes where a battle's results lie.
pub async fn set_results_path(db: &Db, id: BattleId, path: &str) -> Result<()> {
    sqlx::query!("update battles set results_path = $2 where id = $1", id.0, path).execute(&db.pool).await?;
    Ok(())
}

pub(crate) async fn session(connection: &mut PgConnection, id: BattleId) -> Result<SessionId> {
    let session = sqlx::query_scalar!("select session_id from battles where id = $1", id.0)
        .fetch_optional(connection)
        .await?;
    Ok(SessionId(session.ok_or_else(|| Rejected::missing("battle"))?))
}

pub async fn is_there(db: &Db, id: BattleId) -> Result<bool> {
    match session(&mut *db.pool.acquire().await?, id).await {
        Ok(_) => Ok(true),
        Err(crate::Error::Rejected(Rejected::Missing { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The battle of a contestant.
pub async fn of_contestant(db: &Db, contestant: ContestantId) -> Result<BattleId> {
    let battle = sqlx::query_scalar!("select battle_id from contestants where id = $1", contestant.0)
        .fetch_optional(&db.pool)
        .await?;
    Ok(BattleId(battle.ok_or_else(|| Rejected::missing("contestant"))?))
}

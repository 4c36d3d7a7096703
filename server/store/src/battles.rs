//! Battles as rows.

mod listed;
mod record;
mod written;

use std::collections::BTreeMap;

use domain::{
    Rejected,
    battle::{Analysis, Battle, Contestant, Course, Examination, Identity, Kind, Standing},
    catalogue::NotAModelRef,
    id::{BattleId, ContestantId, ProjectId, SessionId, TaskId},
    persona::Persona,
    task::Task,
};
use serde_json::Value;
use sqlx::{PgConnection, Postgres, Transaction};
use uuid::Uuid;

use crate::{Db, Error, Result, chats::from_word, tasks::TaskRow};

pub(crate) use listed::entries;
pub use listed::{Listed, list, opinion_ms};
pub(crate) use record::{
    insert, keep_personas, record_analysis, record_contestant, record_course, record_examination,
    record_judgement, record_task,
};
pub(crate) use written::changed;
pub use written::{Revision, set_written, unwritten, with_revision};

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
             finished_at_ms, winner_contestant_id, judged_contestant_id, opinion_tokens, unwritten
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
            judged: row.judged_contestant_id.map(ContestantId),
            base_check: serde_json::from_value(row.base_check)?,
            opinion_tokens: row.opinion_tokens as u64,
            unwritten: row.unwritten,
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
    unkept: Option<String>,
    mark: Option<String>,
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
            unkept: self.unkept,
            mark: self.mark,
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
        "select id, identity, model, variant, lane, tries, status, error, cost_tokens, benchmark, changes, unkept,
             mark, checked
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
        "select id, chat_id, battle_id, run_id, work, server, model, persona, coder, host, machine, limit_s, status, attempt,
             attempts_max, lost, phase, cancelling, outcome, settled_attempt, stream_len, queued_at_ms, started_at_ms
         from tasks where battle_id = $1",
        id.0
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok((TaskId(row.id), row.into_task()?))).collect()
}

pub(crate) async fn session(connection: &mut PgConnection, id: BattleId) -> Result<SessionId> {
    let session = sqlx::query_scalar!("select session_id from battles where id = $1", id.0)
        .fetch_optional(connection)
        .await?;
    Ok(SessionId(session.ok_or_else(|| Rejected::missing("battle"))?))
}

/// What its personas said when it was launched.
pub async fn personas(db: &Db, id: BattleId) -> Result<Vec<Persona>> {
    let kept = sqlx::query_scalar!("select personas from battles where id = $1", id.0)
        .fetch_optional(&db.pool)
        .await?;
    Ok(serde_json::from_value(kept.ok_or_else(|| Rejected::missing("battle"))?)?)
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

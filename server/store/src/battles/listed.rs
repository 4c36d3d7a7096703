//! Battles in lists.

use domain::{
    battle::{Kind, Status},
    catalogue::ModelRef,
    id::{BattleId, ContestantId, ProjectId, SessionId},
    workspace::BattleEntry,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Db, Result, chats::from_word};

/// Older ones are found in the history.
const ENTRIES_MAX: i64 = 200;

/// The battles as the sidebar lists them.
pub(crate) async fn entries(connection: &mut PgConnection, sessions: &[Uuid]) -> Result<Vec<BattleEntry>> {
    let rows = sqlx::query!(
        r#"select id as "id!", session_id as "session_id!", left(prompt, 400) as "prompt!", status as "status!",
               exists (
                   select from tasks where battle_id = listed.id and (attempt > 0 or lost <> '[]')
               ) as "begun!"
           from (
               select * from battles where status in ('running', 'analysing') and session_id = any($2)
               union select * from (
                   select * from battles where session_id = any($2) order by id desc limit $1
               ) newest
           ) listed order by id"#,
        ENTRIES_MAX,
        sessions
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
                begun: row.begun,
            })
        })
        .collect()
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
    /// Whom a person chose, or else whom the verdict on what is there now names.
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

/// How long this model took lately for one judgement; nothing where it gave none. A digest may be many questions, and is
/// counted as such.
pub async fn opinion_ms(db: &Db, model: &ModelRef) -> Result<Option<u64>> {
    let ms = sqlx::query_scalar!(
        "select percentile_disc(0.5) within group (order by ms) from (
             select (outcome -> 'done' -> 'measured' ->> 'duration_ms')::bigint as ms from tasks
             where work = 'judgement' and server = $1 and model = $2 and outcome ? 'done'
             order by queued_at_ms desc limit 50
         ) lately",
        model.server,
        model.model
    )
    .fetch_one(&db.pool)
    .await?;
    Ok(ms.map(|ms| ms as u64))
}

//! What attempts leave behind besides what they say.

use domain::{Rejected, battle::Checked, feed::StreamId, worktree::Changes};
use sqlx::PgConnection;

use crate::{Db, Result};

/// What an attempt made, as its report reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Made {
    pub changes: Option<Changes>,
    pub checked: Option<Checked>,
}

/// Keeps what an attempt made until it reports, and ever after. One that is no longer running must not.
pub async fn keep(db: &Db, stream: StreamId, made: &Made, patch: Option<&[u8]>) -> Result<()> {
    let kept = sqlx::query!(
        "insert into task_results (task_id, attempt, changes, checked, patch)
         select $1, $2, $3, $4, $5 where exists (
             select from tasks where id = $1 and attempt = $2 and status = 'running')
         on conflict (task_id, attempt) do update
             set changes = excluded.changes, checked = excluded.checked, patch = excluded.patch",
        stream.task.0,
        stream.attempt.0 as i32,
        made.changes.as_ref().map(serde_json::to_value).transpose()?,
        made.checked.as_ref().map(serde_json::to_value).transpose()?,
        patch
    )
    .execute(&db.pool)
    .await?;
    if kept.rows_affected() == 0 { Err(Rejected::Stale.into()) } else { Ok(()) }
}

pub(crate) async fn read(connection: &mut PgConnection, stream: StreamId) -> Result<Made> {
    let row = sqlx::query!(
        "select changes, checked from task_results where task_id = $1 and attempt = $2",
        stream.task.0,
        stream.attempt.0 as i32
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(Made::default()) };
    Ok(Made {
        changes: row.changes.map(serde_json::from_value).transpose()?,
        checked: row.checked.map(serde_json::from_value).transpose()?,
    })
}

/// The change of an attempt; none where it made none.
pub async fn patch(db: &Db, stream: StreamId) -> Result<Option<Vec<u8>>> {
    let patch = sqlx::query_scalar!(
        "select patch from task_results where task_id = $1 and attempt = $2",
        stream.task.0,
        stream.attempt.0 as i32
    )
    .fetch_optional(&db.pool)
    .await?;
    Ok(patch.flatten())
}

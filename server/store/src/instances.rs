//! The processes that run tasks.

use domain::id::{Attempt, TaskId};
use uuid::Uuid;

use crate::{Db, Result};

/// Registers a process. `place` is a data directory that only one process at a time can hold, so whoever was
/// registered there before is gone, and what it was running is returned: it is lost, and nobody has to wait
/// for leases to run out.
pub async fn register(db: &Db, id: Uuid, place: &str) -> Result<Vec<(TaskId, Attempt)>> {
    let mut tx = db.pool.begin().await?;
    let gone = sqlx::query_scalar!("delete from instances where place = $1 returning id", place)
        .fetch_all(&mut *tx)
        .await?;
    sqlx::query!("insert into instances (id, place) values ($1, $2)", id, place).execute(&mut *tx).await?;
    let left = sqlx::query!(
        "select id, attempt from tasks where status = 'running' and claimed_by = any($1)",
        &gone
    )
    .fetch_all(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(left.into_iter().map(|row| (TaskId(row.id), Attempt(row.attempt as u32))).collect())
}

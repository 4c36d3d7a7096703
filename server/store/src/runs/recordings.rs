//! Which runs keep what their project held when they began.

use domain::{Rejected, id::RunId};
use uuid::Uuid;

use crate::{Db, Result};

/// What the project held when a run began, as far as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    pub run: RunId,
    pub name: Uuid,
    pub is_over: bool,
}

/// Of the runs of this machine, the newest first.
pub async fn recordings(db: &Db, host: &str) -> Result<Vec<Recording>> {
    let rows = sqlx::query!(
        r#"select id, coalesce((terms->>'recorded')::uuid, id) as "name!", status <> 'running' as "is_over!"
           from flow_runs where terms->>'host' = $1 and not freed order by id desc"#,
        host
    )
    .fetch_all(&db.pool)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Recording { run: RunId(row.id), name: row.name, is_over: row.is_over })
        .collect())
}

/// From now on nobody opens it any more. That of a run that goes on stays.
pub async fn free(db: &Db, id: RunId) -> Result<()> {
    sqlx::query!("update flow_runs set freed = true where id = $1 and status <> 'running'", id.0)
        .execute(&db.pool)
        .await?;
    Ok(())
}

pub async fn is_freed(db: &Db, id: RunId) -> Result<bool> {
    let freed = sqlx::query_scalar!("select freed from flow_runs where id = $1", id.0)
        .fetch_optional(&db.pool)
        .await?;
    Ok(freed.ok_or_else(|| Rejected::missing("run"))?)
}

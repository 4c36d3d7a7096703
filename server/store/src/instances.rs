//! The processes that run tasks.

use domain::id::{Attempt, TaskId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Db, Result};

/// Registers a process. `place` is a data directory that only one process at a time can hold, so whoever was
/// registered there before is gone, and what it was running is returned: it is lost, and nobody has to wait
/// for leases to run out. What was meant for its machine is meant for `machine` if that has another name now.
pub async fn register(db: &Db, id: Uuid, place: &str, machine: &str) -> Result<Vec<(TaskId, Attempt)>> {
    let mut tx = db.pool.begin().await?;
    let gone = sqlx::query!("delete from instances where place = $1 returning id, machine", place)
        .fetch_all(&mut *tx)
        .await?;
    sqlx::query!("insert into instances (id, place, machine) values ($1, $2, $3)", id, place, machine)
        .execute(&mut *tx)
        .await?;
    for before in gone.iter().filter_map(|gone| gone.machine.as_deref()).filter(|before| *before != machine) {
        follow_machine(&mut tx, before, machine).await?;
    }
    let gone: Vec<_> = gone.iter().map(|gone| gone.id).collect();
    let left = sqlx::query!(
        "select id, attempt from tasks where status = 'running' and claimed_by = any($1)",
        &gone
    )
    .fetch_all(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(left.into_iter().map(|row| (TaskId(row.id), Attempt(row.attempt as u32))).collect())
}

/// Unless another process is still on the machine of the old name.
async fn follow_machine(connection: &mut PgConnection, before: &str, now: &str) -> Result<()> {
    let is_in_use = sqlx::query_scalar!(
        r#"select exists (select from instances where machine = $1) as "is_in_use!""#,
        before
    );
    if is_in_use.fetch_one(&mut *connection).await? {
        return Ok(());
    }
    sqlx::query!("update tasks set machine = $2 where machine = $1 and status <> 'settled'", before, now)
        .execute(&mut *connection)
        .await?;
    sqlx::query!("update queued_messages set machine = $2 where machine = $1", before, now)
        .execute(&mut *connection)
        .await?;
    sqlx::query!(
        "update battles set terms = jsonb_set(terms, '{machines}', (
             select jsonb_object_agg(key, case value when $1 then $2 else value end)
             from jsonb_each_text(terms->'machines')))
         where exists (select from jsonb_each_text(terms->'machines') where value = $1)",
        before,
        now
    )
    .execute(connection)
    .await?;
    Ok(())
}

//! The places at model servers.

use domain::{feed::StreamId, id::TaskId};
use sqlx::PgConnection;

use crate::{Db, Result};

/// Makes the places of each server as many as its limit, and frees those of tasks that do not run. A place in use is
/// never taken away; it goes with the next call once it is free. Servers list the same places at the same time, each in its own order, so the rows
/// are taken in the order of their keys.
pub async fn provide(db: &Db, limits: &[(String, u32)]) -> Result<()> {
    let keys: Vec<String> = limits.iter().map(|(key, _)| key.clone()).collect();
    let counts: Vec<i32> = limits.iter().map(|(_, count)| *count as i32).collect();
    let mut tx = db.pool.begin().await?;
    sqlx::query!(
        "with over as (
             select tasks.id from slots join tasks on tasks.id = slots.task_id
             where status <> 'running'
             order by 1 for share of tasks skip locked
         )
         update slots set task_id = null from over where slots.task_id = over.id"
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "insert into slots (slot_key, n)
         select wanted.slot_key, n
         from unnest($1::text[], $2::int[]) as wanted (slot_key, count), generate_series(1, wanted.count) n
         order by 1, 2
         on conflict do nothing",
        &keys,
        &counts
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "with spare as (
             select slots.slot_key, n
             from slots join unnest($1::text[], $2::int[]) as wanted (slot_key, count) using (slot_key)
             where n > count and task_id is null
             order by 1, 2 for update of slots
         )
         delete from slots using spare where slots.slot_key = spare.slot_key and slots.n = spare.n",
        &keys,
        &counts
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(())
}

/// Takes a place for a task that gave its own back while a person was asked, unless it has one again already. `false`:
/// none is free, or the attempt is no longer running. The next one that gets free is left to it then: whoever claims
/// is quicker than one that asks now and then. The task is locked first: an attempt that ends meanwhile would leave its
/// place taken.
pub async fn regain(db: &Db, stream: StreamId, slot_key: &str) -> Result<bool> {
    let has_it = sqlx::query_scalar!(
        r#"with running as (
             select id from tasks where id = $1 and attempt = $2 and status = 'running' and not cancelling for update
         ), free as (
             select slot_key, n from slots, running
             where slot_key = $3 and (task_id is null or task_id = running.id)
             order by task_id is null
             limit 1 for update of slots skip locked
         ), taken as (
             update slots set task_id = $1 from free where slots.slot_key = free.slot_key and slots.n = free.n
             returning slots.n
         ), wanted as (
             select running.id, case when exists (select from taken) then null else $3 end as slot_key from running
         ), noted as (
             update tasks set wants_slot = wanted.slot_key from wanted
             where tasks.id = wanted.id and wants_slot is distinct from wanted.slot_key
         )
         select exists (select from taken) as "has_it!""#,
        stream.task.0,
        stream.attempt.0 as i32,
        slot_key
    )
    .fetch_one(&db.pool)
    .await?;
    Ok(has_it)
}

pub(crate) async fn release(connection: &mut PgConnection, task: TaskId) -> Result<()> {
    sqlx::query!("update slots set task_id = null where task_id = $1", task.0).execute(connection).await?;
    Ok(())
}

/// The places of one server, and how many of them a task holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    pub key: String,
    pub places: u64,
    pub used: u64,
}

pub async fn usage(db: &Db) -> Result<Vec<Usage>> {
    let rows = sqlx::query!(
        r#"select slot_key, count(*) as "places!", count(task_id) as "used!"
           from slots group by slot_key order by slot_key"#
    )
    .fetch_all(&db.pool)
    .await?;
    let usage = rows.into_iter().map(|row| Usage {
        key: row.slot_key,
        places: row.places as u64,
        used: row.used as u64,
    });
    Ok(usage.collect())
}

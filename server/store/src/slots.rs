//! The places at model servers.

use crate::{Db, Result};

/// Makes the places of each server as many as its limit. A place in use is never taken away; it goes with the
/// next call once it is free. Servers list the same places at the same time, each in its own order, so the rows
/// are taken in the order of their keys.
pub async fn provide(db: &Db, limits: &[(String, u32)]) -> Result<()> {
    let keys: Vec<String> = limits.iter().map(|(key, _)| key.clone()).collect();
    let counts: Vec<i32> = limits.iter().map(|(_, count)| *count as i32).collect();
    let mut tx = db.pool.begin().await?;
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

//! The places at model servers.

use crate::{Db, Result};

/// Makes the places of each server as many as its limit. A place in use is never taken away; it goes when it
/// is free.
pub async fn provide(db: &Db, limits: &[(String, u32)]) -> Result<()> {
    let keys: Vec<String> = limits.iter().map(|(key, _)| key.clone()).collect();
    let counts: Vec<i32> = limits.iter().map(|(_, count)| *count as i32).collect();
    let mut tx = db.pool.begin().await?;
    sqlx::query!(
        "insert into slots (slot_key, n)
         select wanted.slot_key, n
         from unnest($1::text[], $2::int[]) as wanted (slot_key, count), generate_series(1, wanted.count) n
         on conflict do nothing",
        &keys,
        &counts
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "delete from slots using unnest($1::text[], $2::int[]) as wanted (slot_key, count)
         where slots.slot_key = wanted.slot_key and slots.n > wanted.count and slots.task_id is null",
        &keys,
        &counts
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(())
}

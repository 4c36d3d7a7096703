//! What of battles stands in their results folders.

use domain::{
    battle::Battle,
    id::{BattleId, ContestantId},
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::load;
use crate::{Db, Result};

/// Tells how often what a folder tells has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision(i64);

/// The battles of a host whose folders do not tell what is so now.
pub async fn unwritten(db: &Db, host: &str) -> Result<Vec<BattleId>> {
    let rows = sqlx::query_scalar!(
        "select id from battles
         where written_revision is distinct from revision and terms ->> 'host' = $1
         order by id desc limit 1000",
        host
    )
    .fetch_all(&db.pool)
    .await?;
    Ok(rows.into_iter().map(BattleId).collect())
}

/// A battle as it is, and how often it had changed by then.
pub async fn with_revision(db: &Db, id: BattleId) -> Result<(Battle, Revision)> {
    let mut tx = db.pool.begin().await?;
    sqlx::query("set transaction isolation level repeatable read, read only").execute(&mut *tx).await?;
    let battle = load(&mut tx, id).await?;
    let revision =
        sqlx::query_scalar!("select revision from battles where id = $1", id.0).fetch_one(&mut *tx).await?;
    tx.commit().await?;
    Ok((battle, Revision(revision)))
}

/// Notes where its folder lies, and what it tells. Below it each contestant has one of its own.
pub async fn set_written(
    db: &Db,
    id: BattleId,
    path: &str,
    Revision(revision): Revision,
    contestants: &[(ContestantId, String)],
) -> Result<()> {
    let mut tx = db.pool.begin().await?;
    sqlx::query!(
        "update battles set results_path = $2, written_revision = greatest(written_revision, $3) where id = $1",
        id.0,
        path,
        revision
    )
    .execute(&mut *tx)
    .await?;
    let ids: Vec<Uuid> = contestants.iter().map(|(id, _)| id.0).collect();
    let paths: Vec<String> = contestants.iter().map(|(_, path)| path.clone()).collect();
    sqlx::query!(
        "update contestants set result_path = given.path
         from unnest($1::uuid[], $2::text[]) as given (id, path)
         where contestants.id = given.id and result_path is distinct from given.path",
        &ids,
        &paths
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(())
}

/// What their folders tell is not so any more.
pub(crate) async fn changed(connection: &mut PgConnection, battles: &[Uuid]) -> Result<()> {
    sqlx::query!("update battles set revision = revision + 1 where id = any($1)", battles)
        .execute(connection)
        .await?;
    Ok(())
}

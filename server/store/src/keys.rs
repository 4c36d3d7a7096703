//! Keys of model servers, sealed: nothing here can read one.

use domain::{Rejected, settings::Part};
use sqlx::PgConnection;

use crate::{Db, Error, Result, settings::changed};

#[derive(Clone, PartialEq, Eq)]
pub struct SealedKey {
    /// The name of the server that it is for.
    pub server: String,
    /// Who can open it.
    pub host: String,
    pub sealed: Vec<u8>,
}

impl std::fmt::Debug for SealedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SealedKey({} on {})", self.server, self.host)
    }
}

pub(crate) async fn all(db: &Db) -> Result<Vec<SealedKey>> {
    let keys = sqlx::query_as!(SealedKey, "select server, host, sealed from model_server_keys");
    Ok(keys.fetch_all(&db.pool).await?)
}

/// Keeps it in the place of the one that its host had.
pub async fn set(db: &Db, key: &SealedKey) -> Result<()> {
    let mut tx = db.pool.begin().await?;
    record(&mut tx, key).await?;
    changed(tx, Part::ModelServers).await
}

pub(crate) async fn record(connection: &mut PgConnection, key: &SealedKey) -> Result<()> {
    sqlx::query!(
        "insert into model_server_keys (server, host, sealed) values ($1, $2, $3)
         on conflict (server, host) do update set sealed = excluded.sealed, entered_at = now()",
        key.server,
        key.host,
        key.sealed
    )
    .execute(connection)
    .await
    .map_err(|error| {
        let meaning = Rejected::missing("model server");
        Error::on_constraint(error, "model_server_keys_server_fkey", meaning)
    })?;
    Ok(())
}

/// Forgets what any host had for the server.
pub async fn remove(db: &Db, server: &str) -> Result<()> {
    let mut tx = db.pool.begin().await?;
    forget(&mut tx, server).await?;
    changed(tx, Part::ModelServers).await
}

pub(crate) async fn forget(connection: &mut PgConnection, server: &str) -> Result<()> {
    sqlx::query!("delete from model_server_keys where server = $1", server).execute(connection).await?;
    Ok(())
}

//! How the panes of sessions lie.

use domain::{
    Rejected,
    id::SessionId,
    layout::{Change, Layout},
};
use sqlx::PgConnection;

use crate::Result;

/// Locks the session's layout; one that has none yet is locked by its session.
pub(crate) async fn lock(connection: &mut PgConnection, session: SessionId) -> Result<Layout> {
    sqlx::query!("select 1 as one from sessions where id = $1 for update", session.0)
        .fetch_optional(&mut *connection)
        .await?
        .ok_or_else(|| Rejected::missing("session"))?;
    load(connection, session).await
}

pub(crate) async fn load(connection: &mut PgConnection, session: SessionId) -> Result<Layout> {
    let layout = sqlx::query_scalar!("select layout from layouts where session_id = $1", session.0)
        .fetch_optional(connection)
        .await?;
    Ok(layout.map(serde_json::from_value).transpose()?.unwrap_or_default())
}

pub(crate) async fn record(connection: &mut PgConnection, session: SessionId, change: &Change) -> Result<()> {
    let mut layout = load(connection, session).await?;
    layout.apply(change);
    sqlx::query!(
        "insert into layouts (session_id, layout) values ($1, $2)
         on conflict (session_id) do update set layout = excluded.layout",
        session.0,
        serde_json::to_value(&layout)?
    )
    .execute(connection)
    .await?;
    Ok(())
}

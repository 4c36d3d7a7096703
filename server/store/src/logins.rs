//! Login tokens and the browsers that used one. Only hashes are kept.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Db, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserRow {
    pub id: Uuid,
    pub secret: Vec<u8>,
    pub label: String,
    pub created_at: OffsetDateTime,
    pub seen_at: OffsetDateTime,
    pub expires_at: OffsetDateTime,
}

/// `made_by` is the browser that asked for it, and takes it along when it is signed out.
pub async fn insert_token(
    db: &Db,
    hash: &[u8],
    now: OffsetDateTime,
    expires: OffsetDateTime,
    made_by: Option<Uuid>,
) -> Result<()> {
    sqlx::query!("delete from login_tokens where expires_at <= $1", now).execute(&db.pool).await?;
    sqlx::query!(
        "insert into login_tokens (hash, expires_at, made_by) values ($1, $2, $3)",
        hash,
        expires,
        made_by
    )
    .execute(&db.pool)
    .await?;
    Ok(())
}

/// Whether a token is there, spent by nobody.
pub async fn has_token(db: &Db, hash: &[u8]) -> Result<bool> {
    let found =
        sqlx::query_scalar!(r#"select exists (select from login_tokens where hash = $1) as "found!""#, hash);
    Ok(found.fetch_one(&db.pool).await?)
}

/// Makes a token worthless.
pub async fn delete_token(db: &Db, hash: &[u8]) -> Result<()> {
    sqlx::query!("delete from login_tokens where hash = $1", hash).execute(&db.pool).await?;
    Ok(())
}

/// Spends a token on a session, both or neither: a token is not lost on a browser that is not let in. Of two that
/// try at once, the one that deletes the row is the only one told `true`.
pub async fn redeem_token(db: &Db, hash: &[u8], row: &BrowserRow) -> Result<bool> {
    sqlx::query!("delete from browser_sessions where expires_at <= $1", row.seen_at)
        .execute(&db.pool)
        .await?;
    let done = sqlx::query!(
        "with spent as (delete from login_tokens where hash = $1 returning expires_at)
         insert into browser_sessions (id, secret, label, created_at, seen_at, expires_at)
         select $2, $3, $4, $5, $6, $7 from spent where spent.expires_at > $6",
        hash,
        row.id,
        row.secret,
        row.label,
        row.created_at,
        row.seen_at,
        row.expires_at
    )
    .execute(&db.pool)
    .await?;
    Ok(done.rows_affected() > 0)
}

pub async fn find_session(db: &Db, secret: &[u8], now: OffsetDateTime) -> Result<Option<BrowserRow>> {
    let row = sqlx::query_as!(
        BrowserRow,
        "select id, secret, label, created_at, seen_at, expires_at from browser_sessions
         where secret = $1 and expires_at > $2",
        secret,
        now
    )
    .fetch_optional(&db.pool)
    .await?;
    Ok(row)
}

/// A session revoked meanwhile has no row, so this cannot bring it back.
pub async fn touch(db: &Db, id: Uuid, seen: OffsetDateTime, expires: OffsetDateTime) -> Result<()> {
    sqlx::query!(
        "update browser_sessions set seen_at = $2, expires_at = $3 where id = $1",
        id,
        seen,
        expires
    )
    .execute(&db.pool)
    .await?;
    Ok(())
}

/// Whether there was one.
pub async fn revoke(db: &Db, id: Uuid) -> Result<bool> {
    let done = sqlx::query!("delete from browser_sessions where id = $1", id).execute(&db.pool).await?;
    Ok(done.rows_affected() > 0)
}

pub async fn list(db: &Db, now: OffsetDateTime) -> Result<Vec<BrowserRow>> {
    let rows = sqlx::query_as!(
        BrowserRow,
        "select id, secret, label, created_at, seen_at, expires_at from browser_sessions
         where expires_at > $1 order by created_at desc, id",
        now
    )
    .fetch_all(&db.pool)
    .await?;
    Ok(rows)
}

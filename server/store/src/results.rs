//! What attempts leave behind besides what they say.

use domain::{
    Rejected,
    battle::{Checked, Marks},
    feed::StreamId,
    worktree::Changes,
};
use sqlx::PgConnection;

use crate::{Db, Result, streams};

/// What an attempt made, as its report reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Made {
    pub changes: Option<Changes>,
    /// Why the change could not be kept.
    pub unkept: Option<String>,
    pub checked: Option<Checked>,
}

/// Keeps what an attempt made until it reports, and ever after. One that is no longer running must not.
pub async fn keep(db: &Db, stream: StreamId, made: &Made, patch: Option<&[u8]>) -> Result<()> {
    let kept = sqlx::query!(
        "insert into task_results (task_id, attempt, changes, checked, patch, unkept)
         select $1, $2, $3, $4, $5, $6 where exists (
             select from tasks where id = $1 and attempt = $2 and status = 'running')
         on conflict (task_id, attempt) do update
             set changes = excluded.changes, checked = excluded.checked, patch = excluded.patch,
                 unkept = excluded.unkept",
        stream.task.0,
        stream.attempt.0 as i32,
        made.changes.as_ref().map(serde_json::to_value).transpose()?,
        made.checked.as_ref().map(serde_json::to_value).transpose()?,
        patch,
        made.unkept
    )
    .execute(&db.pool)
    .await?;
    if kept.rows_affected() == 0 { Err(Rejected::Stale.into()) } else { Ok(()) }
}

/// What an attempt made; nothing where nothing was kept.
pub async fn made(db: &Db, stream: StreamId) -> Result<Made> {
    read(&mut *db.pool.acquire().await?, stream).await
}

pub(crate) async fn read(connection: &mut PgConnection, stream: StreamId) -> Result<Made> {
    let row = sqlx::query!(
        "select changes, checked, unkept from task_results where task_id = $1 and attempt = $2",
        stream.task.0,
        stream.attempt.0 as i32
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(Made::default()) };
    Ok(Made {
        changes: row.changes.map(serde_json::from_value).transpose()?,
        unkept: row.unkept,
        checked: row.checked.map(serde_json::from_value).transpose()?,
    })
}

/// A longer change is not read again to be told from others.
const MARKED_BYTES_MAX: i32 = 16 * 1024 * 1024;

/// What marks what an attempt said, and what it changed.
pub(crate) async fn marks(
    connection: &mut PgConnection,
    stream: StreamId,
    said: Option<&str>,
) -> Result<Marks> {
    let row = sqlx::query!(
        r#"select encode(sha256($4), 'hex') as said, (
               select encode(sha256(patch), 'hex') from task_results
               where task_id = $1 and attempt = $2 and octet_length(patch) between 1 and $3
           ) as patch"#,
        stream.task.0,
        stream.attempt.0 as i32,
        MARKED_BYTES_MAX,
        said.map(str::as_bytes)
    )
    .fetch_one(connection)
    .await?;
    Ok(Marks { said: row.said, patch: row.patch })
}

/// The change of an attempt; none where it made none.
pub async fn patch(db: &Db, stream: StreamId) -> Result<Option<Vec<u8>>> {
    let patch = sqlx::query_scalar!(
        "select patch from task_results where task_id = $1 and attempt = $2",
        stream.task.0,
        stream.attempt.0 as i32
    )
    .fetch_optional(&db.pool)
    .await?;
    Ok(patch.flatten())
}

/// The beginning and the end of a change, half of `bytes_max` each, and how long it is. The whole of it is both
/// together where it is not longer than that.
pub async fn patch_ends(db: &Db, stream: StreamId, bytes_max: usize) -> Result<Option<Ends>> {
    let half = (bytes_max / 2).min(i32::MAX as usize) as i32;
    let row = sqlx::query!(
        r#"select octet_length(patch) as "bytes!", substring(patch from 1 for $3) as "head!",
               substring(patch from greatest(octet_length(patch) - $3, $3) + 1) as "tail!"
           from task_results where task_id = $1 and attempt = $2 and patch is not null"#,
        stream.task.0,
        stream.attempt.0 as i32,
        half
    )
    .fetch_optional(&db.pool)
    .await?;
    Ok(row.map(|row| Ends { bytes: row.bytes as u64, head: row.head, tail: row.tail }))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    pub bytes: u64,
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
}

impl Ends {
    /// How many bytes lie between the two.
    pub fn left_out(&self) -> u64 {
        self.bytes.saturating_sub((self.head.len() + self.tail.len()) as u64)
    }

    /// As a text, in which it is said what is not there. Whole, it is read in one: a character may lie in both parts.
    pub fn text(&self) -> String {
        let Self { head, tail, .. } = self;
        let between = match self.left_out() {
            0 => String::new(),
            bytes => format!("\n[… {bytes} bytes are left out here …]\n"),
        };
        String::from_utf8_lossy(&[head, between.as_bytes(), tail].concat()).into_owned()
    }
}

/// How many bytes each of these attempts said and changed together, in their order, reading at most `said_max` of the
/// beginning and of the end of what there is of each. What tools gave and what was thought is no part of what is said.
pub async fn sizes(db: &Db, streams: &[StreamId], said_max: u64) -> Result<Vec<u64>> {
    let mut sizes = Vec::new();
    for stream in streams {
        let said = streams::text_of_ends(db, *stream, said_max).await?.0.len() as u64;
        let patch = sqlx::query_scalar!(
            r#"select coalesce(octet_length(patch), 0) as "bytes!" from task_results
               where task_id = $1 and attempt = $2"#,
            stream.task.0,
            stream.attempt.0 as i32
        )
        .fetch_optional(&db.pool)
        .await?;
        sizes.push(said + patch.unwrap_or_default() as u64);
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_as_one_text_and_what_is_missing_is_said() {
        let ends = |bytes, head: &[u8], tail: &[u8]| Ends { bytes, head: head.into(), tail: tail.into() };
        let whole = "+é\n".as_bytes();
        assert_eq!(ends(4, &whole[..2], &whole[2..]).text(), "+é\n", "a character in both parts");
        assert_eq!(ends(9, b"+a", b"b\n").text(), "+a\n[… 5 bytes are left out here …]\nb\n");
    }
}

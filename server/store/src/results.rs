//! What attempts leave behind besides what they say.

use domain::{Rejected, battle::Checked, feed::StreamId, worktree::Changes};
use sqlx::PgConnection;

use crate::{Db, Result};

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
    /// As a text, in which it is said what is not there.
    pub fn text(&self) -> String {
        let Self { bytes, head, tail } = self;
        let left_out = *bytes as usize - head.len() - tail.len();
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        match left_out {
            0 => format!("{head}{tail}"),
            bytes => format!("{head}\n[… {bytes} bytes are left out here …]\n{tail}"),
        }
    }
}

/// How many bytes each of these attempts said and changed together, in their order.
pub async fn sizes(db: &Db, streams: &[StreamId]) -> Result<Vec<u64>> {
    let mut sizes = Vec::new();
    for stream in streams {
        let bytes = sqlx::query_scalar!(
            r#"select coalesce((select len from streams where task_id = $1 and attempt = $2), 0)
                   + coalesce((select octet_length(patch) from task_results where task_id = $1 and attempt = $2), 0)
                   as "bytes!""#,
            stream.task.0,
            stream.attempt.0 as i32
        )
        .fetch_one(&db.pool)
        .await?;
        sizes.push(bytes as u64);
    }
    Ok(sizes)
}

//! The output of attempts, durable. Fenced: an attempt that is over cannot grow.

use domain::{feed::StreamId, transcript::Transcript};
use sqlx::PgConnection;

use crate::{Db, Result, feed};

/// How a stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub len: u64,
    pub ended: bool,
}

/// Appends `text` at `start`, once: whoever got no answer may ask again. `false` when the attempt is over or does not
/// stand there: whoever writes has been replaced and must stop.
pub async fn append(db: &Db, stream: StreamId, start: u64, text: &str) -> Result<bool> {
    let done = sqlx::query_scalar!(
        r#"with grown as (
               update streams set len = len + $4
               where task_id = $1 and attempt = $2 and len = $3 and not ended
               returning task_id
           ), written as (
               -- An empty piece would take the place of the next one.
               insert into stream_chunks (task_id, attempt, start, body)
               select $1, $2, $3, $5 from grown where $4 > 0
           )
           select pg_notify($6, $7)::text as "told?" from grown"#,
        stream.task.0,
        stream.attempt.0 as i32,
        start as i64,
        text.len() as i64,
        text.as_bytes(),
        feed::STREAMS,
        stream.to_string()
    )
    .fetch_optional(&db.pool)
    .await?;
    if done.is_some() {
        return Ok(true);
    }
    let is_there = sqlx::query_scalar!(
        r#"select exists (
               select from streams join stream_chunks chunk using (task_id, attempt)
               where task_id = $1 and attempt = $2 and start = $3 and chunk.body = $4 and not ended
           ) as "is_there!""#,
        stream.task.0,
        stream.attempt.0 as i32,
        start as i64,
        text.as_bytes()
    )
    .fetch_one(&db.pool)
    .await?;
    Ok(is_there)
}

pub async fn extent(db: &Db, stream: StreamId) -> Result<Option<Extent>> {
    let row = sqlx::query!(
        "select len, ended from streams where task_id = $1 and attempt = $2",
        stream.task.0,
        stream.attempt.0 as i32
    )
    .fetch_optional(&db.pool)
    .await?;
    Ok(row.map(|row| Extent { len: row.len as u64, ended: row.ended }))
}

/// Postgres holds no longer value, so beyond this there is nothing, and up to this its arithmetic is safe.
const BODY_BYTES_MAX: u64 = 1 << 30;

/// At most `max` bytes from `offset` on, cut at the end of a character. Reads chunks or the folded body,
/// whichever is there.
pub async fn read(db: &Db, stream: StreamId, offset: u64, max: u64) -> Result<String> {
    read_with(&mut *db.pool.acquire().await?, stream, offset, max).await
}

/// What was said in a stream, without reasoning, of at most `max` bytes of it.
pub async fn text(db: &Db, stream: StreamId, max: u64) -> Result<String> {
    Ok(Transcript::read(&read(db, stream, 0, max).await?).text())
}

/// The same of a stream that may be long: of its beginning and its end, at most `max` bytes of each. With how many bytes
/// are left out.
pub async fn text_of_ends(db: &Db, stream: StreamId, max: u64) -> Result<(String, u64)> {
    let len = extent(db, stream).await?.map_or(0, |extent| extent.len);
    if len <= 2 * max {
        return Ok((text(db, stream, len).await?, 0));
    }
    let (head, tail) = (text(db, stream, max).await?, tail(db, stream, max).await?);
    let (left_out, end) = (tail.before - max, Transcript::read(&tail.text).text());
    let between = format!("[… {left_out} bytes of what it said and its tools gave are left out here …]");
    Ok((format!("{head}\n{between}\n{end}"), left_out))
}

/// The same within a transaction.
pub(crate) async fn read_with(
    connection: &mut PgConnection,
    stream: StreamId,
    offset: u64,
    max: u64,
) -> Result<String> {
    let (offset, max) = (offset.min(BODY_BYTES_MAX), max.min(BODY_BYTES_MAX));
    let bytes = sqlx::query_scalar!(
        r#"select coalesce(
               substring(body from $3::bigint::int + 1 for $4::bigint::int),
               (select substring(string_agg(chunk.body, ''::bytea order by chunk.start)
                        from ($3 - min(chunk.start))::int + 1 for $4::bigint::int)
                from stream_chunks chunk
                where chunk.task_id = $1 and chunk.attempt = $2
                  and chunk.start < $3 + $4
                  and chunk.start >= coalesce((
                      select max(before.start) from stream_chunks before
                      where before.task_id = $1 and before.attempt = $2 and before.start <= $3), 0)),
               ''::bytea) as "bytes!"
           from streams where task_id = $1 and attempt = $2"#,
        stream.task.0,
        stream.attempt.0 as i32,
        offset as i64,
        max as i64
    )
    .fetch_optional(connection)
    .await?
    .unwrap_or_default();
    Ok(whole_characters(bytes))
}

/// The end of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    pub text: String,
    /// How many bytes there are before it.
    pub before: u64,
}

/// At most the last `max` bytes, from the beginning of a segment on.
pub async fn tail(db: &Db, stream: StreamId, max: u64) -> Result<Tail> {
    let mut connection = db.pool.acquire().await?;
    let len = sqlx::query_scalar!(
        "select len from streams where task_id = $1 and attempt = $2",
        stream.task.0,
        stream.attempt.0 as i32
    )
    .fetch_optional(&mut *connection)
    .await?;
    tail_with(&mut connection, stream, len.unwrap_or(0) as u64, max).await
}

/// The same within a transaction, of a stream of this length.
pub(crate) async fn tail_with(
    connection: &mut PgConnection,
    stream: StreamId,
    len: u64,
    max: u64,
) -> Result<Tail> {
    let first = len.saturating_sub(max);
    // It may lie inside a character, which has at most four bytes.
    for from in first..first + 4 {
        let text = read_with(connection, stream, from, max).await?;
        if !text.is_empty() || from == 0 || from >= len {
            let whole = if from == 0 { &text } else { Transcript::from_mark(&text) };
            let before = from + (text.len() - whole.len()) as u64;
            return Ok(Tail { text: whole.to_owned(), before });
        }
    }
    Ok(Tail { text: String::new(), before: len })
}

/// Turns the chunks of a stream that has ended into one body.
pub async fn fold(db: &Db, stream: StreamId) -> Result<()> {
    let (task, attempt) = (stream.task.0, stream.attempt.0 as i32);
    let mut tx = db.pool.begin().await?;
    let folded = sqlx::query!(
        "update streams set body = coalesce((
             select string_agg(chunk.body, ''::bytea order by chunk.start) from stream_chunks chunk
             where chunk.task_id = $1 and chunk.attempt = $2), ''::bytea)
         where task_id = $1 and attempt = $2 and ended and body is null",
        task,
        attempt
    )
    .execute(&mut *tx)
    .await?;
    if folded.rows_affected() > 0 {
        sqlx::query!("delete from stream_chunks where task_id = $1 and attempt = $2", task, attempt)
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await?;
    Ok(())
}

/// The streams that ended and were not folded, because whoever would have done it is gone.
pub async fn unfolded(db: &Db) -> Result<Vec<StreamId>> {
    let rows = sqlx::query!("select task_id, attempt from streams where ended and body is null limit 100")
        .fetch_all(&db.pool)
        .await?;
    Ok(rows.into_iter().map(|row| id(row.task_id, row.attempt)).collect())
}

pub(crate) fn id(task: uuid::Uuid, attempt: i32) -> StreamId {
    StreamId { task: domain::id::TaskId(task), attempt: domain::id::Attempt(attempt as u32) }
}

/// A piece may end inside a character; the rest of it comes with the next piece.
pub(crate) fn whole_characters(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(cut) => {
            let valid = cut.utf8_error().valid_up_to();
            let mut bytes = cut.into_bytes();
            bytes.truncate(valid);
            String::from_utf8(bytes).unwrap_or_default()
        }
    }
}

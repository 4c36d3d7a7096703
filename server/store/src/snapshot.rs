//! What a page starts from: state, texts and the cursor they stand at, read in one transaction.

use domain::{
    feed::{Fold, Snapshot},
    id::ChatId,
    page::Page,
};

use crate::{Db, Result, chats, streams::whole_characters, workspace};

/// Of a longer text the page gets the beginning at once and the rest through the feed.
const STREAM_BYTES_MAX: i32 = 1024 * 1024;

pub async fn page(db: &Db, chat: Option<ChatId>) -> Result<Snapshot<Page>> {
    let mut tx = db.pool.begin().await?;
    sqlx::query("set transaction isolation level repeatable read, read only").execute(&mut *tx).await?;
    let seq = sqlx::query_scalar!("select seq from feed_head").fetch_one(&mut *tx).await?;
    let chat = match chat {
        Some(id) => Some(chats::load(&mut tx, id).await?),
        None => None,
    };
    let state = Page { workspace: workspace::load(&mut tx).await?, chat };
    let mut streams = Vec::new();
    for (stream, _) in state.streams() {
        let bytes = sqlx::query_scalar!(
            r#"select substring(coalesce(body, (
                   select string_agg(chunk.body, ''::bytea order by chunk.start) from stream_chunks chunk
                   where chunk.task_id = $1 and chunk.attempt = $2), ''::bytea) from 1 for $3) as "bytes!"
               from streams where task_id = $1 and attempt = $2"#,
            stream.task.0,
            stream.attempt.0 as i32,
            STREAM_BYTES_MAX
        )
        .fetch_one(&mut *tx)
        .await?;
        streams.push((stream, whole_characters(bytes)));
    }
    tx.commit().await?;
    Ok(Snapshot { seq, state, streams })
}

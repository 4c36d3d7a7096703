//! What was said, as words that are found. Written in the transaction that says it.

use domain::{
    feed::StreamId,
    id::{Attempt, ChatId, TaskId},
    search::{index_words, searchable},
    transcript::Transcript,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Db, Result, streams};

/// How far into a stream an answer is looked for: a model may reason at length before it says a word.
const STREAM_BYTES_MAX: u64 = 512 * 1024;
/// How many are indexed before somebody else has a turn.
const MISSING_MAX: i64 = 100;

/// A chat has one title, so a new one takes the place of the old.
pub(crate) async fn title(connection: &mut PgConnection, chat: ChatId, title: &str) -> Result<()> {
    sqlx::query!(
        "insert into search_entries (id, chat_id, body, words) values ($1, $1, $2, array_to_tsvector($3))
         on conflict (id) do update set body = excluded.body, words = excluded.words",
        chat.0,
        title,
        &index_words(title)
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// What is said once stays as it is.
pub(crate) async fn message(connection: &mut PgConnection, id: Uuid, chat: ChatId, text: &str) -> Result<()> {
    let body = searchable(text);
    sqlx::query!(
        "insert into search_entries (id, chat_id, body, words) values ($1, $2, $3, array_to_tsvector($4))
         on conflict (id) do nothing",
        id,
        chat.0,
        body,
        &index_words(&body)
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The answer as it stands when its task settles, which is also the last that happened in its chat.
pub(crate) async fn answer(
    connection: &mut PgConnection,
    chat: ChatId,
    task: TaskId,
    attempt: Option<Attempt>,
) -> Result<()> {
    let id = sqlx::query_scalar!(
        "update chats set active_at = now() from messages
         where chats.id = $1 and messages.chat_id = $1 and messages.task_id = $2
         returning messages.id",
        chat.0,
        task.0
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(id) = id else { return Ok(()) };
    let text = answer_text(connection, task, attempt).await?;
    message(connection, id, chat, &text).await
}

async fn answer_text(
    connection: &mut PgConnection,
    task: TaskId,
    attempt: Option<Attempt>,
) -> Result<String> {
    let Some(attempt) = attempt else { return Ok(String::new()) };
    let stream = StreamId { task, attempt };
    let output = streams::read_with(connection, stream, 0, STREAM_BYTES_MAX).await?;
    Ok(Transcript::read(&output).text())
}

/// Indexes some of what is not: it was said before there was an index, or through a server that knows of none.
/// Gives how many there were; none are left when there were none.
pub async fn index_missing(db: &Db) -> Result<usize> {
    let mut connection = db.pool.acquire().await?;
    let titles = sqlx::query!(
        "select id, title from chats
         where titled_by is not null and not exists (select from search_entries entry where entry.id = chats.id)
         limit $1",
        MISSING_MAX
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in &titles {
        // A title that was given meanwhile is the newer one.
        message(&mut connection, row.id, ChatId(row.id), &row.title).await?;
    }
    let messages = sqlx::query!(
        r#"select messages.id, messages.chat_id, body as "body?", task_id as "task_id?", settled_attempt as "attempt?"
           from messages left join tasks on tasks.id = task_id
           where (body is not null or status = 'settled')
             and not exists (select from search_entries entry where entry.id = messages.id)
           limit $1"#,
        MISSING_MAX
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in &messages {
        let text = match (&row.body, row.task_id) {
            (Some(body), _) => body.clone(),
            (None, Some(task)) => {
                let attempt = row.attempt.map(|attempt| Attempt(attempt as u32));
                answer_text(&mut connection, TaskId(task), attempt).await?
            }
            (None, None) => String::new(),
        };
        message(&mut connection, row.id, ChatId(row.chat_id), &text).await?;
    }
    Ok(titles.len() + messages.len())
}

//! Files that go with messages. They are stored before the message is sent, and belong to it from then on.

use domain::{
    Rejected,
    attachment::{self, Attachment, Media},
    id::{AttachmentId, ChatId, MessageId},
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Db, Error, Result};

/// What may wait unsent in one chat.
const UNSENT_MAX: i64 = 100;
const UNSENT_BYTES_MAX: i64 = 64 * 1024 * 1024;

/// A file that is to be sent with a message of `chat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    pub name: String,
    pub body: Vec<u8>,
    pub is_mention: bool,
}

/// Keeps a file if it may be attached. Unsent ones do not pile up: see [`remove_unsent`].
pub async fn add(db: &Db, chat: ChatId, file: NewFile) -> Result<Attachment> {
    let NewFile { name, body, is_mention } = file;
    let media = attachment::inspect(&name, &body)?;
    let bytes = body.len() as u64;
    let waiting = sqlx::query!(
        r#"select count(*) as "count!", coalesce(sum(length(body)), 0)::bigint as "bytes!" from attachments
           where chat_id = $1 and message_id is null"#,
        chat.0
    )
    .fetch_one(&db.pool)
    .await?;
    if waiting.count >= UNSENT_MAX || waiting.bytes + bytes as i64 > UNSENT_BYTES_MAX {
        let words = "Too many files wait in this chat without being sent. Send or remove some.";
        return Err(Rejected::Invalid(words.into()).into());
    }
    let id = AttachmentId(Uuid::now_v7());
    sqlx::query!(
        "insert into attachments (id, chat_id, name, mime, body, is_mention) values ($1, $2, $3, $4, $5, $6)",
        id.0,
        chat.0,
        name,
        media.mime(),
        body,
        is_mention
    )
    .execute(&db.pool)
    .await
    .map_err(|error| Error::on_constraint(error, "attachments_chat_id_fkey", Rejected::missing("chat")))?;
    Ok(Attachment { id, name, media, bytes, is_mention })
}

/// Takes back what was not sent.
pub async fn remove(db: &Db, chat: ChatId, id: AttachmentId) -> Result<()> {
    sqlx::query!(
        "delete from attachments where id = $1 and chat_id = $2 and message_id is null",
        id.0,
        chat.0
    )
    .execute(&db.pool)
    .await?;
    Ok(())
}

/// Which of these are here, sent or not.
pub async fn present(db: &Db, chat: ChatId, ids: &[AttachmentId]) -> Result<Vec<AttachmentId>> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let found =
        sqlx::query_scalar!("select id from attachments where chat_id = $1 and id = any($2)", chat.0, &ids)
            .fetch_all(&db.pool)
            .await?;
    Ok(found.into_iter().map(AttachmentId).collect())
}

/// A file with its content.
pub async fn read(db: &Db, id: AttachmentId) -> Result<(Attachment, Vec<u8>)> {
    let row = sqlx::query!("select name, mime, body, is_mention from attachments where id = $1", id.0)
        .fetch_optional(&db.pool)
        .await?
        .ok_or_else(|| Rejected::missing("attachment"))?;
    let (media, bytes) = (media(&row.mime)?, row.body.len() as u64);
    Ok((Attachment { id, name: row.name, media, bytes, is_mention: row.is_mention }, row.body))
}

/// What was attached more than a day ago and never sent. How many that were.
pub async fn remove_unsent(db: &Db) -> Result<u64> {
    let done = sqlx::query!(
        "delete from attachments where message_id is null and created_at < now() - interval '1 day'"
    )
    .execute(&db.pool)
    .await?;
    Ok(done.rows_affected())
}

/// The files that a message of `chat` is to have, in the given order, locked so that they stay. One of
/// another chat is as missing as one that never was.
pub(crate) async fn lock(
    connection: &mut PgConnection,
    chat: ChatId,
    ids: &[AttachmentId],
) -> Result<Vec<Attachment>> {
    let wanted: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows = sqlx::query!(
        r#"select id, name, mime, length(body)::bigint as "bytes!", is_mention from attachments
           where id = any($1) and chat_id = $2 order by id for update"#,
        &wanted,
        chat.0
    )
    .fetch_all(connection)
    .await?;
    let found = |id: &AttachmentId| {
        let row = rows.iter().find(|row| row.id == id.0).ok_or_else(|| Rejected::missing("attachment"))?;
        let (name, media) = (row.name.clone(), media(&row.mime)?);
        Ok(Attachment { id: *id, name, media, bytes: row.bytes as u64, is_mention: row.is_mention })
    };
    ids.iter().map(found).collect()
}

/// From here on the files belong to the message. One that an older version of it has stays with that.
pub(crate) async fn keep(
    connection: &mut PgConnection,
    message: MessageId,
    files: &[Attachment],
) -> Result<()> {
    let ids: Vec<Uuid> = files.iter().map(|file| file.id.0).collect();
    // What a queued message had and has no more is unsent again.
    sqlx::query!(
        "update attachments set message_id = null where message_id = $1 and id <> all($2)",
        message.0,
        &ids
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "update attachments set message_id = $1 where id = any($2) and message_id is null",
        message.0,
        &ids
    )
    .execute(connection)
    .await?;
    Ok(())
}

fn media(mime: &str) -> Result<Media> {
    Media::from_mime(mime).ok_or_else(|| Error::Unknown(format!("an attachment is {mime}")))
}

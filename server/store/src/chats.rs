//! Chats as rows.

use std::collections::BTreeMap;

use domain::{
    Rejected,
    attachment::{Attachment, LeftOut},
    catalogue::ModelRef,
    chat::{Body, Chat, Choice, Message, NewTurn, Queued, TitledBy},
    id::{AttachmentId, ChatId, MessageId, SessionId, TaskId},
    task::{Task, Work},
};
use serde::{Serialize, de::DeserializeOwned};
use sqlx::{PgConnection, Postgres, Transaction};

use crate::{Db, Error, Result, attachments, streams, tasks::TaskRow, worktrees};

/// Locks the chat and whatever of its tasks is not over, so that what is decided on stays as it was read.
pub(crate) async fn lock(tx: &mut Transaction<'_, Postgres>, id: ChatId) -> Result<Chat> {
    sqlx::query!("select 1 as one from chats where id = $1 for update", id.0)
        .fetch_optional(&mut **tx)
        .await?
        .ok_or_else(|| Rejected::missing("chat"))?;
    sqlx::query!(
        "select 1 as one from tasks where chat_id = $1 and status <> 'settled' order by id for update",
        id.0
    )
    .fetch_all(&mut **tx)
    .await?;
    load(tx, id).await
}

pub(crate) async fn session(connection: &mut PgConnection, id: ChatId) -> Result<SessionId> {
    let session = sqlx::query_scalar!("select session_id from chats where id = $1", id.0)
        .fetch_optional(connection)
        .await?;
    Ok(SessionId(session.ok_or_else(|| Rejected::missing("chat"))?))
}

pub(crate) async fn load(connection: &mut PgConnection, id: ChatId) -> Result<Chat> {
    let row = sqlx::query!(
        "select session_id, kind, title, titled_by, head, chosen from chats where id = $1",
        id.0
    )
    .fetch_optional(&mut *connection)
    .await?
    .ok_or_else(|| Rejected::missing("chat"))?;
    Ok(Chat {
        id,
        session: SessionId(row.session_id),
        kind: from_word(&row.kind)?,
        title: row.title,
        titled_by: row.titled_by.map(|word| from_word::<TitledBy>(&word)).transpose()?,
        head: row.head.map(MessageId),
        messages: messages(connection, id).await?,
        queue: queue(connection, id).await?,
        chosen: row.chosen.map(MessageId),
        tasks: tasks(connection, id).await?,
        worktree: worktrees::of_chat(connection, id).await?,
    })
}

/// Whether the same message was sent before. Nothing about it is checked again: what it named may be gone since.
pub async fn asks_again(
    db: &Db,
    chat: ChatId,
    message: MessageId,
    text: &str,
    files: &[AttachmentId],
) -> Result<bool> {
    Ok(match with_message(db, chat, message).await? {
        Some(chat) => chat.asks_again(message, text, files)?,
        None => false,
    })
}

/// The same of another answer, `reply`, beside the answer `of`.
pub async fn retries_again(
    db: &Db,
    chat: ChatId,
    of: MessageId,
    reply: MessageId,
    model: &ModelRef,
    persona: Option<&str>,
) -> Result<bool> {
    Ok(match with_message(db, chat, reply).await? {
        Some(chat) => chat.retries_again(of, reply, model, persona)?,
        None => false,
    })
}

/// The chat, if it has this message.
async fn with_message(db: &Db, chat: ChatId, message: MessageId) -> Result<Option<Chat>> {
    let is_known = sqlx::query_scalar!(
        r#"select exists (select from messages where chat_id = $1 and id = $2)
               or exists (select from queued_messages where chat_id = $1 and id = $2) as "is_known!""#,
        chat.0,
        message.0
    )
    .fetch_one(&db.pool)
    .await?;
    if !is_known {
        return Ok(None);
    }
    // One that waited may be sent meanwhile, and is in one of the two places at every moment.
    let mut tx = db.pool.begin().await?;
    sqlx::query("set transaction isolation level repeatable read, read only").execute(&mut *tx).await?;
    Ok(Some(load(&mut tx, chat).await?))
}

async fn messages(connection: &mut PgConnection, chat: ChatId) -> Result<Vec<Message>> {
    let rows = sqlx::query!(
        "select id, parent_id, body, task_id, attachments, left_out from messages
         where chat_id = $1 order by place",
        chat.0
    )
    .fetch_all(connection)
    .await?;
    let mut messages = Vec::with_capacity(rows.len());
    for row in rows {
        let body = match (row.body, row.task_id) {
            (Some(text), _) => Body::User {
                text,
                attachments: serde_json::from_value(row.attachments)?,
                left_out: serde_json::from_value(row.left_out)?,
            },
            (None, Some(task)) => Body::Assistant { task: TaskId(task) },
            (None, None) => return Err(Error::Unknown(format!("message {} is empty", row.id))),
        };
        messages.push(Message { id: MessageId(row.id), parent: row.parent_id.map(MessageId), body });
    }
    Ok(messages)
}

async fn queue(connection: &mut PgConnection, chat: ChatId) -> Result<Vec<Queued>> {
    let rows = sqlx::query!(
        "select id, reply_id, task_id, body, server, model, paid, persona, coder, machine, attachments, left_out
         from queued_messages where chat_id = $1 order by place",
        chat.0
    )
    .fetch_all(connection)
    .await?;
    let mut queue = Vec::with_capacity(rows.len());
    for row in rows {
        queue.push(Queued {
            turn: NewTurn {
                message: MessageId(row.id),
                reply: MessageId(row.reply_id),
                task: TaskId(row.task_id),
            },
            text: row.body,
            choice: Choice {
                model: ModelRef { server: row.server, model: row.model },
                paid: row.paid,
                persona: row.persona,
                coder: row.coder.map(serde_json::from_value).transpose()?,
                machine: row.machine,
            },
            attachments: serde_json::from_value(row.attachments)?,
            left_out: serde_json::from_value(row.left_out)?,
        });
    }
    Ok(queue)
}

async fn tasks(connection: &mut PgConnection, chat: ChatId) -> Result<BTreeMap<TaskId, Task>> {
    let rows = sqlx::query_as!(
        TaskRow,
        "select id, chat_id, battle_id, run_id, work, server, model, persona, coder, host, machine, limit_s, status, attempt,
             attempts_max, lost, phase, cancelling, outcome, settled_attempt, stream_len, queued_at_ms,
             started_at_ms
         from tasks where chat_id = $1",
        chat.0
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok((TaskId(row.id), row.into_task()?))).collect()
}

/// A small enum is stored as the word it has on the wire.
pub(crate) fn from_word<T: DeserializeOwned>(word: &str) -> Result<T> {
    Ok(serde_json::from_value(serde_json::Value::String(word.to_owned()))?)
}

pub(crate) fn word<T: Serialize>(value: &T) -> Result<String> {
    match serde_json::to_value(value)? {
        serde_json::Value::String(word) => Ok(word),
        other => Err(Error::Unknown(format!("{other} is not a word"))),
    }
}

/// What a model is told of a chat: the questions and answers that lead to one answer, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    pub work: Work,
    pub model: ModelRef,
    pub said: Vec<Said>,
    /// The answer that the question follows.
    pub after: Option<TaskId>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Question {
        text: String,
        files: Vec<SentFile>,
        left_out: Vec<LeftOut>,
    },
    Answer(String),
    /// It was stopped, or failed, before it said anything.
    Unanswered,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SentFile {
    pub file: Attachment,
    /// Missing where the conversation has more than a model is sent; the newest are sent.
    pub body: Option<Vec<u8>>,
}

/// The files of a whole conversation.
const FILES_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The conversation that `task` has to continue, or, for a title, the whole first turn.
pub async fn conversation(db: &Db, task: TaskId) -> Result<Conversation> {
    let mut connection = db.pool.acquire().await?;
    let chat = sqlx::query_scalar!(
        r#"select chat_id as "chat!" from tasks where id = $1 and chat_id is not null"#,
        task.0
    )
    .fetch_optional(&mut *connection)
    .await?
    .ok_or_else(|| Rejected::missing("task"))?;
    let chat = load(&mut connection, ChatId(chat)).await?;
    drop(connection);
    let this = chat.tasks.get(&task).ok_or_else(|| Rejected::missing("task"))?;
    let answer = chat.messages.iter().find(|message| message.body == Body::Assistant { task });
    let path = match answer {
        Some(answer) => chat.path_to(answer.id),
        None => chat.branch().into_iter().take(2).collect(),
    };
    let (mut said, mut after) = (Vec::new(), None);
    // The newest first, because they go first where there is not room for all.
    let mut room = if this.work.is_turn() { FILES_BYTES_MAX } else { 0 };
    for message in path.into_iter().rev() {
        match &message.body {
            Body::User { text, attachments, left_out } => {
                let files = sent_files(db, attachments, &mut room).await?;
                said.push(Said::Question { text: text.clone(), files, left_out: left_out.clone() });
            }
            Body::Assistant { task: own } if *own == task => {}
            Body::Assistant { task } => {
                after.get_or_insert(*task);
                said.push(answer_text(db, &chat, *task).await?.map_or(Said::Unanswered, Said::Answer));
            }
        }
    }
    said.reverse();
    Ok(Conversation { work: this.work, model: this.model.clone(), said, after })
}

async fn sent_files(db: &Db, attachments: &[Attachment], room: &mut u64) -> Result<Vec<SentFile>> {
    let mut files = Vec::with_capacity(attachments.len());
    for file in attachments {
        let body = match file.bytes <= *room {
            true => Some(attachments::read(db, file.id).await?.1),
            false => None,
        };
        *room = room.saturating_sub(body.as_ref().map_or(0, |body| body.len() as u64));
        files.push(SentFile { file: file.clone(), body });
    }
    Ok(files)
}

/// A conversation longer than this fits no model's context.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// What was answered; nothing where the attempt brought no text.
async fn answer_text(db: &Db, chat: &Chat, task: TaskId) -> Result<Option<String>> {
    let attempt = chat.tasks.get(&task).and_then(|task| task.attempts().last().map(|last| last.0));
    let Some(attempt) = attempt else { return Ok(None) };
    let stream = streams::id(task.0, attempt.0 as i32);
    let text = streams::text(db, stream, ANSWER_BYTES_MAX).await?;
    Ok((!text.trim().is_empty()).then_some(text))
}

//! Chats as rows.

use std::collections::BTreeMap;

use domain::{
    Rejected,
    catalogue::ModelRef,
    chat::{Body, Chat, Choice, Message, NewTurn, Queued, TitledBy},
    id::{Attempt, ChatId, MessageId, SessionId, TaskId},
    task::{Status, Task, Work},
    transcript::Transcript,
};
use serde::{Serialize, de::DeserializeOwned};
use sqlx::{PgConnection, Postgres, Transaction};
use uuid::Uuid;

use crate::{Db, Error, Result, streams};

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

pub(crate) async fn load(connection: &mut PgConnection, id: ChatId) -> Result<Chat> {
    let row = sqlx::query!("select session_id, title, titled_by, head from chats where id = $1", id.0)
        .fetch_optional(&mut *connection)
        .await?
        .ok_or_else(|| Rejected::missing("chat"))?;
    Ok(Chat {
        id,
        session: SessionId(row.session_id),
        title: row.title,
        titled_by: row.titled_by.map(|word| from_word::<TitledBy>(&word)).transpose()?,
        head: row.head.map(MessageId),
        messages: messages(connection, id).await?,
        queue: queue(connection, id).await?,
        tasks: tasks(connection, id).await?,
    })
}

async fn messages(connection: &mut PgConnection, chat: ChatId) -> Result<Vec<Message>> {
    let rows = sqlx::query!(
        "select id, parent_id, body, task_id from messages where chat_id = $1 order by place",
        chat.0
    )
    .fetch_all(connection)
    .await?;
    let message = |id, parent: Option<Uuid>, body, task: Option<Uuid>| {
        let body = match (body, task) {
            (Some(text), _) => Body::User { text },
            (None, Some(task)) => Body::Assistant { task: TaskId(task) },
            (None, None) => return Err(Error::Unknown(format!("message {id} is empty"))),
        };
        Ok(Message { id: MessageId(id), parent: parent.map(MessageId), body })
    };
    rows.into_iter().map(|row| message(row.id, row.parent_id, row.body, row.task_id)).collect()
}

async fn queue(connection: &mut PgConnection, chat: ChatId) -> Result<Vec<Queued>> {
    let rows = sqlx::query!(
        "select id, reply_id, task_id, body, server, model, paid from queued_messages
         where chat_id = $1 order by place",
        chat.0
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Queued {
            turn: NewTurn {
                message: MessageId(row.id),
                reply: MessageId(row.reply_id),
                task: TaskId(row.task_id),
            },
            text: row.body,
            choice: Choice { model: ModelRef { server: row.server, model: row.model }, paid: row.paid },
        })
        .collect())
}

async fn tasks(connection: &mut PgConnection, chat: ChatId) -> Result<BTreeMap<TaskId, Task>> {
    let rows = sqlx::query_as!(
        TaskRow,
        "select id, chat_id, work, server, model, status, attempt, attempts_max, lost, phase, cancelling,
             outcome, settled_attempt, stream_len, queued_at_ms, started_at_ms
         from tasks where chat_id = $1",
        chat.0
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok((TaskId(row.id), row.into_task()?))).collect()
}

pub(crate) struct TaskRow {
    pub id: Uuid,
    pub chat_id: Uuid,
    pub work: String,
    pub server: String,
    pub model: String,
    pub status: String,
    pub attempt: i32,
    pub attempts_max: i32,
    pub lost: serde_json::Value,
    pub phase: Option<serde_json::Value>,
    pub cancelling: bool,
    pub outcome: Option<serde_json::Value>,
    pub settled_attempt: Option<i32>,
    pub stream_len: i64,
    pub queued_at_ms: i64,
    pub started_at_ms: Option<i64>,
}

impl TaskRow {
    pub fn into_task(self) -> Result<Task> {
        let missing = |what: &str| Error::Unknown(format!("task {} has no {what}", self.id));
        let status = match self.status.as_str() {
            "queued" => Status::Queued,
            "running" => Status::Running {
                attempt: Attempt(self.attempt as u32),
                phase: serde_json::from_value(self.phase.ok_or_else(|| missing("phase"))?)?,
                cancelling: self.cancelling,
                started_at_ms: self.started_at_ms.ok_or_else(|| missing("start"))?,
            },
            "settled" => Status::Settled {
                attempt: self.settled_attempt.map(|attempt| Attempt(attempt as u32)),
                outcome: serde_json::from_value(self.outcome.ok_or_else(|| missing("outcome"))?)?,
                stream_len: self.stream_len as u64,
            },
            other => return Err(Error::Unknown(format!("task {} is {other}", self.id))),
        };
        Ok(Task {
            id: TaskId(self.id),
            chat: ChatId(self.chat_id),
            work: from_word::<Work>(&self.work)?,
            model: ModelRef { server: self.server, model: self.model },
            attempts_max: self.attempts_max as u32,
            queued_at_ms: self.queued_at_ms,
            lost: serde_json::from_value(self.lost)?,
            status,
        })
    }
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
    /// `(question, text)`: whether it is a question, and what it says.
    pub said: Vec<(bool, String)>,
}

/// The conversation that `task` has to continue, or, for a title, the whole first turn.
pub async fn conversation(db: &Db, task: TaskId) -> Result<Conversation> {
    let mut connection = db.pool.acquire().await?;
    let chat = sqlx::query_scalar!("select chat_id from tasks where id = $1", task.0)
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
    let mut said = Vec::new();
    for message in path {
        match &message.body {
            Body::User { text } => said.push((true, text.clone())),
            Body::Assistant { task: own } if *own == task => {}
            Body::Assistant { task } => {
                said.extend(answer_text(db, &chat, *task).await?.map(|text| (false, text)))
            }
        }
    }
    Ok(Conversation { work: this.work, model: this.model.clone(), said })
}

/// A conversation longer than this fits no model's context.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// What was answered; nothing where the attempt brought no text.
async fn answer_text(db: &Db, chat: &Chat, task: TaskId) -> Result<Option<String>> {
    let attempt = chat.tasks.get(&task).and_then(|task| task.attempts().last().map(|last| last.0));
    let Some(attempt) = attempt else { return Ok(None) };
    let stream = streams::id(task.0, attempt.0 as i32);
    let text = Transcript::read(&streams::read(db, stream, 0, ANSWER_BYTES_MAX).await?).text();
    Ok((!text.trim().is_empty()).then_some(text))
}

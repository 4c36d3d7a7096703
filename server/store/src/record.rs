//! Events as changes of rows. Replaying the log gives the same rows; `tests/it/replay.rs` holds us to it.

use domain::{
    chat::{Body, Queued},
    feed::{Event, StreamId},
    id::{ChatId, TaskId},
    slot,
    task::Task,
};
use sqlx::PgConnection;

use crate::{Result, chats::word};

pub(crate) async fn record(connection: &mut PgConnection, events: &[Event]) -> Result<()> {
    for event in events {
        one(connection, event).await?;
    }
    Ok(())
}

async fn one(connection: &mut PgConnection, event: &Event) -> Result<()> {
    match event {
        // Written by whoever made them, because nothing is decided about them.
        Event::ProjectAdded { .. } | Event::SessionAdded { .. } | Event::ChatAdded { .. } => {}
        Event::ChatTitled { chat, title, by } => {
            sqlx::query!(
                "update chats set title = $2, titled_by = $3 where id = $1",
                chat.0,
                title,
                word(by)?
            )
            .execute(connection)
            .await?;
        }
        Event::MessageAdded { chat, message } => {
            let (body, task) = match &message.body {
                Body::User { text } => (Some(text.as_str()), None),
                Body::Assistant { task } => (None, Some(task.0)),
            };
            sqlx::query!("delete from queued_messages where id = $1", message.id.0)
                .execute(&mut *connection)
                .await?;
            sqlx::query!(
                "insert into messages (id, chat_id, parent_id, place, body, task_id)
                 select $1, $2, $3, count(*), $4, $5 from messages where chat_id = $2",
                message.id.0,
                chat.0,
                message.parent.map(|parent| parent.0),
                body,
                task
            )
            .execute(&mut *connection)
            .await?;
            move_head(connection, *chat, message.id.0).await?;
        }
        Event::HeadMoved { chat, head } => move_head(connection, *chat, head.0).await?,
        Event::MessageQueued { chat, queued } => queue(connection, *chat, queued).await?,
        Event::QueuedEdited { message, text, .. } => {
            sqlx::query!("update queued_messages set body = $2 where id = $1", message.0, text)
                .execute(connection)
                .await?;
        }
        Event::QueuedRemoved { message, .. } => {
            sqlx::query!("delete from queued_messages where id = $1", message.0).execute(connection).await?;
        }
        Event::TaskQueued { task, .. } => insert_task(connection, task).await?,
        Event::TaskStarted { task, attempt, .. } => {
            // The claim itself wrote the task's row; its output starts empty.
            sqlx::query!("insert into streams (task_id, attempt) values ($1, $2)", task.0, attempt.0 as i32)
                .execute(connection)
                .await?;
        }
        Event::TaskPhase { task, phase, .. } => {
            sqlx::query!("update tasks set phase = $2 where id = $1", task.0, serde_json::to_value(phase)?)
                .execute(connection)
                .await?;
        }
        Event::TaskCancelling { task, .. } => {
            sqlx::query!("update tasks set cancelling = true where id = $1", task.0)
                .execute(connection)
                .await?;
        }
        Event::TaskRequeued { task, attempt, stream_len, .. } => {
            let lost = serde_json::json!([[attempt, stream_len]]);
            sqlx::query!(
                "update tasks set status = 'queued', lost = lost || $2, phase = null, cancelling = false,
                     started_at_ms = null, claimed_by = null, lease_until = null, deadline_at = null
                 where id = $1",
                task.0,
                lost
            )
            .execute(&mut *connection)
            .await?;
            end_attempt(connection, StreamId { task: *task, attempt: *attempt }).await?;
        }
        Event::TaskSettled { task, attempt, outcome, stream_len, .. } => {
            sqlx::query!(
                "update tasks set status = 'settled', outcome = $2, settled_attempt = $3, stream_len = $4,
                     claimed_by = null, lease_until = null, deadline_at = null
                 where id = $1",
                task.0,
                serde_json::to_value(outcome)?,
                attempt.map(|attempt| attempt.0 as i32),
                *stream_len as i64
            )
            .execute(&mut *connection)
            .await?;
            if let Some(attempt) = attempt {
                end_attempt(connection, StreamId { task: *task, attempt: *attempt }).await?;
            }
        }
    }
    Ok(())
}

async fn move_head(connection: &mut PgConnection, chat: ChatId, head: uuid::Uuid) -> Result<()> {
    sqlx::query!("update chats set head = $2 where id = $1", chat.0, head).execute(connection).await?;
    Ok(())
}

async fn queue(connection: &mut PgConnection, chat: ChatId, queued: &Queued) -> Result<()> {
    sqlx::query!(
        "insert into queued_messages (id, chat_id, reply_id, task_id, body, server, model, paid)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        queued.turn.message.0,
        chat.0,
        queued.turn.reply.0,
        queued.turn.task.0,
        queued.text,
        queued.choice.model.server,
        queued.choice.model.model,
        queued.choice.paid
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn insert_task(connection: &mut PgConnection, task: &Task) -> Result<()> {
    sqlx::query!(
        "insert into tasks (id, chat_id, work, server, model, status, attempts_max, queued_at_ms, rank)
         values ($1, $2, $3, $4, $5, 'queued', $6, $7, $8)",
        task.id.0,
        task.chat.0,
        word(&task.work)?,
        task.model.server,
        task.model.model,
        task.attempts_max as i32,
        task.queued_at_ms,
        slot::rank(task.priority(), task.queued_at_ms)
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// No more output, and the place at the server is free.
async fn end_attempt(connection: &mut PgConnection, stream: StreamId) -> Result<()> {
    let StreamId { task: TaskId(task), attempt } = stream;
    sqlx::query!(
        "update streams set ended = true where task_id = $1 and attempt = $2",
        task,
        attempt.0 as i32
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!("update slots set task_id = null where task_id = $1", task).execute(connection).await?;
    Ok(())
}

//! Events as changes of rows. Replaying the log gives the same rows; `tests/it/replay.rs` holds us to it.

use std::collections::BTreeSet;

use domain::{
    archive::Of,
    battle::{Standing, results::concerned},
    chat::{Body, Queued},
    feed::{Event, StreamId},
    id::{ChatId, TaskId},
    output::Phase,
    slot,
    task::{Owner, Task},
    tool::ANSWER_SECONDS_MAX,
};
use sqlx::PgConnection;

use crate::{Result, archive, attachments, battles, chats::word, layouts, runs, search, slots, worktrees};

pub(crate) async fn record(connection: &mut PgConnection, events: &[Event]) -> Result<()> {
    for event in events {
        one(connection, event).await?;
    }
    let battles: BTreeSet<_> = events.iter().filter_map(concerned).map(|battle| battle.0).collect();
    if !battles.is_empty() {
        battles::changed(connection, &Vec::from_iter(battles)).await?;
    }
    Ok(())
}

async fn one(connection: &mut PgConnection, event: &Event) -> Result<()> {
    match event {
        // Written by whoever made them, because nothing is decided about them.
        Event::ProjectAdded { .. }
        | Event::SessionAdded { .. }
        | Event::ChatAdded { .. }
        | Event::SettingsChanged { .. } => {}
        Event::BattleStarted { battle } => battles::insert(connection, battle).await?,
        Event::ContestantUpdated { contestant, .. } => {
            battles::record_contestant(connection, contestant).await?
        }
        Event::BattleUpdated { battle, course } => {
            battles::record_course(connection, *battle, course).await?
        }
        Event::AnalysisUpdated { battle, analysis } => {
            battles::record_analysis(connection, *battle, analysis).await?;
        }
        Event::JudgementMade { battle, analysis, place, judgement } => {
            battles::record_judgement(connection, *battle, *analysis, *place, judgement).await?;
        }
        Event::ExaminationAdded { battle, examination } => {
            battles::record_examination(connection, *battle, examination).await?;
        }
        Event::FlowRunStarted { run } => runs::insert(connection, run).await?,
        Event::FlowRunStepUpdated { run, task, change, tried } => {
            runs::record_step(connection, *run, *task, change, *tried).await?;
        }
        Event::FlowRunUpdated { run, change, at_ms } => {
            runs::record_run(connection, *run, change, *at_ms).await?;
        }
        Event::ProjectRenamed { project, name } => {
            archive::record_name(connection, Of::Project(*project), name).await?;
        }
        Event::SessionRenamed { session, name } => {
            archive::record_name(connection, Of::Session(*session), name).await?;
        }
        Event::ProjectArchived { project } => {
            archive::record(connection, Of::Project(*project), true).await?
        }
        Event::SessionArchived { session } => {
            archive::record(connection, Of::Session(*session), true).await?
        }
        Event::ChatArchived { chat } => archive::record(connection, Of::Chat(*chat), true).await?,
        Event::ProjectRestored { project, .. } => {
            archive::record(connection, Of::Project(*project), false).await?;
        }
        Event::SessionRestored { session, .. } => {
            archive::record(connection, Of::Session(*session), false).await?;
        }
        Event::ChatRestored { chat } => archive::record(connection, Of::Chat(chat.id), false).await?,
        Event::LayoutChanged { session, change } => layouts::record(connection, *session, change).await?,
        Event::ChatTitled { chat, title, by } => {
            sqlx::query!(
                "update chats set title = $2, titled_by = $3 where id = $1",
                chat.0,
                title,
                word(by)?
            )
            .execute(&mut *connection)
            .await?;
            search::title(connection, *chat, title).await?;
        }
        Event::MessageAdded { chat, message } => {
            let (body, task, files, left_out) = match &message.body {
                Body::User { text, attachments, left_out } => {
                    (Some(text.as_str()), None, attachments.as_slice(), left_out.as_slice())
                }
                Body::Assistant { task } => (None, Some(task.0), [].as_slice(), [].as_slice()),
            };
            sqlx::query!("delete from queued_messages where id = $1", message.id.0)
                .execute(&mut *connection)
                .await?;
            sqlx::query!(
                "insert into messages (id, chat_id, parent_id, place, body, task_id, attachments, left_out)
                 select $1, $2, $3, count(*), $4, $5, $6, $7 from messages where chat_id = $2",
                message.id.0,
                chat.0,
                message.parent.map(|parent| parent.0),
                body,
                task,
                serde_json::to_value(files)?,
                serde_json::to_value(left_out)?
            )
            .execute(&mut *connection)
            .await?;
            sqlx::query!("update chats set head = $2, active_at = now() where id = $1", chat.0, message.id.0)
                .execute(&mut *connection)
                .await?;
            attachments::keep(connection, message.id, files).await?;
            if let Some(text) = body {
                search::message(connection, message.id.0, *chat, text).await?;
            }
        }
        Event::HeadMoved { chat, head } => {
            sqlx::query!("update chats set head = $2 where id = $1", chat.0, head.0)
                .execute(connection)
                .await?;
        }
        Event::MessageQueued { chat, queued } => queue(connection, *chat, queued).await?,
        Event::QueuedEdited { message, text, attachments: files, left_out, .. } => {
            sqlx::query!(
                "update queued_messages set body = $2, attachments = coalesce($3, attachments), left_out = $4
                 where id = $1",
                message.0,
                text,
                files.as_ref().map(serde_json::to_value).transpose()?,
                serde_json::to_value(left_out)?
            )
            .execute(&mut *connection)
            .await?;
            if let Some(files) = files {
                attachments::keep(connection, *message, files).await?;
            }
        }
        Event::QueuedRemoved { message, .. } => {
            sqlx::query!("delete from queued_messages where id = $1", message.0)
                .execute(&mut *connection)
                .await?;
            attachments::keep(connection, *message, &[]).await?;
        }
        Event::QueuedChosen { chat, message } => {
            let message = message.map(|message| message.0);
            sqlx::query!("update chats set chosen = $2 where id = $1", chat.0, message)
                .execute(connection)
                .await?;
        }
        Event::TaskQueued { task, .. } => insert_task(connection, task).await?,
        Event::TaskStarted { owner, task, attempt, .. } => {
            match owner {
                Owner::Battle(_) => battles::record_task(connection, *task, &Standing::Dispatched).await?,
                Owner::Run(_) => runs::record_task(connection, *task, "running").await?,
                Owner::Chat(_) => {}
            }
            // The claim itself wrote the task's row; its output starts empty.
            sqlx::query!("insert into streams (task_id, attempt) values ($1, $2)", task.0, attempt.0 as i32)
                .execute(connection)
                .await?;
        }
        Event::TaskPhase { owner, task, phase, began_at_ms, .. } => {
            if let Owner::Battle(_) = owner {
                battles::record_task(connection, *task, &Standing::during(phase)).await?;
            }
            sqlx::query!(
                "update tasks set phase = $2, started_at_ms = coalesce($3, started_at_ms) where id = $1",
                task.0,
                serde_json::to_value(phase)?,
                *began_at_ms
            )
            .execute(&mut *connection)
            .await?;
            // While a person is asked, others may have the model, and the attempt's time stands still.
            if matches!(phase, Phase::Asking(_)) {
                sqlx::query!(
                    "update tasks set deadline_at = deadline_at + make_interval(secs => $2) where id = $1",
                    task.0,
                    f64::from(ANSWER_SECONDS_MAX)
                )
                .execute(&mut *connection)
                .await?;
                slots::release(connection, *task).await?;
            }
        }
        Event::TaskAnswered { task, .. } => {
            let phase = serde_json::to_value(Phase::Generating)?;
            sqlx::query!("update tasks set phase = $2 where id = $1", task.0, phase)
                .execute(connection)
                .await?;
        }
        Event::WorktreeChanged { chat, worktree } => worktrees::record(connection, *chat, worktree).await?,
        Event::TaskCancelling { task, .. } => {
            sqlx::query!("update tasks set cancelling = true, wants_slot = null where id = $1", task.0)
                .execute(connection)
                .await?;
        }
        Event::TaskRequeued { owner, task, attempt, stream_len } => {
            match owner {
                Owner::Battle(_) => battles::record_task(connection, *task, &Standing::Queued).await?,
                Owner::Run(_) => runs::record_task(connection, *task, "queued").await?,
                Owner::Chat(_) => {}
            }
            let lost = serde_json::json!([[attempt, stream_len]]);
            sqlx::query!(
                "update tasks set status = 'queued', lost = lost || $2, phase = null, cancelling = false,
                     started_at_ms = null, claimed_by = null, lease_until = null, deadline_at = null,
                     wants_slot = null
                 where id = $1",
                task.0,
                lost
            )
            .execute(&mut *connection)
            .await?;
            end_attempt(connection, StreamId { task: *task, attempt: *attempt }).await?;
        }
        Event::TaskSettled { owner, task, work, attempt, outcome, stream_len } => {
            sqlx::query!(
                "update tasks set status = 'settled', outcome = $2, settled_attempt = $3, stream_len = $4,
                     claimed_by = null, lease_until = null, deadline_at = null, wants_slot = null
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
            if let (Owner::Chat(chat), true) = (owner, work.is_turn()) {
                search::answer(connection, *chat, *task, *attempt).await?;
            }
        }
    }
    Ok(())
}

async fn queue(connection: &mut PgConnection, chat: ChatId, queued: &Queued) -> Result<()> {
    sqlx::query!(
        "insert into queued_messages
             (id, chat_id, reply_id, task_id, body, server, model, paid, attachments, left_out, persona, coder, machine)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        queued.turn.message.0,
        chat.0,
        queued.turn.reply.0,
        queued.turn.task.0,
        queued.text,
        queued.choice.model.server,
        queued.choice.model.model,
        queued.choice.paid,
        serde_json::to_value(&queued.attachments)?,
        serde_json::to_value(&queued.left_out)?,
        queued.choice.persona,
        queued.choice.coder.as_ref().map(serde_json::to_value).transpose()?,
        queued.choice.machine
    )
    .execute(&mut *connection)
    .await?;
    attachments::keep(connection, queued.turn.message, &queued.attachments).await
}

async fn insert_task(connection: &mut PgConnection, task: &Task) -> Result<()> {
    let (chat, battle, run) = match task.owner {
        Owner::Chat(chat) => (Some(chat.0), None, None),
        Owner::Battle(battle) => (None, Some(battle.0), None),
        Owner::Run(run) => (None, None, Some(run.0)),
    };
    sqlx::query!(
        "insert into tasks (id, chat_id, battle_id, run_id, work, server, model, status, attempts_max,
             queued_at_ms, rank, persona, coder, host, limit_s, machine)
         values ($1, $2, $3, $4, $5, $6, $7, 'queued', $8, $9, $10, $11, $12, $13, $14, $15)",
        task.id.0,
        chat,
        battle,
        run,
        word(&task.work)?,
        task.model.server,
        task.model.model,
        task.attempts_max as i32,
        task.queued_at_ms,
        slot::rank(task.priority(), task.queued_at_ms),
        task.persona,
        task.coder.as_ref().map(serde_json::to_value).transpose()?,
        task.host,
        task.limit_s.map(|seconds| seconds as i32),
        task.machine
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
    slots::release(connection, stream.task).await
}

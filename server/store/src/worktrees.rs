//! Where agents work: what was made, and what became of it.

use std::collections::BTreeMap;

use domain::{
    Rejected,
    feed::{Event, StreamId},
    id::{ChatId, WorktreeId},
    task::Status,
    worktree::{State, Worktree},
};
use sqlx::PgConnection;

use crate::{
    Db, Result,
    chats::{self, from_word, word},
    commit,
};

/// What agents can go on from, by their names.
pub type AgentSessions = BTreeMap<String, String>;

pub(crate) async fn of_chat(connection: &mut PgConnection, chat: ChatId) -> Result<Option<Worktree>> {
    let row = sqlx::query!("select id, host, base, carried, state from worktrees where chat_id = $1", chat.0)
        .fetch_optional(connection)
        .await?;
    row.map(|row| {
        Ok(Worktree {
            id: WorktreeId(row.id),
            host: row.host,
            base: row.base,
            carried: row.carried,
            state: from_word(&row.state)?,
        })
    })
    .transpose()
}

pub(crate) async fn record(connection: &mut PgConnection, chat: ChatId, worktree: &Worktree) -> Result<()> {
    sqlx::query!(
        "insert into worktrees (id, chat_id, project_id, host, base, carried, state)
         select $1, chats.id, project_id, $3, $4, $5, $6
         from chats join sessions on sessions.id = session_id where chats.id = $2
         on conflict (id) do update set state = excluded.state",
        worktree.id.0,
        chat.0,
        worktree.host,
        worktree.base,
        worktree.carried,
        word(&worktree.state)?
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Tells that the attempt has made its worktree. One that is no longer ours must not: its successor makes one.
pub async fn made(db: &Db, stream: StreamId, worktree: Worktree) -> Result<()> {
    let mut tx = db.pool.begin().await?;
    let chat = commit::chat_of(&mut tx, stream.task).await?;
    let chat = chats::lock(&mut tx, chat).await?;
    let task = chat.tasks.get(&stream.task).ok_or(Rejected::Stale)?;
    let is_running = matches!(task.status, Status::Running { attempt, .. } if attempt == stream.attempt);
    if !is_running || chat.worktree.is_some() {
        // At once, so that whoever may run it now does not find it locked.
        tx.rollback().await?;
        return Err(Rejected::Stale.into());
    }
    commit::finish(tx, vec![Event::WorktreeChanged { chat: chat.id, worktree }]).await?;
    Ok(())
}

/// The worktree of a chat.
pub async fn get(db: &Db, chat: ChatId) -> Result<Option<Worktree>> {
    of_chat(&mut *db.pool.acquire().await?, chat).await
}

/// The worktree of a chat in which nobody works now.
pub async fn idle(db: &Db, chat: ChatId) -> Result<Worktree> {
    let chat = chats::load(&mut *db.pool.acquire().await?, chat).await?;
    if chat.active_turn().is_some() {
        return Err(Rejected::Busy.into());
    }
    Ok(chat.worktree.ok_or_else(|| Rejected::missing("worktree"))?)
}

/// Says what became of it, unless work is under way in it.
pub async fn set_state(db: &Db, chat: ChatId, state: State) -> Result<Worktree> {
    let mut tx = db.pool.begin().await?;
    let chat = chats::lock(&mut tx, chat).await?;
    if chat.active_turn().is_some() {
        return Err(Rejected::Busy.into());
    }
    let worktree = chat.worktree.ok_or_else(|| Rejected::missing("worktree"))?;
    let worktree = Worktree { state, ..worktree };
    commit::finish(tx, vec![Event::WorktreeChanged { chat: chat.id, worktree: worktree.clone() }]).await?;
    Ok(worktree)
}

pub async fn agent_sessions(db: &Db, id: WorktreeId) -> Result<AgentSessions> {
    let kept = sqlx::query_scalar!("select agent_sessions from worktrees where id = $1", id.0)
        .fetch_optional(&db.pool)
        .await?;
    Ok(kept.map(serde_json::from_value).transpose()?.unwrap_or_default())
}

/// Keeps what an agent can go on from.
pub async fn keep_agent_session(db: &Db, id: WorktreeId, agent: &str, session: &str) -> Result<()> {
    sqlx::query!(
        "update worktrees set agent_sessions = agent_sessions || jsonb_build_object($2::text, $3::text)
         where id = $1",
        id.0,
        agent,
        session
    )
    .execute(&db.pool)
    .await?;
    Ok(())
}

/// A worktree as a list has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub worktree: Worktree,
    pub chat: ChatId,
    pub title: String,
    /// Its name.
    pub project: String,
}

/// Those on a host, the newest first.
pub async fn list(db: &Db, host: &str) -> Result<Vec<Listed>> {
    let rows = sqlx::query!(
        "select worktrees.id, chat_id, title, projects.name as project, base, carried, state
         from worktrees join chats on chats.id = chat_id join projects on projects.id = project_id
         where host = $1 and state <> 'gone' order by worktrees.id desc",
        host
    )
    .fetch_all(&db.pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Listed {
                worktree: Worktree {
                    id: WorktreeId(row.id),
                    host: host.to_owned(),
                    base: row.base,
                    carried: row.carried,
                    state: from_word(&row.state)?,
                },
                chat: ChatId(row.chat_id),
                title: row.title,
                project: row.project,
            })
        })
        .collect()
}

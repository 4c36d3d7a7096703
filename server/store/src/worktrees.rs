//! Where agents work: what was made, and what became of it.

use std::collections::BTreeMap;

use domain::{
    Rejected,
    chat::{Kind, TitledBy, title},
    feed::{Event, StreamId},
    id::{BattleId, ChatId, SessionId, TaskId, WorktreeId},
    layout::{Content, Input, Target},
    task::{Owner, Status},
    worktree::{State, Worktree},
};
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    Db, Error, Result,
    chats::{self, from_word, word},
    commit, layouts, workspace,
};

/// What agents can go on from, by their names.
pub type AgentSessions = BTreeMap<String, AgentSession>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSession {
    /// Empty where the agent was here and cannot go on from anywhere.
    pub session: String,
    /// The answer up to which the session holds the conversation. None: it holds what was before the first question.
    #[serde(default)]
    pub after: Option<TaskId>,
}

struct Row {
    id: Uuid,
    host: String,
    base: String,
    carried: bool,
    state: String,
}

impl Row {
    fn into_worktree(self) -> Result<Worktree> {
        Ok(Worktree {
            id: WorktreeId(self.id),
            host: self.host,
            base: self.base,
            carried: self.carried,
            state: from_word(&self.state)?,
        })
    }
}

pub(crate) async fn of_chat(connection: &mut PgConnection, chat: ChatId) -> Result<Option<Worktree>> {
    let row = sqlx::query_as!(
        Row,
        "select id, host, base, carried, state from worktrees where chat_id = $1",
        chat.0
    )
    .fetch_optional(connection)
    .await?;
    row.map(Row::into_worktree).transpose()
}

pub async fn by_id(db: &Db, id: WorktreeId) -> Result<Option<Worktree>> {
    let row =
        sqlx::query_as!(Row, "select id, host, base, carried, state from worktrees where id = $1", id.0)
            .fetch_optional(&db.pool)
            .await?;
    row.map(Row::into_worktree).transpose()
}

/// The worktree that an attempt at a battle's task works in, or worked in.
pub async fn of_attempt(db: &Db, stream: StreamId) -> Result<Option<Worktree>> {
    let row = sqlx::query_as!(
        Row,
        "select id, host, base, carried, state from worktrees where task_id = $1 and attempt = $2",
        stream.task.0,
        stream.attempt.0 as i32
    )
    .fetch_optional(&db.pool)
    .await?;
    row.map(Row::into_worktree).transpose()
}

/// Every worktree that a battle's tasks made and no Coder goes on in.
pub async fn of_battle(db: &Db, battle: BattleId) -> Result<Vec<Worktree>> {
    let rows = sqlx::query_as!(
        Row,
        "select worktrees.id, worktrees.host, base, carried, state
         from worktrees join tasks on tasks.id = task_id
         where battle_id = $1 and worktrees.chat_id is null order by worktrees.id",
        battle.0
    )
    .fetch_all(&db.pool)
    .await?;
    rows.into_iter().map(Row::into_worktree).collect()
}

/// Notes the worktree that an attempt at a battle's task has made. One that is no longer ours must not. Noted twice it
/// is noted once: whoever got no answer asks again.
pub async fn made_for_battle(db: &Db, stream: StreamId, worktree: &Worktree) -> Result<()> {
    let noted = sqlx::query!(
        "insert into worktrees (id, task_id, attempt, project_id, host, base, carried, state)
         select $1, tasks.id, $3, battles.project_id, $4, $5, $6, $7
         from tasks join battles on battles.id = battle_id
         where tasks.id = $2 and tasks.attempt = $3 and tasks.status = 'running'
         on conflict (id) do update set state = excluded.state",
        worktree.id.0,
        stream.task.0,
        stream.attempt.0 as i32,
        worktree.host,
        worktree.base,
        worktree.carried,
        word(&worktree.state)?
    )
    .execute(&db.pool)
    .await?;
    if noted.rows_affected() == 0 {
        return Err(Rejected::Stale.into());
    }
    sqlx::query!("update contestants set worktree_id = $2 where task_id = $1", stream.task.0, worktree.id.0)
        .execute(&db.pool)
        .await?;
    Ok(())
}

/// Says what became of a worktree that is no Coder's.
pub async fn set_state_of_battles(db: &Db, id: WorktreeId, state: State) -> Result<()> {
    sqlx::query!(
        "update worktrees set state = $2 where id = $1 and chat_id is null and state <> 'gone'",
        id.0,
        word(&state)?
    )
    .execute(&db.pool)
    .await?;
    Ok(())
}

/// The Coder that goes on in the worktree of a battle's attempt: the one that does so already, brought to the front,
/// or a new one of this name.
pub async fn go_on(
    db: &Db,
    session: SessionId,
    id: WorktreeId,
    title: String,
    target: Target,
) -> Result<ChatId> {
    let mut tx = db.pool.begin().await?;
    let layout = layouts::lock(&mut tx, session).await?;
    let known = sqlx::query!("select chat_id, state from worktrees where id = $1 for update", id.0)
        .fetch_optional(&mut *tx)
        .await?;
    let known = known.ok_or_else(|| Rejected::missing("worktree"))?;
    let mut events = Vec::new();
    let chat = match known.chat_id {
        Some(chat) => ChatId(chat),
        None if from_word::<State>(&known.state)? != State::Ready => {
            return Err(Rejected::Invalid("The worktree is not there any more.".into()).into());
        }
        None => {
            let chat = workspace::insert_chat(&mut tx, session, Kind::Coder).await?;
            let row = sqlx::query_as!(
                Row,
                "update worktrees set chat_id = $2 where id = $1 returning id, host, base, carried, state",
                id.0,
                chat.id.0
            );
            let worktree = row.fetch_one(&mut *tx).await?.into_worktree()?;
            let id = chat.id;
            events.push(Event::ChatAdded { chat });
            events.push(Event::WorktreeChanged { chat: id, worktree });
            events.push(Event::ChatTitled { chat: id, title, by: TitledBy::Person });
            id
        }
    };
    let changes = layout.decide(Input::Open { content: Content::Chat(chat), target })?;
    events.extend(changes.into_iter().map(|change| Event::LayoutChanged { session, change }));
    commit::finish(tx, events).await?;
    Ok(chat)
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
    let Owner::Chat(chat) = commit::owner_of(&mut tx, stream.task).await? else {
        return Err(Rejected::Stale.into());
    };
    let chat = chats::lock(&mut tx, chat).await?;
    let task = chat.tasks.get(&stream.task).ok_or(Rejected::Stale)?;
    let is_running = matches!(task.status, Status::Running { attempt, .. } if attempt == stream.attempt);
    let known = chat.worktree.as_ref().map(|known| known.id);
    if !is_running || known.is_some() {
        // At once, so that whoever may run it now does not find it locked.
        tx.rollback().await?;
        // Whoever got no answer asks again.
        return if is_running && known == Some(worktree.id) { Ok(()) } else { Err(Rejected::Stale.into()) };
    }
    commit::finish(tx, vec![Event::WorktreeChanged { chat: chat.id, worktree }]).await?;
    Ok(())
}

/// The worktree of a chat.
pub async fn get(db: &Db, chat: ChatId) -> Result<Option<Worktree>> {
    of_chat(&mut *db.pool.acquire().await?, chat).await
}

/// A worktree in which nobody works.
#[derive(Clone, Debug, PartialEq)]
pub struct Idle {
    pub worktree: Worktree,
    /// How many turns were over. While there are no more and nobody works, nobody has worked since.
    pub turns: usize,
}

/// The worktree of a chat in which nobody works now.
pub async fn idle(db: &Db, chat: ChatId) -> Result<Idle> {
    let chat = chats::load(&mut *db.pool.acquire().await?, chat).await?;
    if chat.active_turn().is_some() {
        return Err(Rejected::Busy.into());
    }
    let turns = chat.turns_over();
    Ok(Idle { worktree: chat.worktree.ok_or_else(|| Rejected::missing("worktree"))?, turns })
}

/// Says what became of it, unless work is under way in it.
pub async fn set_state(db: &Db, chat: ChatId, state: State) -> Result<Worktree> {
    let mut tx = db.pool.begin().await?;
    let chat = chats::lock(&mut tx, chat).await?;
    if chat.active_turn().is_some() {
        return Err(Rejected::Busy.into());
    }
    let worktree = chat.worktree.ok_or_else(|| Rejected::missing("worktree"))?;
    let worktree = Worktree { state: worktree.state.turned(state)?, ..worktree };
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
pub async fn keep_agent_session(db: &Db, id: WorktreeId, agent: &str, session: AgentSession) -> Result<()> {
    sqlx::query!(
        "update worktrees set agent_sessions = agent_sessions || jsonb_build_object($2::text, $3::jsonb)
         where id = $1",
        id.0,
        agent,
        serde_json::to_value(session)?
    )
    .execute(&db.pool)
    .await?;
    Ok(())
}

/// Whose worktree it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Chat(ChatId),
    Battle(BattleId),
}

/// A worktree as a list has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub worktree: Worktree,
    pub of: Of,
    pub title: String,
    /// Its name.
    pub project: String,
}

/// Those on a host, the newest first.
pub async fn list(db: &Db, host: &str) -> Result<Vec<Listed>> {
    let rows = sqlx::query!(
        r#"select worktrees.id, worktrees.chat_id, battle_id as "battle_id?", title as "title?",
               left(prompt, 400) as prompt, projects.name as project, base, carried, state
           from worktrees
           join projects on projects.id = worktrees.project_id
           left join chats on chats.id = worktrees.chat_id
           left join tasks on tasks.id = task_id
           left join battles on battles.id = battle_id
           where worktrees.host = $1 and state <> 'gone' order by worktrees.id desc"#,
        host
    )
    .fetch_all(&db.pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let of = match (row.chat_id, row.battle_id) {
                (Some(chat), _) => Of::Chat(ChatId(chat)),
                (None, Some(battle)) => Of::Battle(BattleId(battle)),
                (None, None) => return Err(Error::Unknown(format!("worktree {} is nobody's", row.id))),
            };
            Ok(Listed {
                worktree: Worktree {
                    id: WorktreeId(row.id),
                    host: host.to_owned(),
                    base: row.base,
                    carried: row.carried,
                    state: from_word(&row.state)?,
                },
                of,
                title: row
                    .title
                    .or_else(|| row.prompt.as_deref().map(title::from_prompt))
                    .unwrap_or_default(),
                project: row.project,
            })
        })
        .collect()
}

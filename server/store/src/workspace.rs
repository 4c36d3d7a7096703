//! Projects, sessions and chats: making them, and listing them.

use domain::{
    Rejected,
    chat::Kind,
    feed::Event,
    id::{ChatId, MessageId, ProjectId, SessionId, TaskId},
    workspace::{ChatEntry, Project, Session, Turn, Workspace},
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    Db, Error, Result, battles,
    chats::{from_word, word},
    feed, runs,
};

/// Adds a project with its first session.
pub async fn add_project(db: &Db, name: &str, path: &str) -> Result<(Project, Session)> {
    let name = domain::workspace::name(name)?;
    let project = Project { id: ProjectId(Uuid::now_v7()), name, path: path.to_owned() };
    let session = Session { id: SessionId(Uuid::now_v7()), project: project.id, name: "Session 1".into() };
    let mut tx = db.pool.begin().await?;
    sqlx::query!(
        "insert into projects (id, name, path) values ($1, $2, $3)",
        project.id.0,
        project.name,
        project.path
    )
    .execute(&mut *tx)
    .await
    .map_err(|error| {
        let meaning = Rejected::Invalid(format!("{path} is a project already."));
        Error::on_constraint(error, "projects_path_unique", meaning)
    })?;
    insert_session(&mut tx, &session).await?;
    let events =
        [Event::ProjectAdded { project: project.clone() }, Event::SessionAdded { session: session.clone() }];
    feed::append(&mut tx, &events).await?;
    tx.commit().await?;
    Ok((project, session))
}

pub async fn project(db: &Db, id: ProjectId) -> Result<Project> {
    let row = sqlx::query!("select name, path from projects where id = $1", id.0)
        .fetch_optional(&db.pool)
        .await?
        .ok_or_else(|| Rejected::missing("project"))?;
    Ok(Project { id, name: row.name, path: row.path })
}

pub async fn project_of_chat(db: &Db, chat: ChatId) -> Result<Project> {
    let row = sqlx::query!(
        "select projects.id, projects.name, path from chats
         join sessions on sessions.id = session_id join projects on projects.id = project_id
         where chats.id = $1",
        chat.0
    )
    .fetch_optional(&db.pool)
    .await?
    .ok_or_else(|| Rejected::missing("chat"))?;
    Ok(Project { id: ProjectId(row.id), name: row.name, path: row.path })
}

pub async fn project_of_session(db: &Db, session: SessionId) -> Result<Project> {
    let row = sqlx::query!(
        "select projects.id, projects.name, path from sessions join projects on projects.id = project_id
         where sessions.id = $1",
        session.0
    )
    .fetch_optional(&db.pool)
    .await?
    .ok_or_else(|| Rejected::missing("session"))?;
    Ok(Project { id: ProjectId(row.id), name: row.name, path: row.path })
}

pub async fn chat_title(db: &Db, chat: ChatId) -> Result<String> {
    let title = sqlx::query_scalar!("select title from chats where id = $1", chat.0);
    Ok(title.fetch_optional(&db.pool).await?.ok_or_else(|| Rejected::missing("chat"))?)
}

pub async fn add_session(db: &Db, project: ProjectId, name: &str) -> Result<Session> {
    let name = domain::workspace::name(name)?;
    let session = Session { id: SessionId(Uuid::now_v7()), project, name };
    let mut tx = db.pool.begin().await?;
    insert_session(&mut tx, &session).await?;
    feed::append(&mut tx, &[Event::SessionAdded { session: session.clone() }]).await?;
    tx.commit().await?;
    Ok(session)
}

async fn insert_session(connection: &mut PgConnection, session: &Session) -> Result<()> {
    sqlx::query!(
        "insert into sessions (id, project_id, name) values ($1, $2, $3)",
        session.id.0,
        session.project.0,
        session.name
    )
    .execute(connection)
    .await
    .map_err(|error| Error::on_constraint(error, "sessions_project_id_fkey", Rejected::missing("project")))?;
    Ok(())
}

pub async fn add_chat(db: &Db, session: SessionId, kind: Kind) -> Result<ChatEntry> {
    let mut tx = db.pool.begin().await?;
    let chat = insert_chat(&mut tx, session, kind).await?;
    feed::append(&mut tx, &[Event::ChatAdded { chat: chat.clone() }]).await?;
    tx.commit().await?;
    Ok(chat)
}

pub(crate) async fn insert_chat(
    connection: &mut PgConnection,
    session: SessionId,
    kind: Kind,
) -> Result<ChatEntry> {
    let new = ChatEntry::new(ChatId(Uuid::now_v7()), session, kind.untitled().to_owned());
    let chat = ChatEntry { kind, ..new };
    sqlx::query!(
        "insert into chats (id, session_id, title, kind) values ($1, $2, $3, $4)",
        chat.id.0,
        session.0,
        chat.title,
        word(&kind)?
    )
    .execute(connection)
    .await
    .map_err(|error| Error::on_constraint(error, "chats_session_id_fkey", Rejected::missing("session")))?;
    Ok(chat)
}

pub(crate) async fn load(connection: &mut PgConnection) -> Result<Workspace> {
    let projects = sqlx::query!("select id, name, path from projects order by id")
        .fetch_all(&mut *connection)
        .await?
        .into_iter()
        .map(|row| Project { id: ProjectId(row.id), name: row.name, path: row.path })
        .collect();
    let sessions = sqlx::query!("select id, project_id, name from sessions order by id")
        .fetch_all(&mut *connection)
        .await?
        .into_iter()
        .map(|row| Session { id: SessionId(row.id), project: ProjectId(row.project_id), name: row.name })
        .collect();
    let chats = sqlx::query!(
        r#"select chats.id, session_id, kind, title, turn.id as "turn?", turn.status as "status?",
               turn.phase ? 'asking' as "asking?",
               array(select queued.id from queued_messages queued where queued.chat_id = chats.id
                     order by queued.place) as "queued!"
           from chats left join tasks turn
               on turn.chat_id = chats.id and turn.work <> 'title' and turn.status <> 'settled'
           order by chats.id"#
    )
    .fetch_all(&mut *connection)
    .await?
    .into_iter()
    .map(|row| {
        let running = row.status.as_deref() == Some("running");
        let asking = running && row.asking == Some(true);
        Ok(ChatEntry {
            id: ChatId(row.id),
            session: SessionId(row.session_id),
            kind: from_word(&row.kind)?,
            title: row.title,
            turn: row.turn.map(|task| Turn { task: TaskId(task), running, asking }),
            queued: row.queued.into_iter().map(MessageId).collect(),
        })
    })
    .collect::<Result<_>>()?;
    let battles = battles::entries(connection).await?;
    let runs = runs::entries(connection).await?;
    Ok(Workspace { projects, sessions, chats, battles, runs })
}

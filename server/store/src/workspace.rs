//! Projects, sessions and chats: making them, and listing them.

use domain::{
    Rejected,
    feed::Event,
    id::{ChatId, ProjectId, SessionId},
    workspace::{ChatEntry, Project, Session, UNTITLED, Workspace},
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Db, Error, Result, feed};

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

pub async fn add_chat(db: &Db, session: SessionId) -> Result<ChatEntry> {
    let chat = ChatEntry { id: ChatId(Uuid::now_v7()), session, title: UNTITLED.to_owned(), running: false };
    let mut tx = db.pool.begin().await?;
    sqlx::query!(
        "insert into chats (id, session_id, title) values ($1, $2, $3)",
        chat.id.0,
        session.0,
        chat.title
    )
    .execute(&mut *tx)
    .await
    .map_err(|error| Error::on_constraint(error, "chats_session_id_fkey", Rejected::missing("session")))?;
    feed::append(&mut tx, &[Event::ChatAdded { chat: chat.clone() }]).await?;
    tx.commit().await?;
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
        r#"select id, session_id, title,
               exists (select from tasks where chat_id = chats.id and work = 'chat_turn'
                       and status <> 'settled') as "running!"
           from chats order by id"#
    )
    .fetch_all(&mut *connection)
    .await?
    .into_iter()
    .map(|row| ChatEntry {
        id: ChatId(row.id),
        session: SessionId(row.session_id),
        title: row.title,
        running: row.running,
    })
    .collect();
    Ok(Workspace { projects, sessions, chats })
}

//! Projects, sessions and chats: making them, and listing them.

use domain::{
    Rejected,
    chat::Kind,
    feed::Event,
    id::{ChatId, MessageId, ProjectId, SessionId, TaskId},
    workspace::{CHATS_MAX, ChatEntry, Project, Session, Turn, Workspace, numbered},
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    Db, Error, Result, archive, battles,
    chats::{from_word, word},
    feed, runs,
};

/// Adds a project with its first session.
pub async fn add_project(db: &Db, name: &str, path: &str) -> Result<(Project, Session)> {
    let name = domain::workspace::name(name)?;
    let project = Project { id: ProjectId(Uuid::now_v7()), name, path: path.to_owned() };
    let session = Session { id: SessionId(Uuid::now_v7()), project: project.id, name: numbered(1) };
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
    archive::need_project(&mut tx, project).await?;
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
    archive::need_session(connection, session).await?;
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

/// The lists, and what of the rest is looked at: these chats, wherever they are.
pub(crate) async fn load(connection: &mut PgConnection, looked_at: &[Uuid]) -> Result<Workspace> {
    let mut all = Workspace::default();
    let projects = sqlx::query!("select id, name, path, archived from projects order by id");
    for row in projects.fetch_all(&mut *connection).await? {
        let project = Project { id: ProjectId(row.id), name: row.name, path: row.path };
        let list = if row.archived { &mut all.archived.projects } else { &mut all.projects };
        list.push(project);
    }
    let sessions = sqlx::query!(
        "select sessions.id, project_id, sessions.name, sessions.archived or projects.archived as \"archived!\"
         from sessions join projects on projects.id = project_id order by sessions.id"
    );
    for row in sessions.fetch_all(&mut *connection).await? {
        let session = Session { id: SessionId(row.id), project: ProjectId(row.project_id), name: row.name };
        let list = if row.archived { &mut all.archived.sessions } else { &mut all.sessions };
        list.push(session);
    }
    let within: Vec<_> = all.sessions.iter().map(|session| session.id.0).collect();
    let away = sqlx::query_scalar!(
        "select id from chats where id = any($1) and (archived or session_id <> all($2))",
        looked_at,
        &within
    );
    let away = away.fetch_all(&mut *connection).await?;
    let chats = chats_of(connection, &within, looked_at).await?;
    (all.archived.chats, all.chats) = chats.into_iter().partition(|chat| away.contains(&chat.id.0));
    all.battles = battles::entries(connection, &within).await?;
    all.runs = runs::entries(connection, &within).await?;
    Ok(all)
}

/// What is listed of these sessions: the newest, and all that are at work. And these chats, wherever they are.
pub(crate) async fn chats_of(
    connection: &mut PgConnection,
    sessions: &[Uuid],
    others: &[Uuid],
) -> Result<Vec<ChatEntry>> {
    let rows = sqlx::query!(
        r#"select chats.id, session_id, kind, title, archived, turn.id as "turn?", turn.status as "status?",
               turn.phase ? 'asking' as "asking?",
               array(select queued.id from queued_messages queued where queued.chat_id = chats.id
                     order by queued.place) as "queued!"
           from (
               select newest.id from unnest($1::uuid[]) as within (session_id) cross join lateral (
                   select id from chats where session_id = within.session_id and not archived
                   order by id desc limit $3
               ) newest
               union select chat_id from tasks where chat_id is not null and status <> 'settled' and work <> 'title'
               union select chat_id from queued_messages
               union select unnest($2::uuid[])
           ) listed
           join chats on chats.id = listed.id
           left join tasks turn
               on turn.chat_id = chats.id and turn.work <> 'title' and turn.status <> 'settled'
           where chats.id = any($2) or (not chats.archived and session_id = any($1))
           order by chats.id"#,
        sessions,
        others,
        CHATS_MAX as i64
    )
    .fetch_all(&mut *connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let running = row.status.as_deref() == Some("running");
            let asking = running && row.asking == Some(true);
            Ok(ChatEntry {
                id: ChatId(row.id),
                session: SessionId(row.session_id),
                kind: from_word(&row.kind)?,
                title: row.title,
                archived: row.archived,
                turn: row.turn.map(|task| Turn { task: TaskId(task), running, asking }),
                queued: row.queued.into_iter().map(MessageId).collect(),
            })
        })
        .collect()
}

//! Projects, sessions and chats are put away and brought back, and get other names.

use domain::{
    Rejected,
    archive::{Away, Of, need_idle, need_idle_chat, stop_first},
    chat::title,
    feed::Event,
    id::{BattleId, ChatId, ProjectId, SessionId},
    layout::Content,
    workspace::{self, ChatEntry, Lines, Project, Session},
};
use sqlx::{PgConnection, Postgres, Transaction};

use crate::{
    Db, Result, battles, chats,
    commit::{Committed, changed, finish},
    layouts, runs,
    workspace::{add_session, chats_of},
};

/// Refused while anything of it is at work.
pub async fn archive(db: &Db, of: Of) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let events = match of {
        Of::Chat(chat) => archive_chat(&mut tx, chat).await?,
        Of::Session(session) => {
            let locked = lock_sessions(&mut tx, None, Some(session)).await?;
            let (_, is_away) = locked.first().ok_or_else(|| Rejected::missing("session"))?;
            lock_inside(&mut tx, &locked).await?;
            need_idle(&lines(&mut tx, sessions(&locked)).await?)?;
            need_settled(&mut tx, &locked).await?;
            (!is_away).then_some(Event::SessionArchived { session }).into_iter().collect()
        }
        Of::Project(id) => {
            let (_, is_away, locked) = lock_project_with_sessions(&mut tx, id).await?;
            lock_inside(&mut tx, &locked).await?;
            need_idle(&lines(&mut tx, sessions(&locked)).await?)?;
            need_settled(&mut tx, &locked).await?;
            (!is_away).then_some(Event::ProjectArchived { project: id }).into_iter().collect()
        }
    };
    finish(tx, events).await
}

/// What lies in something that is put away comes back with that.
pub async fn restore(db: &Db, of: Of) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let events = match of {
        Of::Chat(id) => {
            // What is told of it is what it is then.
            let session = chats::session(&mut tx, id).await?;
            layouts::lock(&mut tx, session).await?;
            chats::lock(&mut tx, id).await?;
            let away = away_with_chat(&mut tx, id).await?;
            Away { chat: false, ..away }.need_none()?;
            let chat = ChatEntry { archived: false, ..entry(&mut tx, id).await? };
            away.chat.then_some(Event::ChatRestored { chat }).into_iter().collect()
        }
        Of::Session(id) => {
            let locked = lock_sessions(&mut tx, None, Some(id)).await?;
            let (session, is_away) = locked.first().ok_or_else(|| Rejected::missing("session"))?;
            let project = away_with_project(&mut tx, session.project).await?;
            project.need_none()?;
            lock_inside(&mut tx, &locked).await?;
            let lines = lines(&mut tx, sessions(&locked)).await?.into();
            is_away.then_some(Event::SessionRestored { session: id, lines }).into_iter().collect()
        }
        Of::Project(id) => restore_project(&mut tx, id).await?,
    };
    finish(tx, events).await
}

/// A project that was put away, when its folder is added again: back with its sessions. Gives the newest of those.
pub async fn restore_folder(db: &Db, path: &str) -> Result<Option<SessionId>> {
    let found = sqlx::query_scalar!("select id from projects where path = $1 and archived", path)
        .fetch_optional(&db.pool)
        .await?;
    let Some(project) = found.map(ProjectId) else { return Ok(None) };
    let mut tx = db.pool.begin().await?;
    let events = restore_project(&mut tx, project).await?;
    finish(tx, events).await?;
    let newest = sqlx::query_scalar!(
        "select id from sessions where project_id = $1 and not archived order by id desc limit 1",
        project.0
    )
    .fetch_optional(&db.pool)
    .await?;
    if let Some(session) = newest {
        return Ok(Some(SessionId(session)));
    }
    // Those that were put away by themselves keep their names.
    let before =
        sqlx::query_scalar!(r#"select count(*) as "count!" from sessions where project_id = $1"#, project.0)
            .fetch_one(&db.pool)
            .await?;
    Ok(Some(add_session(db, project, &workspace::numbered(before as usize + 1)).await?.id))
}

pub async fn rename(db: &Db, of: Of, name: &str) -> Result<Committed> {
    let event = match of {
        Of::Chat(chat) => {
            return crate::commit::chat(db, chat, domain::chat::Input::Rename { title: name.to_owned() })
                .await;
        }
        Of::Session(session) => Event::SessionRenamed { session, name: workspace::name(name)? },
        Of::Project(project) => Event::ProjectRenamed { project, name: workspace::name(name)? },
    };
    let mut tx = db.pool.begin().await?;
    match of {
        Of::Session(session) => drop(layouts::lock(&mut tx, session).await?),
        Of::Project(project) => drop(lock_project(&mut tx, project).await?),
        Of::Chat(_) => {}
    }
    finish(tx, vec![event]).await
}

pub(crate) async fn need_chat(tx: &mut Transaction<'_, Postgres>, id: ChatId) -> Result<()> {
    Ok(away_with_chat(tx, id).await?.need_none()?)
}

pub(crate) async fn need_battle(tx: &mut Transaction<'_, Postgres>, id: BattleId) -> Result<()> {
    // The battle is locked by now, and whoever puts its session away locks it too.
    let row = sqlx::query!(
        "select sessions.archived as session, projects.archived as project
         from battles join sessions on sessions.id = session_id join projects on projects.id = sessions.project_id
         where battles.id = $1",
        id.0
    )
    .fetch_one(&mut **tx)
    .await?;
    Ok(Away { session: row.session, project: row.project, ..Away::default() }.need_none()?)
}

/// Holds it, so that nothing begins in what is just being put away.
pub(crate) async fn need_session(connection: &mut PgConnection, id: SessionId) -> Result<()> {
    let row = sqlx::query!("select project_id, archived from sessions where id = $1 for share", id.0)
        .fetch_optional(&mut *connection)
        .await?
        .ok_or_else(|| Rejected::missing("session"))?;
    let project = away_with_project(connection, ProjectId(row.project_id)).await?;
    Ok(Away { session: row.archived, ..project }.need_none()?)
}

pub(crate) async fn need_project(connection: &mut PgConnection, id: ProjectId) -> Result<()> {
    Ok(away_with_project(connection, id).await?.need_none()?)
}

pub(crate) async fn record(connection: &mut PgConnection, of: Of, archived: bool) -> Result<()> {
    match of {
        Of::Chat(chat) => {
            sqlx::query!("update chats set archived = $2 where id = $1", chat.0, archived)
                .execute(connection)
                .await?
        }
        Of::Session(session) => {
            sqlx::query!("update sessions set archived = $2 where id = $1", session.0, archived)
                .execute(connection)
                .await?
        }
        Of::Project(project) => {
            sqlx::query!("update projects set archived = $2 where id = $1", project.0, archived)
                .execute(connection)
                .await?
        }
    };
    Ok(())
}

pub(crate) async fn record_name(connection: &mut PgConnection, of: Of, name: &str) -> Result<()> {
    match of {
        Of::Session(session) => {
            sqlx::query!("update sessions set name = $2 where id = $1", session.0, name)
                .execute(connection)
                .await?;
        }
        Of::Project(project) => {
            sqlx::query!("update projects set name = $2 where id = $1", project.0, name)
                .execute(connection)
                .await?;
        }
        // Its title has an event of its own.
        Of::Chat(_) => {}
    }
    Ok(())
}

/// Its tab closes, and can be reopened like any other.
async fn archive_chat(tx: &mut Transaction<'_, Postgres>, id: ChatId) -> Result<Vec<Event>> {
    let session = chats::session(tx, id).await?;
    let layout = layouts::lock(tx, session).await?;
    chats::lock(tx, id).await?;
    if away_with_chat(tx, id).await?.chat {
        return Ok(Vec::new());
    }
    need_idle_chat(&entry(tx, id).await?)?;
    let mut events = vec![Event::ChatArchived { chat: id }];
    events.extend(changed(session, layout.without(Content::Chat(id))?));
    Ok(events)
}

async fn restore_project(tx: &mut Transaction<'_, Postgres>, id: ProjectId) -> Result<Vec<Event>> {
    let (project, is_away, mut locked) = lock_project_with_sessions(tx, id).await?;
    // What was put away by itself stays so.
    locked.retain(|(_, is_away)| !is_away);
    lock_inside(tx, &locked).await?;
    let lines = Lines { projects: vec![project], ..lines(tx, sessions(&locked)).await? };
    Ok(is_away.then_some(Event::ProjectRestored { project: id, lines: lines.into() }).into_iter().collect())
}

/// Each with whether it was put away. Sessions before the project, as whoever begins something in one locks them; one
/// that was added before the project was locked needs no lock any more, since beginning something in it waits for that.
async fn lock_project_with_sessions(
    tx: &mut Transaction<'_, Postgres>,
    id: ProjectId,
) -> Result<(Project, bool, Vec<(Session, bool)>)> {
    lock_sessions(tx, Some(id), None).await?;
    let (project, is_away) = lock_project(tx, id).await?;
    let rows =
        sqlx::query!("select id, name, archived from sessions where project_id = $1 order by id", id.0)
            .fetch_all(&mut **tx)
            .await?;
    let session = |session, name| Session { id: SessionId(session), project: id, name };
    let all = rows.into_iter().map(|row| (session(row.id, row.name), row.archived)).collect();
    Ok((project, is_away, all))
}

/// Each with whether it was put away.
async fn lock_sessions(
    tx: &mut Transaction<'_, Postgres>,
    project: Option<ProjectId>,
    session: Option<SessionId>,
) -> Result<Vec<(Session, bool)>> {
    let rows = sqlx::query!(
        "select id, project_id, name, archived from sessions where project_id = $1 or id = $2 order by id for update",
        project.map(|id| id.0),
        session.map(|id| id.0)
    )
    .fetch_all(&mut **tx)
    .await?;
    let session = |id, project, name| Session { id: SessionId(id), project: ProjectId(project), name };
    Ok(rows.into_iter().map(|row| (session(row.id, row.project_id, row.name), row.archived)).collect())
}

/// Who notes a worktree of the project holds its key, with a chat locked: that is not waited for.
async fn lock_project(tx: &mut Transaction<'_, Postgres>, id: ProjectId) -> Result<(Project, bool)> {
    let row = sqlx::query!("select name, path, archived from projects where id = $1 for no key update", id.0)
        .fetch_optional(&mut **tx)
        .await?
        .ok_or_else(|| Rejected::missing("project"))?;
    Ok((Project { id, name: row.name, path: row.path }, row.archived))
}

/// Everything in which something could begin meanwhile.
async fn lock_inside(tx: &mut Transaction<'_, Postgres>, within: &[(Session, bool)]) -> Result<()> {
    let within: Vec<_> = within.iter().map(|(session, _)| session.id.0).collect();
    sqlx::query!("select 1 as one from chats where session_id = any($1) order by id for update", &within)
        .fetch_all(&mut **tx)
        .await?;
    sqlx::query!("select 1 as one from battles where session_id = any($1) order by id for update", &within)
        .fetch_all(&mut **tx)
        .await?;
    sqlx::query!("select 1 as one from flow_runs where session_id = any($1) order by id for update", &within)
        .fetch_all(&mut **tx)
        .await?;
    Ok(())
}

/// Somebody may be asked about a battle that is over.
async fn need_settled(tx: &mut Transaction<'_, Postgres>, within: &[(Session, bool)]) -> Result<()> {
    let within: Vec<_> = within.iter().map(|(session, _)| session.id.0).collect();
    let asked = sqlx::query_scalar!(
        "select left(prompt, 80) from battles where session_id = any($1) and exists (
             select from tasks where battle_id = battles.id and status <> 'settled') limit 1",
        &within
    )
    .fetch_optional(&mut **tx)
    .await?
    .flatten();
    Ok(asked.map_or(Ok(()), |prompt| Err(stop_first(&title::from_prompt(&prompt))))?)
}

fn sessions(locked: &[(Session, bool)]) -> Vec<Session> {
    locked.iter().map(|(session, _)| session.clone()).collect()
}

/// The sessions with what is listed of them.
async fn lines(connection: &mut PgConnection, sessions: Vec<Session>) -> Result<Lines> {
    let within: Vec<_> = sessions.iter().map(|session| session.id.0).collect();
    let chats = chats_of(connection, &within, &[]).await?;
    let battles = battles::entries(connection, &within).await?;
    let runs = runs::entries(connection, &within).await?;
    Ok(Lines { projects: Vec::new(), sessions, chats, battles, runs })
}

async fn entry(connection: &mut PgConnection, id: ChatId) -> Result<ChatEntry> {
    let entry = chats_of(connection, &[], &[id.0]).await?.pop();
    Ok(entry.ok_or_else(|| Rejected::missing("chat"))?)
}

async fn away_with_chat(connection: &mut PgConnection, id: ChatId) -> Result<Away> {
    let row = sqlx::query!(
        "select chats.archived as chat, sessions.archived as session, projects.archived as project
         from chats join sessions on sessions.id = session_id join projects on projects.id = project_id
         where chats.id = $1",
        id.0
    )
    .fetch_optional(connection)
    .await?
    .ok_or_else(|| Rejected::missing("chat"))?;
    Ok(Away { chat: row.chat, session: row.session, project: row.project })
}

async fn away_with_project(connection: &mut PgConnection, id: ProjectId) -> Result<Away> {
    let archived = sqlx::query_scalar!("select archived from projects where id = $1 for share", id.0)
        .fetch_optional(connection)
        .await?
        .ok_or_else(|| Rejected::missing("project"))?;
    Ok(Away { project: archived, ..Away::default() })
}

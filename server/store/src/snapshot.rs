//! What a page starts from: state, texts and the cursor they stand at, read in one transaction.

use std::collections::{BTreeMap, btree_map::Entry};

use domain::{
    Rejected,
    artifact::Artifact,
    feed::Snapshot,
    id::{ChatId, SessionId},
    layout::{Content, Layout},
    page::{KEPT_MAX, OpenSession, Page, SNAPSHOT_BYTES_MAX, Wanted},
    workspace::Workspace,
};
use sqlx::PgConnection;

use crate::{Db, Result, battles, chats, layouts, runs, streams::whole_characters, workspace};

/// Of a longer text the page gets the beginning at once and the rest through the feed.
const STREAM_BYTES_MAX: usize = 1024 * 1024;

/// What is wanted, with everything that lies in front beside it. `keep` names what of the same session the page
/// would like to go on with.
pub async fn page(db: &Db, wanted: Wanted, keep: &[Content]) -> Result<Snapshot<Page>> {
    let mut tx = db.pool.begin().await?;
    sqlx::query("set transaction isolation level repeatable read, read only").execute(&mut *tx).await?;
    let seq = sqlx::query_scalar!("select seq from feed_head").fetch_one(&mut *tx).await?;
    let (workspace, session) = match session_of(&mut tx, wanted).await? {
        Some(id) => {
            let layout = layouts::load(&mut tx, id).await?;
            let looked_at = layout.contents().into_iter().chain(wanted.content());
            let looked_at: Vec<_> = looked_at.filter_map(chat).map(|chat| chat.0).collect();
            let mut workspace = workspace::load(&mut tx, &looked_at).await?;
            workspace.session(id).ok_or_else(|| Rejected::missing("session"))?;
            if workspace.away(id, None).is_some() {
                // Its tabs have names all the same.
                workspace.archived.battles = battles::entries(&mut tx, &[id.0]).await?;
                workspace.archived.runs = runs::entries(&mut tx, &[id.0]).await?;
            }
            let session = open(&mut tx, &workspace, id, layout, wanted, keep).await?;
            (workspace, Some(session))
        }
        None => (workspace::load(&mut tx, &[]).await?, None),
    };
    let state = Page { workspace, session };
    let (mut streams, mut room) = (Vec::new(), SNAPSHOT_BYTES_MAX);
    for stream in state.streams_by_worth(wanted) {
        // One that has no room is named all the same: a page goes on with what it has of it.
        if room == 0 {
            streams.push((stream, String::new()));
            continue;
        }
        let bytes = sqlx::query_scalar!(
            r#"select substring(coalesce(body, (
                   select string_agg(chunk.body, ''::bytea order by chunk.start) from stream_chunks chunk
                   where chunk.task_id = $1 and chunk.attempt = $2), ''::bytea) from 1 for $3) as "bytes!"
               from streams where task_id = $1 and attempt = $2"#,
            stream.task.0,
            stream.attempt.0 as i32,
            room.min(STREAM_BYTES_MAX) as i32
        )
        .fetch_one(&mut *tx)
        .await?;
        room = room.saturating_sub(bytes.len());
        streams.push((stream, whole_characters(bytes)));
    }
    tx.commit().await?;
    Ok(Snapshot { seq, state, streams })
}

fn chat(content: Content) -> Option<ChatId> {
    match content {
        Content::Chat(chat) => Some(chat),
        _ => None,
    }
}

async fn session_of(connection: &mut PgConnection, wanted: Wanted) -> Result<Option<SessionId>> {
    Ok(Some(match wanted {
        Wanted::Start | Wanted::SettingsPage(_) => return Ok(None),
        Wanted::Chat(chat) => chats::session(connection, chat).await?,
        Wanted::Battle(battle) => battles::session(connection, battle).await?,
        Wanted::Run(run) | Wanted::Artifact(Artifact { run, .. }) => runs::session(connection, run).await?,
        Wanted::Session(session)
        | Wanted::Settings(session)
        | Wanted::Arena(session)
        | Wanted::Orchestrator(session) => session,
    }))
}

async fn open(
    connection: &mut PgConnection,
    workspace: &Workspace,
    id: SessionId,
    layout: Layout,
    wanted: Wanted,
    keep: &[Content],
) -> Result<OpenSession> {
    let in_front = layout.visible().into_iter().chain(wanted.content());
    let kept = keep.iter().copied().take(KEPT_MAX).filter(|content| match content {
        Content::Chat(chat) => workspace.chat(*chat).is_some_and(|chat| chat.session == id),
        Content::Battle(battle) => workspace.battle(*battle).is_some_and(|battle| battle.session == id),
        Content::Run(run) => workspace.run(*run).is_some_and(|run| run.session == id),
        Content::Arena | Content::Orchestrator | Content::Artifact(_) | Content::Settings => false,
    });
    let (mut chats, mut battles, mut runs) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for content in in_front.chain(kept) {
        match content {
            Content::Chat(chat) => {
                if let Entry::Vacant(place) = chats.entry(chat) {
                    place.insert(chats::load(connection, chat).await?);
                }
            }
            Content::Battle(battle) => {
                if let Entry::Vacant(place) = battles.entry(battle) {
                    place.insert(battles::load(connection, battle).await?);
                }
            }
            Content::Run(run) | Content::Artifact(Artifact { run, .. }) => {
                if let Entry::Vacant(place) = runs.entry(run) {
                    place.insert(runs::load(connection, run).await?);
                }
            }
            Content::Arena | Content::Orchestrator | Content::Settings => {}
        }
    }
    Ok(OpenSession { id, layout, chats, battles, runs })
}

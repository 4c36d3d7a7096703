//! The one place that changes state: lock, load, decide, write rows and events, tell everyone. A click, a
//! report, a restart and a second server all come through here.
//!
//! Locks are taken in one order (session, project, chat, tasks by id, files by id, stream, slot, head of the feed), so
//! two transactions never wait for each other.

mod ended;

use domain::{
    Rejected,
    attachment::Attachment,
    battle::{self, Battle, Fresh},
    chat::{Input, Kind},
    feed::{Event, Seq, StreamId},
    id::{AttachmentId, BattleId, ChatId, RunId, SessionId, TaskId},
    layout,
    output::Phase,
    persona::Persona,
    run,
    task::{self, Owner},
    tool::Ask,
    workspace::ChatEntry,
};
use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use crate::{
    Db, Result, archive, attachments, battles, chats, feed, layouts, record::record, runs, tasks, workspace,
};

pub use ended::{Ended, Loss, report, report_lost};

/// What a commit did.
#[derive(Debug, PartialEq)]
pub struct Committed {
    pub seq: Seq,
    pub events: Vec<Event>,
}

pub async fn chat(db: &Db, id: ChatId, input: Input) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let chat = chats::lock(&mut tx, id).await?;
    let begins = input.begins();
    let events = chat.decide(input)?;
    // Asked again for what is there already, nothing begins.
    if begins && !events.is_empty() {
        archive::need_chat(&mut tx, id).await?;
    }
    finish(tx, events).await
}

/// Opens, closes and moves the panes of a session.
pub async fn layout(db: &Db, session: SessionId, input: layout::Input) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let changes = layouts::lock(&mut tx, session).await?.decide(input)?;
    finish(tx, changed(session, changes)).await
}

/// Brings back what was closed last, and tells what that is.
pub async fn reopen(db: &Db, session: SessionId) -> Result<Option<layout::Content>> {
    let mut tx = db.pool.begin().await?;
    let layout = layouts::lock(&mut tx, session).await?;
    let changes = layout.decide(layout::Input::Reopen)?;
    finish(tx, changed(session, changes)).await?;
    Ok(layout.reopens())
}

/// A new chat, in a tab or a pane of its own.
pub async fn open_chat(db: &Db, session: SessionId, kind: Kind, target: layout::Target) -> Result<ChatEntry> {
    let mut tx = db.pool.begin().await?;
    let layout = layouts::lock(&mut tx, session).await?;
    let chat = workspace::insert_chat(&mut tx, session, kind).await?;
    let content = layout::Content::Chat(chat.id);
    let changes = layout.decide(layout::Input::Open { content, target })?;
    let mut events = vec![Event::ChatAdded { chat: chat.clone() }];
    events.extend(changed(session, changes));
    finish(tx, events).await?;
    Ok(chat)
}

pub(crate) fn changed(session: SessionId, changes: Vec<layout::Change>) -> Vec<Event> {
    changes.into_iter().map(|change| Event::LayoutChanged { session, change }).collect()
}

/// A question that comes with files: `input` makes it of what is known of them.
pub async fn chat_with_files(
    db: &Db,
    id: ChatId,
    files: &[AttachmentId],
    input: impl FnOnce(Vec<Attachment>) -> Input,
) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let chat = chats::lock(&mut tx, id).await?;
    let files = attachments::lock(&mut tx, id, files).await?;
    let events = chat.decide(input(files))?;
    if !events.is_empty() {
        archive::need_chat(&mut tx, id).await?;
    }
    finish(tx, events).await
}

/// What a running task is doing now.
pub async fn phase(db: &Db, stream: StreamId, phase: Phase, at_ms: i64) -> Result<Committed> {
    let phase = storable_phase(phase);
    let mut tx = db.pool.begin().await?;
    let StreamId { task, attempt } = stream;
    let events = match owner_of(&mut tx, task).await? {
        Owner::Battle(battle) => {
            let input = battle::Input::Phase { task, attempt, phase, at_ms };
            battles::lock(&mut tx, battle).await?.decide(input)?
        }
        // It changes nothing but the task, so nobody else's work is held up.
        Owner::Chat(_) | Owner::Run(_) => {
            tasks::lock(&mut tx, task).await?.decide(task::Input::Phase { attempt, phase, at_ms })?
        }
    };
    finish(tx, events).await
}

/// A running task has used so many tokens more. Only battles count them while they run.
pub async fn used(db: &Db, stream: StreamId, tokens: u64, at_ms: i64) -> Result<()> {
    let mut tx = db.pool.begin().await?;
    let StreamId { task, attempt } = stream;
    if let Owner::Battle(battle) = owner_of(&mut tx, task).await? {
        let battle = battles::lock(&mut tx, battle).await?;
        let fresh = Fresh::new(Uuid::now_v7());
        let events = battle.decide(battle::Input::Used { task, attempt, tokens, fresh, at_ms })?;
        finish(tx, events).await?;
    }
    Ok(())
}

pub async fn battle(db: &Db, id: BattleId, input: battle::Input) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let battle = battles::lock(&mut tx, id).await?;
    if input.begins() {
        archive::need_battle(&mut tx, id).await?;
    }
    finish(tx, battle.decide(input)?).await
}

/// A new battle, in the launcher's tab if it was launched there, or in one of its own.
/// What its personas said then is kept with it.
pub async fn start_battle(
    db: &Db,
    battle: Battle,
    personas: &[Persona],
    at_ms: i64,
    origin: layout::Origin,
) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let (id, session) = (battle.id, battle.session);
    let layout = layouts::lock(&mut tx, session).await?;
    archive::need_session(&mut tx, session).await?;
    let (maker, content) = (layout::Content::Arena, layout::Content::Battle(battle.id));
    let changes = layout.decide(layout::Input::Bind { maker, content, origin })?;
    let mut events = battle.begin(Fresh::new(Uuid::now_v7()), at_ms);
    events.extend(changed(session, changes));
    record(&mut tx, &events).await?;
    battles::keep_personas(&mut tx, id, personas).await?;
    let seq = feed::append(&mut tx, &events).await?;
    tx.commit().await?;
    Ok(Committed { seq, events })
}

/// A new run, in the launcher's tab if it was launched there, or in one of its own.
pub async fn start_run(db: &Db, shown: run::Shown, at_ms: i64, origin: layout::Origin) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let session = shown.session;
    let layout = layouts::lock(&mut tx, session).await?;
    archive::need_session(&mut tx, session).await?;
    let (maker, content) = (layout::Content::Orchestrator, layout::Content::Run(shown.id()));
    let changes = layout.decide(layout::Input::Bind { maker, content, origin })?;
    let mut events = shown.begin(Fresh::new(Uuid::now_v7()), at_ms)?;
    events.extend(changed(session, changes));
    finish(tx, events).await
}

pub async fn cancel_run(db: &Db, id: RunId, at_ms: i64) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let events = runs::lock_all(&mut tx, id).await?.cancel(Fresh::new(Uuid::now_v7()), at_ms)?;
    finish(tx, events).await
}

/// Writes what was decided and ends the transaction.
pub(crate) async fn finish(mut tx: Transaction<'_, Postgres>, events: Vec<Event>) -> Result<Committed> {
    if events.is_empty() {
        return Ok(Committed { seq: 0, events });
    }
    record(&mut tx, &events).await?;
    let seq = feed::append(&mut tx, &events).await?;
    tx.commit().await?;
    Ok(Committed { seq, events })
}

fn clean(text: String) -> String {
    text.replace('\0', "\u{fffd}")
}

/// What an agent asks in words that Postgres does not keep is asked all the same.
fn storable_phase(phase: Phase) -> Phase {
    match phase {
        Phase::Asking(ask) => {
            Phase::Asking(Ask { title: clean(ask.title), detail: clean(ask.detail), ..ask })
        }
        other => other,
    }
}

pub(crate) async fn owner_of(tx: &mut Transaction<'_, Postgres>, task: TaskId) -> Result<Owner> {
    let row = sqlx::query!("select chat_id, battle_id, run_id from tasks where id = $1", task.0)
        .fetch_optional(&mut **tx)
        .await?
        .ok_or(Rejected::Stale)?;
    tasks::owner(row.chat_id, row.battle_id, row.run_id)
}

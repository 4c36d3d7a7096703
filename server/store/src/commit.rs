//! The one place that changes state: lock, load, decide, write rows and events, tell everyone. A click, a
//! report, a restart and a second server all come through here.
//!
//! Locks are taken in one order (session, chat, tasks by id, files by id, stream, slot, head of the feed), so two
//! transactions never wait for each other.

use domain::{
    Rejected,
    attachment::Attachment,
    battle::{self, Battle, Fresh, Marks},
    catalogue::ModelRef,
    chat::{Input, Kind, Report},
    feed::{Event, Seq, StreamId},
    flow::answer,
    id::{AttachmentId, Attempt, BattleId, ChatId, RunId, SessionId, TaskId},
    layout,
    output::{Outcome, Phase},
    persona::Persona,
    run,
    task::{self, Owner, Work},
    tool::{self, Ask},
    transcript::Transcript,
    workspace::ChatEntry,
};
use futures::{StreamExt as _, stream};
use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use crate::{
    Db, Result, attachments, battles, chats, feed, layouts,
    record::record,
    results::{self, Made},
    runs, streams, tasks, workspace,
};

/// Fewer than there are connections, so that nobody else waits for one.
const LOST_AT_ONCE: usize = 8;

/// What a commit did.
#[derive(Debug, PartialEq)]
pub struct Committed {
    pub seq: Seq,
    pub events: Vec<Event>,
}

pub async fn chat(db: &Db, id: ChatId, input: Input) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let events = chats::lock(&mut tx, id).await?.decide(input)?;
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

fn changed(session: SessionId, changes: Vec<layout::Change>) -> Vec<Event> {
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
    finish(tx, events).await
}

/// The end of an attempt as the engine saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub task: TaskId,
    pub attempt: Attempt,
    pub outcome: Outcome,
    /// What a title task said.
    pub said: Option<String>,
    /// The model that would name the chat.
    pub title_model: Option<ModelRef>,
    pub at_ms: i64,
}

/// Attempts that nobody runs any more. A server that died may have left thousands, so several are under way at once.
pub async fn report_lost(db: &Db, lost: Vec<StreamId>, at_ms: i64) -> Vec<(StreamId, Result<Committed>)> {
    let report = |stream: StreamId| async move {
        let StreamId { task, attempt } = stream;
        let ended = Ended { task, attempt, outcome: Outcome::Lost, said: None, title_model: None, at_ms };
        (stream, report(db, ended).await)
    };
    stream::iter(lost).map(report).buffer_unordered(LOST_AT_ONCE).collect().await
}

/// Settles, requeues or refuses as stale. How long the output is, the table says: whoever reports may have
/// seen more than what survived.
pub async fn report(db: &Db, ended: Ended) -> Result<Committed> {
    let Ended { task, attempt, outcome, said, title_model, at_ms } = ended;
    let outcome = storable(outcome);
    let mut tx = db.pool.begin().await?;
    let events = match owner_of(&mut tx, task).await? {
        Owner::Chat(chat) => {
            let chat = chats::lock(&mut tx, chat).await?;
            let stream_len = lock_stream(&mut tx, StreamId { task, attempt }).await?;
            let title = title_model.map(|model| (TaskId(Uuid::now_v7()), model));
            chat.decide(Input::Report(Report { task, attempt, outcome, stream_len, said, title, at_ms }))?
        }
        Owner::Battle(battle) => {
            let battle = battles::lock(&mut tx, battle).await?;
            let stream = StreamId { task, attempt };
            let stream_len = lock_stream(&mut tx, stream).await?;
            let Made { changes, unkept, checked } = results::read(&mut tx, stream).await?;
            let work = battle.tasks.get(&task).map(|task| task.work);
            let (said, marks) = match work {
                Some(Work::Digest | Work::Judgement) => {
                    (Some(opinion_in(&mut tx, stream, stream_len).await?), Marks::default())
                }
                Some(Work::Contestant) if matches!(outcome, Outcome::Done { .. }) => {
                    made_in(&mut tx, stream, stream_len).await?
                }
                _ => (None, Marks::default()),
            };
            let fresh = Fresh::new(Uuid::now_v7());
            let report = battle::Report {
                task,
                attempt,
                outcome,
                stream_len,
                said,
                marks,
                changes,
                unkept,
                checked,
                fresh,
                at_ms,
            };
            battle.decide(battle::Input::Report(Box::new(report)))?
        }
        Owner::Run(run) => {
            let shown = runs::lock(&mut tx, run).await?;
            let stream = StreamId { task, attempt };
            let stream_len = lock_stream(&mut tx, stream).await?;
            let tally = runs::tally(&mut tx, stream).await?;
            let agent = shown.step_of(task).and_then(|step| step.step.agent());
            // The run is locked meanwhile, and what an agent said may be long: it is read once, when the step is over.
            let settled = shown.tasks.get(&task).filter(|task| task.is_settled_by(attempt, &outcome));
            let (mut kept, mut tried) = (None, 0);
            if let Some((agent, settled)) = agent.zip(settled) {
                let said = streams::tail_with(&mut tx, stream, stream_len, SAID_OF_STEP_BYTES_MAX).await?;
                let transcript = Transcript::read(&said.text);
                tried = tool::tries_to_change(&transcript);
                for (attempt, len) in &settled.lost {
                    let stream = StreamId { task, attempt: *attempt };
                    let said = streams::tail_with(&mut tx, stream, *len, SAID_OF_STEP_BYTES_MAX).await?;
                    tried += tool::tries_to_change(&Transcript::read(&said.text));
                }
                kept = matches!(outcome, Outcome::Done { .. })
                    .then(|| answer::kept(&transcript, agent.part, said.before));
            }
            let fresh = Fresh::new(Uuid::now_v7());
            let ended = run::Ended { task, attempt, outcome, stream_len, tally, tried, fresh, at_ms };
            let events = shown.ended(ended)?;
            if let Some(kept) = kept {
                runs::keep_output(&mut tx, task, &kept).await?;
            }
            events
        }
    };
    finish(tx, events).await
}

/// Nothing is appended while it is locked.
async fn lock_stream(tx: &mut Transaction<'_, Postgres>, stream: StreamId) -> Result<u64> {
    let len = sqlx::query_scalar!(
        "select len from streams where task_id = $1 and attempt = $2 for update",
        stream.task.0,
        stream.attempt.0 as i32
    )
    .fetch_optional(&mut **tx)
    .await?;
    Ok(len.unwrap_or(0) as u64)
}

/// An opinion that is longer is none. It stands at the end, after what was thought and noted on the way to it.
const OPINION_BYTES_MAX: u64 = 256 * 1024;

/// With all that its tools said. Of more, the end is read, because that is where the answer is.
const SAID_OF_STEP_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What survived of what was said, without reasoning.
async fn opinion_in(tx: &mut Transaction<'_, Postgres>, stream: StreamId, len: u64) -> Result<String> {
    let end = streams::tail_with(tx, stream, len, OPINION_BYTES_MAX).await?;
    if end.before > 0 && !Transcript::is_marked(&end.text) {
        // The middle of one endless thought, or of an opinion that is too long.
        return Ok(String::new());
    }
    Ok(Transcript::read(&end.text).text())
}

/// What a contestant said, where that can be known without reading all of it, and what marks it and its change.
async fn made_in(
    tx: &mut Transaction<'_, Postgres>,
    stream: StreamId,
    len: u64,
) -> Result<(Option<String>, Marks)> {
    let end = streams::tail_with(tx, stream, len, OPINION_BYTES_MAX).await?;
    let said = Transcript::read(&end.text).text();
    let is_whole = end.before == 0;
    let marks = results::marks(tx, stream, is_whole.then_some(said.trim())).await?;
    Ok(((is_whole || !said.trim().is_empty()).then_some(said), marks))
}

/// What a running task is doing now.
pub async fn phase(db: &Db, stream: StreamId, phase: Phase, at_ms: i64) -> Result<Committed> {
    let phase = storable_phase(phase);
    let mut tx = db.pool.begin().await?;
    let StreamId { task, attempt } = stream;
    let events = match owner_of(&mut tx, task).await? {
        Owner::Chat(chat) => {
            let chat = chats::lock(&mut tx, chat).await?;
            let task = chat.tasks.get(&task).ok_or(Rejected::Stale)?;
            task.decide(task::Input::Phase { attempt, phase, at_ms })?
        }
        Owner::Battle(battle) => {
            let input = battle::Input::Phase { task, attempt, phase, at_ms };
            battles::lock(&mut tx, battle).await?.decide(input)?
        }
        Owner::Run(run) => runs::lock(&mut tx, run).await?.phased(task, attempt, phase, at_ms)?,
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
    let events = battles::lock(&mut tx, id).await?.decide(input)?;
    finish(tx, events).await
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
    let (maker, content) = (layout::Content::Orchestrator, layout::Content::Run(shown.id()));
    let changes = layout.decide(layout::Input::Bind { maker, content, origin })?;
    let mut events = shown.begin(Fresh::new(Uuid::now_v7()), at_ms)?;
    events.extend(changed(session, changes));
    finish(tx, events).await
}

pub async fn cancel_run(db: &Db, id: RunId, at_ms: i64) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let events = runs::lock(&mut tx, id).await?.cancel(Fresh::new(Uuid::now_v7()), at_ms)?;
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

/// What a model server says of its failure must not keep the task from ending.
fn storable(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Failed { reason } => Outcome::Failed { reason: clean(reason) },
        Outcome::Void { reason } => Outcome::Void { reason: clean(reason) },
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

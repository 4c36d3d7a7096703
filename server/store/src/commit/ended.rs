//! How attempts end.

use domain::{
    Rejected,
    battle::{self, Fresh, Marks},
    chat::{Choice, Input, Report},
    feed::{Event, StreamId},
    flow::answer,
    id::{Attempt, TaskId},
    output::Outcome,
    run,
    task::{Owner, Work},
    tool,
    transcript::Transcript,
};
use futures::{StreamExt as _, stream};
use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use super::{Committed, clean, finish, owner_of};
use crate::{
    Db, Result, battles, chats,
    results::{self, Made},
    runs, streams, tasks,
};

/// Fewer than there are connections, so that nobody else waits for one.
const LOST_AT_ONCE: usize = 8;

/// The end of an attempt as the engine saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub task: TaskId,
    pub attempt: Attempt,
    pub outcome: Outcome,
    /// What a title task said.
    pub said: Option<String>,
    /// Who would name the chat.
    pub title: Option<Choice>,
    pub at_ms: i64,
}

/// Why an attempt counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Whoever ran it is known to be gone.
    Gone,
    /// Nobody renewed its lease. Somebody may do so while this is reported, and then it is not lost.
    Expired,
}

/// Attempts that nobody runs any more. A server that died may have left thousands, so several are under way at once.
pub async fn report_lost(
    db: &Db,
    lost: Vec<StreamId>,
    why: Loss,
    at_ms: i64,
) -> Vec<(StreamId, Result<Committed>)> {
    let report = |stream: StreamId| async move { (stream, report_one_lost(db, stream, why, at_ms).await) };
    stream::iter(lost).map(report).buffer_unordered(LOST_AT_ONCE).collect().await
}

async fn report_one_lost(db: &Db, stream: StreamId, why: Loss, at_ms: i64) -> Result<Committed> {
    let StreamId { task, attempt } = stream;
    let ended = Ended { task, attempt, outcome: Outcome::Lost, said: None, title: None, at_ms };
    let mut tx = db.pool.begin().await?;
    let events = decide_end(&mut tx, ended).await?;
    // The task's row is locked by now, so nobody renews it behind this look.
    if why == Loss::Expired && !tasks::is_expired(&mut tx, stream).await? {
        return Err(Rejected::Stale.into());
    }
    finish(tx, events).await
}

/// Settles, requeues or refuses as stale. How long the output is, the table says: whoever reports may have
/// seen more than what survived.
pub async fn report(db: &Db, ended: Ended) -> Result<Committed> {
    let mut tx = db.pool.begin().await?;
    let events = decide_end(&mut tx, ended).await?;
    finish(tx, events).await
}

async fn decide_end(tx: &mut Transaction<'_, Postgres>, ended: Ended) -> Result<Vec<Event>> {
    let Ended { task, attempt, outcome, said, title, at_ms } = ended;
    let outcome = storable(outcome);
    let events = match owner_of(tx, task).await? {
        Owner::Chat(chat) => {
            let chat = chats::lock(tx, chat).await?;
            let stream_len = lock_stream(tx, StreamId { task, attempt }).await?;
            let title = title.map(|choice| (TaskId(Uuid::now_v7()), choice));
            chat.decide(Input::Report(Report { task, attempt, outcome, stream_len, said, title, at_ms }))?
        }
        Owner::Battle(battle) => {
            let battle = battles::lock(tx, battle).await?;
            let stream = StreamId { task, attempt };
            let stream_len = lock_stream(tx, stream).await?;
            let Made { changes, unkept, checked } = results::read(tx, stream).await?;
            let work = battle.tasks.get(&task).map(|task| task.work);
            let (said, marks) = match work {
                Some(Work::Digest | Work::Judgement) => {
                    (Some(opinion_in(tx, stream, stream_len).await?), Marks::default())
                }
                Some(Work::Contestant) if matches!(outcome, Outcome::Done { .. }) => {
                    made_in(tx, stream, stream_len).await?
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
            let shown = runs::lock_for(tx, run, task).await?;
            let stream = StreamId { task, attempt };
            let stream_len = lock_stream(tx, stream).await?;
            let tally = runs::tally(tx, stream).await?;
            let agent = shown.step_of(task).and_then(|step| step.step.agent());
            // The run is locked meanwhile, and what an agent said may be long: it is read once, when the step is over.
            let settled = shown.tasks.get(&task).filter(|task| task.is_settled_by(attempt, &outcome));
            let (mut kept, mut tried) = (None, 0);
            if let Some((agent, settled)) = agent.zip(settled) {
                let said = streams::tail_with(tx, stream, stream_len, SAID_OF_STEP_BYTES_MAX).await?;
                let transcript = Transcript::read(&said.text);
                tried = tool::tries_to_change(&transcript);
                for (attempt, len) in &settled.lost {
                    let stream = StreamId { task, attempt: *attempt };
                    let said = streams::tail_with(tx, stream, *len, SAID_OF_STEP_BYTES_MAX).await?;
                    tried += tool::tries_to_change(&Transcript::read(&said.text));
                }
                kept = matches!(outcome, Outcome::Done { .. })
                    .then(|| answer::kept(&transcript, agent.part, said.before));
            }
            let fresh = Fresh::new(Uuid::now_v7());
            let ended = run::Ended { task, attempt, outcome, stream_len, tally, tried, fresh, at_ms };
            let events = shown.ended(ended)?;
            if let Some(kept) = kept {
                runs::keep_output(tx, task, &kept).await?;
            }
            events
        }
    };
    Ok(events)
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

/// What a model server says of its failure must not keep the task from ending.
fn storable(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Failed { reason } => Outcome::Failed { reason: clean(reason) },
        Outcome::Void { reason } => Outcome::Void { reason: clean(reason) },
        other => other,
    }
}

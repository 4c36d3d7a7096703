//! The log of events and how a process learns that it grew.

use domain::feed::{Envelope, Event, Seq, StreamId};
use sqlx::{
    PgPool, Postgres, Transaction,
    postgres::{PgListener, PgPoolOptions},
};

use crate::{Db, Result};

const EVENTS: &str = "boocode_events";
pub(crate) const STREAMS: &str = "boocode_streams";

/// How many events stay readable; a page that was away for longer gets a new snapshot.
pub const EVENTS_KEPT: i64 = 20_000;

/// Numbers the events and tells everyone. Last in every transaction: from here on the head row is locked.
pub(crate) async fn append(tx: &mut Transaction<'_, Postgres>, events: &[Event]) -> Result<Seq> {
    let count = events.len() as i64;
    let last = sqlx::query_scalar!("update feed_head set seq = seq + $1 returning seq", count)
        .fetch_one(&mut **tx)
        .await?;
    let bodies: Vec<serde_json::Value> =
        events.iter().map(serde_json::to_value).collect::<std::result::Result<_, _>>()?;
    sqlx::query!(
        "insert into events (seq, event)
         select $1 + row.nth, row.event from unnest($2::jsonb[]) with ordinality as row (event, nth)",
        last - count,
        &bodies
    )
    .execute(&mut **tx)
    .await?;
    sqlx::query!("select pg_notify($1, $2)", EVENTS, last.to_string()).execute(&mut **tx).await?;
    Ok(last)
}

/// The events after `seq`, oldest first; `None` when some of them are no longer kept or `seq` is ahead of us.
pub async fn read_after(db: &Db, seq: Seq, limit: i64) -> Result<Option<Vec<Envelope>>> {
    let rows = sqlx::query!(
        r#"select head.seq as "head!", events.seq as "seq?", event as "event?"
           from feed_head head
           left join lateral (
               select seq, event from events where seq > $1 order by seq limit $2
           ) events on true
           order by events.seq"#,
        seq,
        limit
    )
    .fetch_all(&db.pool)
    .await?;
    let head = rows.first().map_or(0, |row| row.head);
    let mut events = Vec::with_capacity(rows.len());
    for row in rows {
        if let (Some(seq), Some(event)) = (row.seq, row.event) {
            events.push(Envelope { seq, event: serde_json::from_value(event)? });
        }
    }
    let whole = match events.first() {
        Some(first) => first.seq == seq + 1,
        None => seq == head,
    };
    Ok(whole.then_some(events))
}

pub async fn head(db: &Db) -> Result<Seq> {
    Ok(sqlx::query_scalar!("select seq from feed_head").fetch_one(&db.pool).await?)
}

/// Drops what is older than the last `EVENTS_KEPT` events.
pub async fn trim(db: &Db) -> Result<u64> {
    let done = sqlx::query!("delete from events where seq <= (select seq from feed_head) - $1", EVENTS_KEPT)
        .execute(&db.pool)
        .await?;
    Ok(done.rows_affected())
}

/// What woke us. A notification that goes missing costs time, never data: the tables tell.
#[derive(Debug, PartialEq, Eq)]
pub enum Wake {
    Events,
    Stream(StreamId),
    /// The connection was lost and is back: anything may have happened meanwhile.
    Reconnected,
}

pub struct Listener {
    listener: PgListener,
    pool: PgPool,
}

impl Listener {
    pub async fn open(db: &Db) -> Result<Self> {
        // A connection of its own: one out of the pool would be missing there for good.
        let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(db.options.clone());
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen_all([EVENTS, STREAMS]).await?;
        Ok(Self { listener, pool })
    }

    /// Returns when its connection is closed. One that is only dropped goes on for a moment, and complains
    /// when the database stops meanwhile.
    pub async fn close(self) {
        drop(self.listener);
        self.pool.close().await;
    }

    pub async fn next(&mut self) -> Result<Wake> {
        loop {
            let Some(notification) = self.listener.try_recv().await? else { return Ok(Wake::Reconnected) };
            if notification.channel() == EVENTS {
                return Ok(Wake::Events);
            }
            if let Ok(stream) = notification.payload().parse() {
                return Ok(Wake::Stream(stream));
            }
        }
    }
}

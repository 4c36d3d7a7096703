//! SQL and nothing else. One file an aggregate; `commit` is the one place that changes state.

pub mod archive;
pub mod attachments;
pub mod battles;
mod chats;
pub mod commit;
mod error;
pub mod feed;
pub mod history;
pub mod instances;
pub mod keys;
mod layouts;
pub mod logins;
mod record;
pub mod results;
pub mod runs;
pub mod search;
pub mod settings;
pub mod setups;
pub mod slots;
pub mod snapshot;
pub mod streams;
pub mod tasks;
pub mod workspace;
pub mod worktrees;

use std::time::Duration;

use sqlx::{
    Connection as _, PgConnection,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions},
};
use tokio::time::timeout;

pub use chats::{Conversation, Said, SentFile, asks_again, conversation, retries_again};
pub use error::Error;

pub type Result<T> = std::result::Result<T, Error>;

const CONNECTIONS_MAX: u32 = 16;
/// Opened at the start, when nobody waits for them: under load a login takes long, and whoever needs a connection
/// waits with it.
const CONNECTIONS_READY: u32 = 8;
const CONNECTION_WAIT_MAX: Duration = Duration::from_secs(10);
/// How long a connection may take to say that it is there.
const PING_WAIT_MAX: Duration = Duration::from_secs(3);

/// The database, cheap to clone.
#[derive(Clone, Debug)]
pub struct Db {
    pub(crate) pool: PgPool,
    options: PgConnectOptions,
}

/// The connections that this process keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    pub open: u64,
    pub idle: u64,
    pub max: u64,
}

impl Db {
    /// Connects and brings the tables up to date.
    pub async fn open(options: PgConnectOptions) -> Result<Self> {
        let db = Self::connect(options, CONNECTIONS_READY).await?;
        sqlx::migrate!("../../migrations").run(&db.pool).await?;
        Ok(db)
    }

    /// Connects to tables that somebody else keeps.
    pub async fn attach(options: PgConnectOptions) -> Result<Self> {
        Self::connect(options, 0).await
    }

    async fn connect(options: PgConnectOptions, ready: u32) -> Result<Self> {
        // The feed's head row is held to the end of every commit. A process that stops between the two must
        // not hold up all the others, so Postgres ends its transaction.
        let options = options.options([
            ("idle_in_transaction_session_timeout", "10s"),
            ("lock_timeout", "10s"),
            ("statement_timeout", "60s"),
            ("tcp_keepalives_idle", "10"),
            ("tcp_keepalives_interval", "5"),
            ("tcp_keepalives_count", "3"),
        ]);
        let is_on_a_network = options.get_socket().is_none() && !options.get_host().starts_with('/');
        let pool = PgPoolOptions::new()
            .test_before_acquire(false)
            .before_acquire(|connection, _| Box::pin(answers(connection)))
            // A query that was given up may have been so because the connection is dead, and nobody says so: the pool
            // would wait for its end for a quarter of an hour, and lack it until then.
            .after_release(move |connection, _| {
                Box::pin(async move { Ok(!is_on_a_network || answers(connection).await?) })
            })
            .max_connections(CONNECTIONS_MAX)
            .min_connections(ready)
            // One that is closed for its age is replaced in the middle of somebody's request.
            .max_lifetime(None)
            .idle_timeout(None)
            .acquire_timeout(CONNECTION_WAIT_MAX)
            .connect_with(options.clone())
            .await?;
        Ok(Self { pool, options })
    }

    pub fn connections(&self) -> Connections {
        Connections {
            open: u64::from(self.pool.size()),
            idle: self.pool.num_idle() as u64,
            max: u64::from(self.pool.options().get_max_connections()),
        }
    }

    pub async fn close(&self) {
        self.pool.close().await;
    }
}

async fn answers(connection: &mut PgConnection) -> sqlx::Result<bool> {
    match timeout(PING_WAIT_MAX, connection.ping()).await {
        Ok(answer) => answer.map(|()| true),
        Err(late) => Err(sqlx::Error::Io(late.into())),
    }
}

/// For tests that get a migrated database from `#[sqlx::test]`.
impl From<PgPool> for Db {
    fn from(pool: PgPool) -> Self {
        let options = (*pool.connect_options()).clone();
        Self { pool, options }
    }
}

//! SQL and nothing else. One file an aggregate; `commit` is the one place that changes state.

mod chats;
pub mod commit;
mod error;
pub mod feed;
pub mod instances;
pub mod logins;
mod record;
pub mod slots;
pub mod snapshot;
pub mod streams;
pub mod tasks;
pub mod workspace;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use std::time::Duration;

pub use chats::{Conversation, conversation};
pub use error::Error;

pub type Result<T> = std::result::Result<T, Error>;

const CONNECTIONS_MAX: u32 = 16;
const CONNECTION_WAIT_MAX: Duration = Duration::from_secs(10);

/// The database, cheap to clone.
#[derive(Clone, Debug)]
pub struct Db {
    pub(crate) pool: PgPool,
    options: PgConnectOptions,
}

impl Db {
    /// Connects and brings the tables up to date.
    pub async fn open(options: PgConnectOptions) -> Result<Self> {
        let db = Self::attach(options).await?;
        sqlx::migrate!("../../migrations").run(&db.pool).await?;
        Ok(db)
    }

    /// Connects to tables that somebody else keeps.
    pub async fn attach(options: PgConnectOptions) -> Result<Self> {
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
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(CONNECTION_WAIT_MAX)
            .connect_with(options.clone())
            .await?;
        Ok(Self { pool, options })
    }

    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// For tests that get a migrated database from `#[sqlx::test]`.
impl From<PgPool> for Db {
    fn from(pool: PgPool) -> Self {
        let options = (*pool.connect_options()).clone();
        Self { pool, options }
    }
}

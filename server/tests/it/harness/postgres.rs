//! One Postgres for all tests of this binary, and a database of its own for each.

use std::path::PathBuf;

use server::{data_dir::DataDir, postgres::Embedded};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::sync::OnceCell;
use uuid::Uuid;

static CLUSTER: OnceCell<Cluster> = OnceCell::const_new();

struct Cluster {
    options: PgConnectOptions,
    /// Kept until the process ends, and Postgres with it.
    _embedded: Option<Embedded>,
}

/// The address of a new, empty database.
pub async fn new_database() -> String {
    let cluster = CLUSTER.get_or_init(start).await;
    let name = format!("test_{}", Uuid::now_v7().simple());
    let mut connection = PgConnection::connect_with(&cluster.options).await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(format!("create database {name}")))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    cluster.options.clone().database(&name).to_url_lossy().to_string()
}

/// The one that the test run already has, or one of our own.
async fn start() -> Cluster {
    if let Ok(url) = std::env::var("BOOCODE_TEST_DATABASE_URL") {
        return Cluster { options: url.parse().unwrap(), _embedded: None };
    }
    let folder: PathBuf = tempfile::Builder::new().prefix("boocode-test-pg-").tempdir().unwrap().keep();
    let embedded = Embedded::start(&DataDir::open(&folder).unwrap(), None).await.unwrap();
    Cluster { options: embedded.connect_options(), _embedded: Some(embedded) }
}

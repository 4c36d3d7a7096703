//! Which connections are there before anybody needs them.

use std::time::Duration;

use sqlx::PgPool;
use store::Db;

use super::scene::within_limit;

#[sqlx::test(migrations = "../../migrations")]
async fn a_server_has_connections_ready_and_a_visitor_only_its_own(pool: PgPool) {
    let options = (*pool.connect_options()).clone();
    let visitor = Db::attach(options.clone()).await.unwrap();
    let server = Db::open(options).await.unwrap();
    within_limit(async {
        while server.connections().idle < 8 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert_eq!(visitor.connections().open, 1);
    server.close().await;
    visitor.close().await;
}

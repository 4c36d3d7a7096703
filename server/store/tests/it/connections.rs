//! Which connections are there before anybody needs them.

use std::{path::PathBuf, time::Duration};

use domain::output::Phase;
use sqlx::{PgPool, postgres::PgConnectOptions};
use store::{Db, commit, tasks};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, UnixStream},
    sync::watch,
    time::timeout,
};

use super::{
    leases::until_waiting,
    scene::{Scene, within_limit},
};

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

/// A network that swallows what is said on the connections that there are, and then lets new ones through: what a
/// failover looks like from afar.
#[sqlx::test(migrations = "../../migrations")]
async fn connections_that_fall_silent_are_replaced(pool: PgPool) {
    let (silence, falls) = watch::channel(false);
    let scene = Scene::new(pool.clone()).await;
    let afar = Db::attach(relayed(&pool.connect_options(), falls).await).await.unwrap();
    let (_, stream) = scene.start("cloud").await;
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("select from tasks for update").execute(&mut *holder).await.unwrap();
    // Every connection waits for a row that somebody holds when the silence falls, and then nobody waits any more.
    let max = afar.connections().max as i64;
    let asked = (0..max).map(|_| commit::phase(&afar, stream, Phase::Loading, 5));
    let all = timeout(Duration::from_secs(20), futures::future::join_all(asked));
    tokio::select! {
        _ = all => panic!("the row was held"),
        () = until_waiting(&pool, max) => silence.send_replace(true),
    };
    holder.rollback().await.unwrap();
    let counted = async { while tasks::count(&afar).await.is_err() {} };
    within_limit(counted).await;
}

/// The way to the same database through a relay, whose connections are as if cut off once `falls` is true; those that
/// come later are not.
async fn relayed(options: &PgConnectOptions, falls: watch::Receiver<bool>) -> PgConnectOptions {
    let port = options.get_port();
    let folder = options.get_socket().cloned().unwrap_or_else(|| PathBuf::from(options.get_host()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let relay = PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(listener.local_addr().unwrap().port())
        .username(options.get_username())
        .database(options.get_database().unwrap());
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut server = UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await.unwrap();
            let mut falls = falls.clone();
            let is_new = *falls.borrow_and_update();
            tokio::spawn(async move {
                tokio::select! {
                    _ = copy_bidirectional(&mut client, &mut server) => {}
                    _ = falls.changed(), if !is_new => {
                        drop(server);
                        std::future::pending::<()>().await;
                    }
                }
            });
        }
    });
    relay
}

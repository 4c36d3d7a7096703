//! `boocode serve`: everything started in order, and stopped in the reverse one.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context as _;
use sqlx::postgres::PgConnectOptions;
use store::Db;
use time::OffsetDateTime;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::{interval, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    auth::Auth,
    backend::http_client,
    config::Config,
    data_dir::DataDir,
    engine::Engine,
    http::{
        feed::Feed,
        guard::{Gate, Site},
        router::router,
    },
    live::Live,
    models::Models,
    ports::{Ports, ProjectFolders, ServedModels},
    postgres::Embedded,
    project_folder::AllowedRoots,
};

/// Open connections are told to end; those that do not are cut off.
const DRAIN_WAIT_MAX: Duration = Duration::from_secs(3);
const STOP_WAIT_MAX: Duration = Duration::from_secs(15);
const REVOCATIONS_EVERY: Duration = Duration::from_secs(3);

pub async fn serve(config: Config) -> anyhow::Result<()> {
    let data_dir = DataDir::open(&config.data_dir)?;
    // Bound before anything else is started: a port in use is found at once, and costs nothing.
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("cannot listen on {}; choose another with --port", config.listen))?;
    let address = listener.local_addr()?;
    let shutdown = CancellationToken::new();
    let client = http_client()?;
    let models = Models::start(&config, client.clone(), shutdown.clone());

    let (embedded, options) = database(&config, &data_dir).await?;
    let db = Db::open(options).await?;
    let live = Arc::new(Live::default());
    let place = data_dir.identity()?;
    let default_model = config.default_model.clone();
    let engine = Engine::start(
        db.clone(),
        Arc::clone(&live),
        models.clone(),
        client,
        default_model.clone(),
        &place,
        shutdown.clone(),
    )
    .await?;

    let public_url = config.public_url.as_deref().map(str::parse).transpose()?;
    let site = Site::new(address.port(), public_url.as_ref())?;
    let gate = Arc::new(Gate { site, auth: Auth::new(Arc::new(db.clone())) });
    let link = gate.site.login_link(&gate.auth.issue_token(OffsetDateTime::now_utc()).await?);
    let folders = ProjectFolders {
        home: std::env::var_os("HOME").map(Into::into),
        roots: AllowedRoots::new(&config.allowed_roots)?,
    };
    let ports = Ports {
        catalogue: Arc::new(ServedModels { models: models.clone(), default_model }),
        folders: Arc::new(folders),
    };
    let feed = Feed { db: db.clone(), live, gate: Arc::clone(&gate), shutdown: shutdown.clone() };
    let service = router(feed, ports).into_make_service_with_connect_info::<SocketAddr>();
    let drained = shutdown.clone();
    let serving = tokio::spawn(
        axum::serve(listener, service)
            .with_graceful_shutdown(async move { drained.cancelled().await })
            .into_future(),
    );
    tokio::spawn(close_revoked(gate, shutdown.clone()));
    data_dir.announce(&format!("http://{address}"))?;
    println!("BooCode is ready: {link}");

    let reason = until_stopped(embedded.as_ref()).await;
    tracing::info!(reason = reason.as_ref().copied().unwrap_or("Postgres is gone"), "stopping");
    shutdown.cancel();
    tokio::spawn(give_up_when_asked_again());
    if timeout(DRAIN_WAIT_MAX, serving).await.is_err() {
        tracing::warn!("some connections did not end in time");
    }
    let stopped = timeout(STOP_WAIT_MAX, async { tokio::join!(engine.stopped(), models.stopped()) }).await;
    if stopped.is_err() {
        tracing::warn!("some tasks did not end in time; the next start takes them up");
    }
    if timeout(STOP_WAIT_MAX, db.close()).await.is_err() {
        tracing::warn!("some connections to the database did not close in time");
    }
    if let Some(embedded) = embedded {
        embedded.stop().await?;
    }
    reason.map(drop)
}

/// Whoever asks twice does not want to wait. What is left behind, the next start clears up.
async fn give_up_when_asked_again() {
    if until_stopped(None).await.is_ok() {
        std::process::exit(130);
    }
}

async fn database(
    config: &Config,
    data_dir: &DataDir,
) -> anyhow::Result<(Option<Embedded>, PgConnectOptions)> {
    match &config.database_url {
        Some(url) => {
            let options = url.expose().parse().context("the database URL is not one that Postgres takes")?;
            Ok((None, options))
        }
        None => {
            let embedded = Embedded::start(data_dir, config.pg_bin_dir.clone()).await?;
            let options = embedded.connect_options();
            Ok((Some(embedded), options))
        }
    }
}

/// Until a person, or the system, says stop, or our own Postgres is gone for good.
async fn until_stopped(embedded: Option<&Embedded>) -> anyhow::Result<&'static str> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let failed = async {
        match embedded {
            Some(embedded) => embedded.failed().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = interrupt.recv() => Ok("interrupted"),
        _ = terminate.recv() => Ok("terminated"),
        error = failed => Err(anyhow::anyhow!("Postgres is gone: {error}")),
    }
}

/// A session that was revoked on another server, or that ran out, loses its connections here too.
async fn close_revoked(gate: Arc<Gate>, shutdown: CancellationToken) {
    let mut ticks = interval(REVOCATIONS_EVERY);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shutdown.cancelled() => return,
        }
        if let Err(error) = gate.auth.close_revoked(OffsetDateTime::now_utc()).await {
            tracing::debug!(%error, "revoked sessions could not be looked up");
        }
    }
}

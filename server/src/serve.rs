//! `boocode serve`: everything started in order, and stopped in the reverse one.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context as _;
use sqlx::postgres::PgConnectOptions;
use store::Db;
use time::OffsetDateTime;
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
    time::{interval, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    arena::{self, Results},
    auth::{Auth, TOKEN_LIFETIME},
    backend::http_client,
    browsers::Browsers,
    coder::{self, Changes, Coders, login::Holders},
    config::Config,
    data_dir::DataDir,
    diffs::{Diffs, Grammars},
    engine::{Engine, Means},
    files::ProjectFiles,
    http::{
        feed::Feed,
        guard::{Gate, Site},
        listener::without_delay,
        router::router,
    },
    keys::Keys,
    live::Live,
    models::Models,
    orchestrator,
    personas::Personas,
    ports::{Ports, ProjectFolders, ServedModels},
    postgres::Embedded,
    project_folder::AllowedRoots,
    secret::Secret,
    settings::{FlowsConfigured, Settings},
};

/// Open connections are told to end; those that do not are cut off.
const DRAIN_WAIT_MAX: Duration = Duration::from_secs(3);
/// An attempt has 12 s to stop by itself; what it has running is then ended, which takes up to 8 s more.
const STOP_WAIT_MAX: Duration = Duration::from_secs(25);
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(15);
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

    let Database { embedded, options, passwords } = database(&config, &data_dir).await?;
    let db = Db::open(options).await?;
    let live = Arc::new(Live::default());
    let place = data_dir.identity()?;
    let keys = Keys::open(&data_dir, place.clone())?;
    let agents = coder::agents::all(&config.agents);
    let settings = Settings::new(
        db.clone(),
        models.clone(),
        client.clone(),
        config.clone(),
        keys,
        address,
        Holders { host: place.clone(), agents: agents.clone() },
    );
    let settings = Arc::new(settings);
    let roots = AllowedRoots::new(&config.allowed_roots)?;
    let files = Arc::new(ProjectFiles::new(roots.clone()));
    let personas = Arc::new(Personas::new(files.clone()));
    let coders = Arc::new(
        Coders::start(
            db.clone(),
            client.clone(),
            data_dir.path(),
            &place,
            config.web_search_url.clone(),
            agents,
            shutdown.clone(),
        )
        .await?,
    );
    coders.sweep().await?;
    coders.sweep_recorded().await?;
    let results = Results {
        db: db.clone(),
        models: models.clone(),
        secrets: passwords.clone(),
        written: Arc::default(),
    };
    let means = Means {
        db: db.clone(),
        live: Arc::clone(&live),
        models: models.clone(),
        personas: Arc::clone(&personas),
        coders: Arc::clone(&coders),
        results: results.clone(),
        client,
        secrets: passwords,
    };
    let engine = Engine::start(means, &place, shutdown.clone()).await?;
    tokio::spawn(Arc::clone(&settings).follow(shutdown.clone()));

    let public_url = config.public_url.as_deref().map(str::parse).transpose()?;
    let site = Site::new(address, public_url.as_ref())?.behind(&config.trusted_proxies);
    let gate = Arc::new(Gate { site, auth: Auth::new(Arc::new(db.clone())) });
    let link =
        gate.site.login_link(&gate.auth.issue_token(OffsetDateTime::now_utc(), TOKEN_LIFETIME, None).await?);
    let folders = ProjectFolders { home: std::env::var_os("HOME").map(Into::into), roots };
    let offers: Arc<dyn app::ports::Coders> = Arc::new(coder::Port(Arc::clone(&coders)));
    let ports = Ports {
        catalogue: Arc::new(ServedModels { models: models.clone(), settings: Arc::clone(&settings) }),
        folders: Arc::new(folders),
        files,
        personas: Arc::clone(&personas) as Arc<dyn app::ports::Personas>,
        settings,
        browsers: Arc::new(Browsers::new(Arc::clone(&gate))),
        diffs: Arc::new(Diffs::new(Arc::new(Changes(Arc::clone(&coders))))),
        code_colours: Arc::new(Grammars),
        orchestrator: Arc::new(orchestrator::Port {
            db: db.clone(),
            coders: Arc::clone(&coders),
            offers: Arc::clone(&offers),
            models: models.clone(),
            configured: FlowsConfigured::of(&config),
        }),
        arena: Arc::new(arena::Port {
            db: db.clone(),
            coders,
            offers: Arc::clone(&offers),
            personas,
            models: models.clone(),
            results,
            launching: Arc::default(),
        }),
        coders: offers,
    };
    let feed = Feed { db: db.clone(), live, gate: Arc::clone(&gate), shutdown: shutdown.clone() };
    let service = router(feed, ports, engine.tally()).into_make_service_with_connect_info::<SocketAddr>();
    let drained = shutdown.clone();
    let serving = tokio::spawn(
        axum::serve(without_delay(listener), service)
            .with_graceful_shutdown(async move { drained.cancelled().await })
            .into_future(),
    );
    tokio::spawn(close_revoked(gate, shutdown.clone()));
    // Heard from before anybody can know that it is ready: whoever stops it at once stops it cleanly too.
    let mut asked = Asked::listen()?;
    data_dir.announce(&format!("http://{address}"))?;
    println!("BooCode is ready: {link}");

    let reason = until_stopped(&mut asked, embedded.as_ref()).await;
    tracing::info!(reason = reason.as_ref().copied().unwrap_or("Postgres is gone"), "stopping");
    shutdown.cancel();
    tokio::spawn(give_up_when_asked_again(asked));
    if timeout(DRAIN_WAIT_MAX, serving).await.is_err() {
        tracing::warn!("some connections did not end in time");
    }
    let stopped = timeout(STOP_WAIT_MAX, async { tokio::join!(engine.stopped(), models.stopped()) }).await;
    if stopped.is_err() {
        tracing::warn!("some tasks did not end in time; the next start takes them up");
    }
    if timeout(CLOSE_WAIT_MAX, db.close()).await.is_err() {
        tracing::warn!("some connections to the database did not close in time");
    }
    if let Some(embedded) = embedded {
        embedded.stop().await?;
    }
    reason.map(drop)
}

/// Whoever asks twice does not want to wait. What is left behind, the next start clears up.
async fn give_up_when_asked_again(mut asked: Asked) {
    asked.once().await;
    std::process::exit(130);
}

/// Where the tables are, and the passwords that nobody may read in an answer.
struct Database {
    embedded: Option<Embedded>,
    options: PgConnectOptions,
    passwords: Vec<Secret>,
}

async fn database(config: &Config, data_dir: &DataDir) -> anyhow::Result<Database> {
    match &config.database_url {
        Some(url) => {
            let options = url.expose().parse().context("the database URL is not one that Postgres takes")?;
            Ok(Database { embedded: None, options, passwords: url.passwords().to_vec() })
        }
        None => {
            let embedded = Embedded::start(data_dir, config.pg_bin_dir.clone()).await?;
            let (options, passwords) = (embedded.connect_options(), vec![embedded.password()]);
            Ok(Database { embedded: Some(embedded), options, passwords })
        }
    }
}

/// A person, or the system, saying stop.
struct Asked {
    interrupt: Signal,
    terminate: Signal,
}

impl Asked {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn once(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "interrupted",
            _ = self.terminate.recv() => "terminated",
        }
    }
}

/// Until somebody asks for it, or our own Postgres is gone for good.
async fn until_stopped(asked: &mut Asked, embedded: Option<&Embedded>) -> anyhow::Result<&'static str> {
    let failed = async {
        match embedded {
            Some(embedded) => embedded.failed().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        reason = asked.once() => Ok(reason),
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

//! What Settings keeps in the database, how it takes effect on this server, and what the pages are told of it.

mod facts;
mod flows;
mod kept_answers;
mod listing;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use app::{error::AppError, ports};
use domain::{
    Rejected,
    catalogue::{ModelRef, ServerState},
    settings::{Checked, DefaultModel, Draft, Fact, Fault, Look, ModelSettings, Origin, TypedKey},
};
use futures::future::{BoxFuture, FutureExt as _};
use reqwest::Client;
use store::{
    Db,
    keys::SealedKey,
    settings::{Kept, ServerRow},
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    coder::login::{Holders, Logins},
    config::{Config, ConfiguredServer, Key, UNENCRYPTED, from_draft},
    keys::Keys,
    models::{self, Added, Models, Seen, hostname},
    secret::Secret,
    sentence::sentence,
};
pub use flows::{FlowsChosen, FlowsConfigured, flow_model};
use kept_answers::KeptAnswers;

/// A notification that goes missing costs at most this long.
const POLL: Duration = Duration::from_secs(10);
const LOAD_WAIT_MAX: Duration = Duration::from_secs(10);

pub struct Settings {
    db: Db,
    models: Models,
    client: Client,
    config: Config,
    keys: Keys,
    address: SocketAddr,
    holders: Holders,
    answers: KeptAnswers,
}

impl Settings {
    pub fn new(
        db: Db,
        models: Models,
        client: Client,
        config: Config,
        keys: Keys,
        address: SocketAddr,
        holders: Holders,
    ) -> Self {
        Self { db, models, client, config, keys, address, holders, answers: KeptAnswers::default() }
    }

    /// Keeps the catalogue at what the tables say, whichever server changed them.
    pub async fn follow(self: Arc<Self>, shutdown: CancellationToken) {
        let bell = self.models.settings_bell();
        loop {
            match timeout(LOAD_WAIT_MAX, self.take_over()).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::warn!(%error, "the settings could not be read; trying again"),
                Err(_) => tracing::warn!("the settings could not be read in time; trying again"),
            }
            tokio::select! {
                _ = timeout(POLL, bell.notified()) => {}
                () = shutdown.cancelled() => return,
            }
        }
    }

    /// Reads the tables and hands them to the catalogue, which asks the new servers in its own time.
    pub async fn take_over(&self) -> store::Result<Kept> {
        let kept = store::settings::load(&self.db).await?;
        let logins = Logins::load(&self.db, &self.holders).await?;
        let ours = kept.servers.iter().filter(|row| listing::is_of_this_host(row));
        let parsed = ours.map(|row| parse_row(row, &self.keys, &kept));
        self.models.set_added(Added {
            servers: parsed.filter_map(Result::ok).collect(),
            removed: kept.removed.iter().cloned().chain(logins.unused).collect(),
            default_model: kept.default_model.clone(),
            accounts: logins.used,
        });
        Ok(kept)
    }

    async fn show_models(&self, checked: Option<Uuid>) -> Result<ModelSettings, AppError> {
        let kept = self.take_over().await?;
        let work = store::settings::work(&self.db).await?;
        let set = self.config.default_model.clone().or(kept.default_model.clone());
        let origin = match (&self.config.default_model, &kept.default_model) {
            (Some(_), _) => self.config.source("default_model").into(),
            (None, Some(_)) => Origin::Settings,
            (None, None) => Origin::Default,
        };
        let offered: Vec<ModelRef> = self
            .models
            .catalogue()
            .all()
            .filter(|(server, _)| server.check_chat().is_ok())
            .map(|(_, model)| model)
            .collect();
        Ok(ModelSettings {
            servers: listing::entries(&self.config, &self.models, &self.keys, &kept, &work),
            default_model: DefaultModel {
                set,
                origin,
                used: self.models.default_model(),
                offered: offered.clone(),
            },
            flows: self.show_flows(offered).await?,
            checked: checked.and_then(|id| self.answers.find(id)),
        })
    }

    async fn check_draft(&self, draft: Draft, key: TypedKey, add: bool) -> Result<Checked, AppError> {
        let kept = self.take_over().await?;
        let parsed = match add {
            true => from_draft(&draft, &environment),
            // An address can be tested before it has a name.
            false => from_draft(&Draft { name: "tested".into(), ..draft.clone() }, &environment),
        };
        let mut faults = Vec::new();
        let server = match parsed.and_then(|server| with_typed(server, &key)) {
            Ok(server) => Some(server),
            Err(problems) => {
                faults.extend(problems.into_iter().map(|(field, words)| Fault { field, words }));
                None
            }
        };
        if let Some(server) = server.as_ref().filter(|_| add) {
            faults.extend(listing::clashes(server, &self.config, &self.models, &kept));
        }
        let mut checked = Checked { draft: repeatable(draft, &faults), faults, look: None, added: false };
        if let Some(server) = server.filter(|_| checked.faults.is_empty()) {
            if add {
                let sealed = self.sealed(&server)?;
                store::settings::add_server(&self.db, &row(&checked.draft, &server), sealed.as_ref()).await?;
                checked.added = true;
                self.look_again().await?;
                checked.look = self.models.catalogue().server(&server.name).map(Look::from);
            } else {
                checked.look = Some(self.look_at(&server).await);
            }
        }
        Ok(checked)
    }

    /// A key that was typed, as it is kept.
    fn sealed(&self, server: &ConfiguredServer) -> Result<Option<SealedKey>, AppError> {
        let Key::Kept { value } = &server.key else { return Ok(None) };
        let sealed = self.keys.seal(server, value);
        sealed.map(Some).ok_or_else(|| AppError::Invalid("The key could not be sealed.".into()))
    }

    async fn enter_key(&self, name: &str, key: &TypedKey) -> Result<(), AppError> {
        let kept = store::settings::load(&self.db).await?;
        let row = kept.servers.iter().find(|row| row.name == name);
        let row = row.ok_or_else(|| Rejected::missing("model server"))?;
        let server = parse_row(row, &self.keys, &kept).map_err(AppError::Invalid)?;
        let server = with_typed(ConfiguredServer { key: Key::None, ..server }, key).map_err(told)?;
        let sealed = self.sealed(&server)?.ok_or_else(|| AppError::Invalid("Enter the key first.".into()))?;
        store::keys::set(&self.db, &sealed).await?;
        self.look_again().await
    }

    async fn look_at(&self, server: &ConfiguredServer) -> Look {
        use domain::catalogue::Flavour;
        match models::look(&self.client, server, None).await {
            Seen::Serving { flavour, models } => Look { flavour, state: ServerState::Reachable, models },
            Seen::Loading { flavour } => Look { flavour, state: ServerState::Starting, models: Vec::new() },
            Seen::Unreachable { reason } => Look {
                flavour: Flavour::OpenAi,
                state: ServerState::Unreachable { reason },
                models: Vec::new(),
            },
        }
    }

    /// The tables first, then the servers that they name.
    async fn look_again(&self) -> Result<(), AppError> {
        self.take_over().await?;
        self.models.refresh_now().await;
        Ok(())
    }

    async fn choose_default_model(&self, model: &str) -> Result<(), AppError> {
        if self.config.default_model.is_some() {
            let origin = Origin::from(self.config.source("default_model"));
            return Err(AppError::Invalid(format!("The default model is {origin}. Change it there.")));
        }
        store::settings::set_default_model(&self.db, self.offered(model)?.as_deref()).await?;
        self.take_over().await?;
        Ok(())
    }

    /// A model that somebody chose, by its whole name; none where that is left to the rules.
    fn offered(&self, model: &str) -> Result<Option<String>, AppError> {
        if model.is_empty() {
            return Ok(None);
        }
        let found = self.models.catalogue().resolve(model);
        let words = || format!("The model {model} is not offered now. Choose another one.");
        found.map(|model| Some(model.to_string())).ok_or_else(|| AppError::Invalid(words()))
    }
}

impl ports::Settings for Settings {
    fn models(&self, checked: Option<Uuid>) -> BoxFuture<'_, Result<ModelSettings, AppError>> {
        self.show_models(checked).boxed()
    }

    fn check(&self, draft: Draft, key: TypedKey, add: bool) -> BoxFuture<'_, Result<Checked, AppError>> {
        self.check_draft(draft, key, add).boxed()
    }

    fn set_key(&self, name: String, key: TypedKey) -> BoxFuture<'_, Result<(), AppError>> {
        async move { self.enter_key(&name, &key).await }.boxed()
    }

    fn remove_key(&self, name: String) -> BoxFuture<'_, Result<(), AppError>> {
        async move {
            store::keys::remove(&self.db, &name).await?;
            self.look_again().await
        }
        .boxed()
    }

    fn keep(&self, checked: Checked) -> Uuid {
        self.answers.keep(checked)
    }

    fn remove_server(&self, name: String, told: u32) -> BoxFuture<'_, Result<(), AppError>> {
        async move {
            store::settings::remove_server(&self.db, &name, told).await?;
            self.look_again().await
        }
        .boxed()
    }

    fn set_default_model(&self, model: String) -> BoxFuture<'_, Result<(), AppError>> {
        async move { self.choose_default_model(&model).await }.boxed()
    }

    fn set_flows(&self, backend: String, model: String) -> BoxFuture<'_, Result<(), AppError>> {
        async move { self.choose_for_flows(backend.trim(), model.trim()).await }.boxed()
    }

    fn facts(&self) -> BoxFuture<'_, Result<Vec<Fact>, AppError>> {
        async move {
            let postgres = store::settings::postgres_version(&self.db).await?;
            Ok(facts::facts(&self.config, self.address, &postgres))
        }
        .boxed()
    }
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A row by the rules of today; which it breaks only if they changed since.
fn parse_row(row: &ServerRow, keys: &Keys, kept: &Kept) -> Result<ConfiguredServer, String> {
    let draft = Draft {
        name: row.name.clone(),
        url: row.url.clone(),
        lane: row.lane.word().to_owned(),
        parallel: row.parallel.to_string(),
        api_key_env: row.api_key_env.clone().unwrap_or_default(),
        models: row.models.join(","),
        speaks: row.speaks.iter().flatten().map(|it| it.word()).collect::<Vec<_>>().join(","),
    };
    let server = from_draft(&draft, &environment).map_err(|problems| {
        problems.into_iter().map(|(key, words)| format!("{key}: {words}")).collect::<Vec<_>>().join("; ")
    })?;
    let key = keys.resolve(&server, &kept.keys);
    Ok(ConfiguredServer { key, ..server })
}

/// With the key that was typed, where one was: by the rules of a key from a variable.
fn with_typed(server: ConfiguredServer, key: &TypedKey) -> Result<ConfiguredServer, Vec<(String, String)>> {
    let problem = |field: &str, words: &str| Err(vec![(field.to_owned(), words.to_owned())]);
    match key.parse() {
        Ok(None) => Ok(server),
        Err(words) => problem("key", words),
        Ok(Some(_)) if server.key != Key::None => {
            problem("key", "enter the key, or name the variable that holds it, not both")
        }
        Ok(Some(_)) if !server.address.may_carry_a_key() => problem("url", UNENCRYPTED),
        Ok(Some(key)) => Ok(ConfiguredServer { key: Key::Kept { value: Secret::new(key) }, ..server }),
    }
}

/// A form of one field says what is wrong with it in a sentence.
fn told(problems: Vec<(String, String)>) -> AppError {
    let words: Vec<_> = problems.iter().map(|(_, words)| sentence(words)).collect();
    AppError::Invalid(words.join(" "))
}

fn row(draft: &Draft, server: &ConfiguredServer) -> ServerRow {
    ServerRow {
        name: server.name.clone(),
        url: draft.url.trim().to_owned(),
        slot_key: server.address.slot_key(&hostname()),
        lane: server.lane,
        parallel: server.parallel,
        api_key_env: match &server.key {
            Key::None => None,
            Key::Missing { variable } | Key::Set { variable, .. } => Some(variable.clone()),
            Key::Kept { .. } | Key::Elsewhere | Key::Unreadable => None,
        },
        models: server.models.clone(),
        speaks: server.speaks.clone(),
    }
}

/// What goes back into the form. A key typed where its variable's name belongs goes nowhere.
fn repeatable(draft: Draft, faults: &[Fault]) -> Draft {
    let is_faulty = faults.iter().any(|fault| fault.field == "api_key_env");
    let api_key_env = if is_faulty { String::new() } else { draft.api_key_env };
    Draft { api_key_env, ..draft }
}

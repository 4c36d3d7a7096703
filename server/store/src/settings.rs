//! What Settings changes: model servers, and values by their key.

use std::collections::BTreeMap;

use domain::{
    Rejected,
    catalogue::Lane,
    feed::Event,
    protocol::Protocol,
    settings::{Budget, Part, Work},
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use crate::{
    Db, Error, Result,
    chats::{from_word, word},
    feed,
    keys::{self, SealedKey},
};

pub const SERVERS_MAX: i64 = 50;
const DEFAULT_MODEL: &str = "default_model";
const FLOW_BACKEND: &str = "flow_backend";
const FLOW_MODEL: &str = "flow_model";
const WORKTREE_BUDGET: &str = "worktree_budget_gb";

/// A model server as it was typed, once it passed the rules of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRow {
    pub name: String,
    pub url: String,
    pub slot_key: String,
    pub lane: Lane,
    pub parallel: u32,
    pub api_key_env: Option<String>,
    pub models: Vec<String>,
    pub speaks: Option<Vec<Protocol>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub servers: Vec<ServerRow>,
    pub keys: Vec<SealedKey>,
    /// The names of those that were removed: what still waits for one is told so.
    pub removed: Vec<String>,
    pub default_model: Option<String>,
}

pub async fn load(db: &Db) -> Result<Kept> {
    let rows = sqlx::query!(
        r#"select name, url, slot_key, lane, parallel, api_key_env, models, speaks,
               removed_at is not null as "removed!"
           from model_servers order by added_at, id"#
    )
    .fetch_all(&db.pool)
    .await?;
    let mut kept = Kept::default();
    for row in rows {
        if row.removed {
            kept.removed.push(row.name);
            continue;
        }
        kept.servers.push(ServerRow {
            name: row.name,
            url: row.url,
            slot_key: row.slot_key,
            lane: from_word(&row.lane)?,
            parallel: row.parallel as u32,
            api_key_env: row.api_key_env,
            models: serde_json::from_value(row.models)?,
            speaks: row.speaks.map(serde_json::from_value).transpose()?,
        });
    }
    kept.keys = keys::all(db).await?;
    kept.default_model = value(db, DEFAULT_MODEL).await?;
    Ok(kept)
}

/// Adds a server, or brings back one of that name that was removed.
pub async fn add_server(db: &Db, server: &ServerRow, key: Option<&SealedKey>) -> Result<()> {
    let mut tx = db.pool.begin().await?;
    let there =
        sqlx::query_scalar!(r#"select count(*) as "count!" from model_servers where removed_at is null"#)
            .fetch_one(&mut *tx)
            .await?;
    if there >= SERVERS_MAX {
        let words = format!("There are {SERVERS_MAX} model servers already; remove one first.");
        return Err(Rejected::Invalid(words).into());
    }
    let added = sqlx::query!(
        "insert into model_servers (id, name, url, slot_key, lane, parallel, api_key_env, models, speaks)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (name) do update set id = excluded.id, url = excluded.url, slot_key = excluded.slot_key,
             lane = excluded.lane, parallel = excluded.parallel, api_key_env = excluded.api_key_env,
             models = excluded.models, speaks = excluded.speaks, added_at = now(), removed_at = null
         where model_servers.removed_at is not null",
        Uuid::now_v7(),
        server.name,
        server.url,
        server.slot_key,
        word(&server.lane)?,
        server.parallel as i32,
        server.api_key_env,
        serde_json::to_value(&server.models)?,
        server.speaks.as_ref().map(serde_json::to_value).transpose()?
    )
    .execute(&mut *tx)
    .await
    .map_err(|error| {
        let meaning = Rejected::Invalid(format!("{} is in the list already.", server.url));
        Error::on_constraint(error, "model_servers_place_unique", meaning)
    })?;
    if added.rows_affected() == 0 {
        let words = format!("A model server is called {} already.", server.name);
        return Err(Rejected::Invalid(words).into());
    }
    if let Some(key) = key {
        keys::record(&mut tx, key).await?;
    }
    changed(tx, Part::ModelServers).await
}

/// Removes a server and forgets its keys, unless more tasks wait for it than whoever asks was told of.
pub async fn remove_server(db: &Db, name: &str, told: u32) -> Result<()> {
    let mut tx = db.pool.begin().await?;
    let removed = sqlx::query!(
        "update model_servers set removed_at = now() where name = $1 and removed_at is null",
        name
    )
    .execute(&mut *tx)
    .await?;
    if removed.rows_affected() == 0 {
        return Err(Rejected::missing("model server").into());
    }
    let waiting = sqlx::query_scalar!(
        r#"select count(*) as "count!" from tasks where server = $1 and status = 'queued'"#,
        name
    )
    .fetch_one(&mut *tx)
    .await?;
    if waiting > i64::from(told) {
        let words = format!("{waiting} tasks wait for it by now. Look again before you remove it.");
        return Err(Rejected::Invalid(words).into());
    }
    keys::forget(&mut tx, name).await?;
    // By then nobody waits for it any more, and the name may mean another server somewhere else.
    sqlx::query!("delete from model_servers where removed_at < now() - interval '30 days'")
        .execute(&mut *tx)
        .await?;
    changed(tx, Part::ModelServers).await
}

/// The model for titles and where nobody chose; `None` leaves it to the rules.
pub async fn set_default_model(db: &Db, model: Option<&str>) -> Result<()> {
    set(db, DEFAULT_MODEL, model.map(Value::from), Part::DefaultModel).await
}

/// Who works in flows, as far as Settings says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flows {
    pub backend: Option<String>,
    pub model: Option<String>,
}

pub async fn flows(db: &Db) -> Result<Flows> {
    Ok(Flows { backend: value(db, FLOW_BACKEND).await?, model: value(db, FLOW_MODEL).await? })
}

/// `None` leaves it to the rules.
pub async fn set_flow_backend(db: &Db, backend: Option<&str>) -> Result<()> {
    set(db, FLOW_BACKEND, backend.map(Value::from), Part::Flows).await
}

/// `None` leaves it to the rules.
pub async fn set_flow_model(db: &Db, model: Option<&str>) -> Result<()> {
    set(db, FLOW_MODEL, model.map(Value::from), Part::Flows).await
}

pub async fn worktree_budget(db: &Db) -> Result<Budget> {
    Ok(value(db, WORKTREE_BUDGET).await?.unwrap_or_default())
}

pub async fn set_worktree_budget(db: &Db, budget: Budget) -> Result<()> {
    set(db, WORKTREE_BUDGET, Some(Value::from(budget.gb())), Part::Worktrees).await
}

/// Whether an agent may use its own login, on the machine where that lies.
pub async fn own_login(db: &Db, host: &str, agent: &str) -> Result<bool> {
    Ok(value::<bool>(db, &own_login_key(host, agent)).await?.is_some())
}

pub async fn set_own_login(db: &Db, host: &str, agent: &str, is_used: bool) -> Result<()> {
    set(db, &own_login_key(host, agent), is_used.then_some(Value::Bool(true)), Part::OwnLogins).await
}

fn own_login_key(host: &str, agent: &str) -> String {
    format!("own_login/{host}/{agent}")
}

async fn value<T: DeserializeOwned>(db: &Db, key: &str) -> Result<Option<T>> {
    let value = sqlx::query_scalar!("select value from settings where key = $1", key)
        .fetch_optional(&db.pool)
        .await?;
    Ok(value.map(serde_json::from_value).transpose()?)
}

/// `None` leaves it to the rules again.
async fn set(db: &Db, key: &str, value: Option<Value>, what: Part) -> Result<()> {
    let mut tx = db.pool.begin().await?;
    match value {
        Some(value) => {
            sqlx::query!(
                "insert into settings (key, value) values ($1, $2)
                 on conflict (key) do update set value = excluded.value, changed_at = now()",
                key,
                value
            )
            .execute(&mut *tx)
            .await?;
        }
        None => {
            sqlx::query!("delete from settings where key = $1", key).execute(&mut *tx).await?;
        }
    }
    changed(tx, what).await
}

/// What waits and what runs, by model server.
pub async fn work(db: &Db) -> Result<BTreeMap<String, Work>> {
    let rows = sqlx::query!(
        r#"select server, count(*) filter (where status = 'queued') as "queued!",
               count(*) filter (where status = 'running') as "running!"
           from tasks where status in ('queued', 'running') group by server"#
    )
    .fetch_all(&db.pool)
    .await?;
    let work = |queued, running| Work { queued: queued as u32, running: running as u32 };
    Ok(rows.into_iter().map(|row| (row.server, work(row.queued, row.running))).collect())
}

/// As Postgres calls itself, such as `17.5 (Debian 17.5-1)`.
pub async fn postgres_version(db: &Db) -> Result<String> {
    let version = sqlx::query_scalar!(r#"select current_setting('server_version') as "version!""#);
    Ok(version.fetch_one(&db.pool).await?)
}

pub(crate) async fn changed(mut tx: Transaction<'_, Postgres>, what: Part) -> Result<()> {
    feed::append(&mut tx, &[Event::SettingsChanged { what }]).await?;
    tx.commit().await?;
    Ok(())
}

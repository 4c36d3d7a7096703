//! An agent's own login: whose it is, where it lies, and whether a person allowed it to be used. Nothing of it is
//! ever read or copied here; the agent gets the file itself.

use std::path::{Path, PathBuf};

use acp::{Account, Agent};
use app::error::AppError;
use domain::{
    Rejected,
    backend::{Backend, Login},
};

use store::Db;

use super::Coders;
use crate::models;

/// The model that the account chooses itself.
pub const DEFAULT_MODEL: &str = "default";

/// The file of whoever runs the server, if it is there. A link is followed: it is their own.
pub fn file(account: &Account) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from)?;
    let file = home.join(account.login).canonicalize().ok()?;
    file.is_file().then_some(file)
}

/// As a person would write it.
pub fn shown(account: &Account) -> String {
    Path::new("~").join(account.login).display().to_string()
}

/// Whose logins can be here.
pub struct Holders {
    pub host: String,
    pub agents: Vec<&'static Agent>,
}

/// The logins of agents on this host, as the catalogue has them.
#[derive(Default)]
pub struct Logins {
    pub used: Vec<models::Account>,
    /// The names of the others: whoever still waits for one is told.
    pub unused: Vec<String>,
}

impl Logins {
    pub async fn load(db: &Db, holders: &Holders) -> store::Result<Self> {
        let mut logins = Self::default();
        for agent in &holders.agents {
            let Some(account) = &agent.account else { continue };
            let server = Backend(agent.name.to_owned()).login_server();
            if store::settings::own_login(db, &holders.host, agent.name).await? {
                let models = [DEFAULT_MODEL].into_iter().chain(account.models.iter().copied());
                let (title, models) = (agent.title.to_owned(), models.map(str::to_owned).collect());
                logins.used.push(models::Account { server, title, models });
            } else {
                logins.unused.push(server);
            }
        }
        Ok(logins)
    }
}

impl Coders {
    pub(super) async fn may_use_login(&self, agent: &Agent) -> store::Result<bool> {
        store::settings::own_login(&self.db, &self.host, agent.name).await
    }

    /// For Settings and pickers. While the database does not tell, it counts as not allowed.
    pub(super) async fn login_of(&self, agent: &Agent) -> Option<Login> {
        let account = agent.account.as_ref()?;
        Some(Login {
            file: shown(account),
            is_there: file(account).is_some(),
            is_used: self.may_use_login(agent).await.unwrap_or_default(),
        })
    }

    /// A person's word on whether an agent may use its own login.
    pub(super) async fn allow_login(&self, backend: &Backend, is_used: bool) -> Result<(), AppError> {
        let account = self.agent(backend).and_then(|agent| agent.account.as_ref());
        let Some(account) = account else {
            return Err(Rejected::Invalid(format!("{backend} has no login of its own.")).into());
        };
        if is_used && file(account).is_none() {
            let words = format!("There is no {}. Log in with the agent itself first.", shown(account));
            return Err(Rejected::Invalid(words).into());
        }
        store::settings::set_own_login(&self.db, &self.host, &backend.0, is_used).await?;
        Ok(())
    }
}

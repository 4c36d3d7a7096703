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

/// What the catalogue lists for the agents whose logins are used on this host.
pub async fn accounts(db: &Db, host: &str, agents: &[&'static Agent]) -> store::Result<Vec<models::Account>> {
    let mut accounts = Vec::new();
    for agent in agents {
        let Some(account) = &agent.account else { continue };
        if store::settings::own_login(db, host, agent.name).await? {
            let models = [DEFAULT_MODEL].into_iter().chain(account.models.iter().copied());
            accounts.push(models::Account {
                server: Backend(agent.name.to_owned()).login_server(),
                title: agent.title.to_owned(),
                models: models.map(str::to_owned).collect(),
            });
        }
    }
    Ok(accounts)
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

//! `boocode link`: a fresh login link for a workspace that runs.

use std::sync::Arc;

use anyhow::Context as _;
use store::Db;
use time::OffsetDateTime;

use crate::{
    auth::{Auth, TOKEN_LIFETIME},
    config::Config,
    data_dir::DataDir,
    http::guard::Site,
    postgres,
};

/// Writes the link's token into the running server's database: whoever may read the data directory may come
/// in.
pub async fn print(config: Config) -> anyhow::Result<()> {
    let holder = DataDir::holder(&config.data_dir)?
        .with_context(|| format!("no BooCode is running on {}", config.data_dir.display()))?;
    let url = holder.url.context("BooCode is still starting; try again in a moment")?;
    let address = url.strip_prefix("http://").and_then(|address| address.parse().ok());
    let address = address.context("its address is unknown")?;
    let options = match &config.database_url {
        Some(url) => url.expose().parse()?,
        None => postgres::connect_options_of(&config.data_dir)?,
    };
    let db = Db::attach(options).await?;
    let public_url = config.public_url.as_deref().map(str::parse).transpose()?;
    let site = Site::new(address, public_url.as_ref())?;
    let token =
        Auth::new(Arc::new(db.clone())).issue_token(OffsetDateTime::now_utc(), TOKEN_LIFETIME, None).await?;
    println!("{}", site.login_link(&token));
    db.close().await;
    Ok(())
}

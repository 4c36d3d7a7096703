//! The scripted model server.

use anyhow::Result;
use scripted::Script;

use crate::Goal;

pub async fn serve() -> Result<Vec<Goal>> {
    let listener = super::announced().await?;
    // Room for every stream at once, and for what a killed server has not hung up on yet.
    let script = Script { concurrency_limit: 100, ..Script::default() };
    scripted::serve(listener, script).await?;
    Ok(Vec::new())
}

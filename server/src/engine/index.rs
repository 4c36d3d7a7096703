//! Makes what was said before findable: before there was an index, or through a server that knows of none.

use futures::future::{BoxFuture, FutureExt as _};

use super::Engine;

/// Once at each start, a little at a time. Whoever searches meanwhile finds the rest already.
pub(super) fn run(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        let mut indexed = 0;
        while !engine.0.shutdown.is_cancelled() {
            match store::search::index_missing(&engine.0.db).await {
                Ok(0) => break,
                Ok(some) => indexed += some,
                Err(error) => {
                    tracing::warn!(%error, "earlier messages could not be indexed; the next start tries again");
                    break;
                }
            }
        }
        if indexed > 0 {
            tracing::info!(indexed, "earlier messages can be searched now");
        }
    }
    .boxed()
}

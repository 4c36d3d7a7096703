//! What was made must not be lost because the database was away for a moment.

use std::time::Duration;

use tokio::time::sleep;

use crate::backend;

/// Each try may wait for a connection; whoever asks has a limit of its own for all of them.
const TRIES: u32 = 20;
const WAIT: Duration = Duration::from_secs(1);

/// Asks the database again for as long as it does not answer. What it refuses, it refuses.
pub(crate) async fn persist<T, F>(mut ask: impl FnMut() -> F) -> Result<T, backend::Error>
where
    F: Future<Output = store::Result<T>>,
{
    let mut tries = 0;
    loop {
        tries += 1;
        match ask().await {
            Ok(done) => return Ok(done),
            Err(error) if !error.is_away() || tries >= TRIES => return Err(error.into()),
            Err(error) => tracing::warn!(%error, "a result could not be kept; trying again"),
        }
        sleep(WAIT).await;
    }
}

#[cfg(test)]
mod tests {
    use domain::Rejected;

    use super::*;

    /// How often it is asked of a database that is away so many times, and what comes of it.
    async fn check(away: u32, then: fn() -> store::Result<u32>, asked: u32, expected: Option<u32>) {
        let mut count = 0;
        let answer = persist(|| {
            count += 1;
            let is_away = count <= away;
            async move { if is_away { Err(store::Error::Sql(sqlx::Error::PoolTimedOut)) } else { then() } }
        });
        assert_eq!((answer.await.ok(), count), (expected, asked), "away {away} times");
    }

    #[tokio::test(start_paused = true)]
    async fn a_database_that_comes_back_takes_it() {
        check(0, || Ok(7), 1, Some(7)).await;
        check(3, || Ok(7), 4, Some(7)).await;
        check(3, || Err(Rejected::Stale.into()), 4, None).await;
        check(3, || Err(store::Error::Unknown("a word of tomorrow".into())), 4, None).await;
        check(99, || Ok(7), TRIES, None).await;
    }
}

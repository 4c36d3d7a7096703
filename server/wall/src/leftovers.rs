//! Ending what carries a marker, and making sure of it.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::Error;
use crate::marker::{Marker, Whose};
use crate::processes::{self, Identity};

/// A killed process is gone in milliseconds, unless the kernel itself hangs.
const LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// Ends every process whose marker belongs to `owner`, and those of theirs that have lost it, as they are left when a
/// server is killed. It is called before the owner starts any. Says how many there were.
pub async fn end_leftovers(owner: &str) -> Result<usize, Error> {
    let whose = Whose::Owner(owner);
    sweep(whose, &family(whose)?).await
}

/// Ends every process of one task whose owner dropped it. Its helper was told to, and ends what has lost its marker too,
/// so it is waited for first.
pub async fn end_task(marker: &Marker) -> Result<usize, Error> {
    let whose = Whose::Task(marker);
    let known = family(whose)?;
    let patience = Instant::now() + LIMIT / 2;
    while Instant::now() < patience && !processes::marked(whose).map_err(Error::Watch)?.is_empty() {
        sleep(PAUSE).await;
    }
    sweep(whose, &known).await
}

/// Whatever those that carry the marker have started: it is theirs to remove.
fn family(whose: Whose<'_>) -> Result<Vec<Identity>, Error> {
    let mut family = Vec::new();
    for process in processes::marked(whose).map_err(Error::Watch)? {
        family.extend(processes::descendants(process.pid).map_err(Error::Watch)?);
    }
    Ok(family)
}

/// Kills what carries the marker and those `known`, until a look around finds none of them.
pub(crate) async fn sweep(whose: Whose<'_>, known: &[Identity]) -> Result<usize, Error> {
    let deadline = Instant::now() + LIMIT;
    let mut killed = HashSet::new();
    loop {
        let mut alive = processes::marked(whose).map_err(Error::Watch)?;
        alive.extend(known.iter().filter(|identity| identity.is_alive()));
        if alive.is_empty() {
            return Ok(killed.len());
        }
        if Instant::now() > deadline {
            return Err(Error::Remain(alive.iter().map(|identity| identity.pid).collect()));
        }
        for identity in alive {
            // One that may not be killed is still there at the end, and named then.
            let _ = identity.kill();
            killed.insert(identity);
        }
        sleep(PAUSE).await;
    }
}

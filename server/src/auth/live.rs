use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::BrowserSessionId;

/// Which connections each session holds open, so that revoking the session closes them.
#[derive(Clone, Default)]
pub struct LiveSessions(Arc<Mutex<Connections>>);

/// To be kept for as long as the connection is open.
pub struct LiveConnection {
    key: (BrowserSessionId, u64),
    revoked: CancellationToken,
    registry: LiveSessions,
}

impl LiveSessions {
    pub fn enter(&self, session: BrowserSessionId) -> LiveConnection {
        let revoked = CancellationToken::new();
        let mut connections = self.lock();
        connections.entered += 1;
        let key = (session, connections.entered);
        connections.open.insert(key, revoked.clone());
        LiveConnection { key, revoked, registry: self.clone() }
    }

    pub fn close(&self, session: BrowserSessionId) {
        for revoked in self.lock().open.range((session, 0)..=(session, u64::MAX)).map(|(_, token)| token) {
            revoked.cancel();
        }
    }

    /// Each session that holds a connection, once.
    pub fn sessions(&self) -> Vec<BrowserSessionId> {
        let mut sessions: Vec<_> = self.lock().open.keys().map(|(session, _)| *session).collect();
        sessions.dedup();
        sessions
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveConnection {
    /// Resolves when the session is revoked: `stream.take_until(connection.revoked())`.
    pub fn revoked(&self) -> WaitForCancellationFutureOwned {
        self.revoked.clone().cancelled_owned()
    }

    pub fn is_revoked(&self) -> bool {
        self.revoked.is_cancelled()
    }
}

impl Drop for LiveConnection {
    fn drop(&mut self) {
        self.registry.lock().open.remove(&self.key);
    }
}

#[derive(Default)]
struct Connections {
    entered: u64,
    open: BTreeMap<(BrowserSessionId, u64), CancellationToken>,
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn closing_a_session_ends_its_connections_and_no_others() {
        let live = LiveSessions::default();
        let (mine, other) = (BrowserSessionId(Uuid::from_u128(1)), BrowserSessionId(Uuid::from_u128(2)));
        let (a, b, c) = (live.enter(mine), live.enter(mine), live.enter(other));
        live.close(mine);
        assert_eq!([a.is_revoked(), b.is_revoked(), c.is_revoked()], [true, true, false]);
        assert_eq!(live.sessions(), [mine, other]);
        drop((a, b, c));
        assert!(live.sessions().is_empty(), "a closed connection leaves nothing behind");
    }
}

//! Who may come in: one-shot login links, and the browsers that used one.
//!
//! A secret (link token or cookie) leaves the server once and is kept only as its SHA-256. Looking a secret up
//! by its hash also takes the worth out of timing the comparison: the time tells about a hash the attacker
//! cannot steer.

mod credential;
mod failed_logins;
mod live;
mod postgres;

#[cfg(test)]
pub mod memory;

use std::{net::IpAddr, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use time::OffsetDateTime;
use uuid::Uuid;

pub use credential::{Credential, CredentialHash};
use failed_logins::FailedLogins;
pub use live::LiveConnection;
use live::LiveSessions;

pub const TOKEN_LIFETIME: Duration = Duration::from_secs(15 * 60);
/// Shorter than a printed link's: a code on a screen is seen by whoever looks at it.
pub const PAIRING_LIFETIME: Duration = Duration::from_secs(5 * 60);
pub const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// A session slides at most this often, so that not every request writes to Postgres. Settings tell when a browser
/// was last seen, so it is no longer than what people call just now.
const TOUCH_INTERVAL: Duration = Duration::from_secs(60);
const STORE_WAIT_MAX: Duration = Duration::from_secs(5);
const LABEL_CHARS_MAX: usize = 200;

/// One login of one browser. Not to be mixed up with `domain::id::SessionId`, a workspace of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrowserSessionId(pub Uuid);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserSession {
    pub id: BrowserSessionId,
    /// What the browser called itself, so that a person recognises it in the list.
    pub label: String,
    pub created_at: OffsetDateTime,
    pub seen_at: OffsetDateTime,
    pub expires_at: OffsetDateTime,
    pub secret: CredentialHash,
}

pub type StoreFailure = Box<dyn std::error::Error + Send + Sync>;

/// Where logins are kept. Two tables:
/// `login_tokens (hash bytea primary key, expires_at timestamptz, made_by uuid)` and
/// `browser_sessions (id uuid primary key, secret bytea unique, label text, created_at, seen_at, expires_at)`.
pub trait AuthStore: Send + Sync {
    /// `delete from login_tokens where expires_at <= $now; insert into login_tokens values ($hash, …)`.
    fn insert_token(
        &self,
        hash: CredentialHash,
        now: OffsetDateTime,
        expires_at: OffsetDateTime,
        made_by: Option<BrowserSessionId>,
    ) -> BoxFuture<'_, Result<(), StoreFailure>>;

    /// `select from login_tokens where hash = $hash`; whether there is one.
    fn has_token(&self, hash: CredentialHash) -> BoxFuture<'_, Result<bool, StoreFailure>>;

    /// `delete from login_tokens where hash = $hash`.
    fn delete_token(&self, hash: CredentialHash) -> BoxFuture<'_, Result<(), StoreFailure>>;

    /// `delete from login_tokens where hash = $hash` and, if it had not expired at `$session.seen_at`,
    /// `insert into browser_sessions …`; no row is `false`. One statement: of two redeemers of one token, whichever
    /// deletes the row is the only one told `true`, and a token is never spent without a session.
    fn redeem_token(
        &self,
        hash: CredentialHash,
        session: BrowserSession,
    ) -> BoxFuture<'_, Result<bool, StoreFailure>>;

    /// `select … from browser_sessions where secret = $secret and expires_at > $now`.
    fn find_session(
        &self,
        secret: CredentialHash,
        now: OffsetDateTime,
    ) -> BoxFuture<'_, Result<Option<BrowserSession>, StoreFailure>>;

    /// `update browser_sessions set seen_at = $seen_at, expires_at = $expires_at where id = $id`. A session
    /// revoked meanwhile has no row, so this cannot bring it back.
    fn touch(
        &self,
        id: BrowserSessionId,
        seen_at: OffsetDateTime,
        expires_at: OffsetDateTime,
    ) -> BoxFuture<'_, Result<(), StoreFailure>>;

    /// `delete from browser_sessions where id = $id`, the tokens that it made included; whether there was one.
    fn revoke(&self, id: BrowserSessionId) -> BoxFuture<'_, Result<bool, StoreFailure>>;

    /// `select … from browser_sessions where expires_at > $now order by created_at desc, id`: being seen moves nobody.
    fn list(&self, now: OffsetDateTime) -> BoxFuture<'_, Result<Vec<BrowserSession>, StoreFailure>>;
}

#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    #[error("the database did not answer in time; try again in a moment")]
    TimedOut,
    #[error("the database could not be asked; try again in a moment")]
    Store(#[source] StoreFailure),
}

#[derive(Debug, thiserror::Error)]
pub enum LoginRefused {
    #[error("this link does not work (any more): it was used already, or its time is over")]
    NotValid,
    #[error("too many failed logins; try again in {retry_after_s} s")]
    TooMany { retry_after_s: u64 },
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// A request's session, and whether its cookie should be sent again because the expiry moved.
#[derive(Debug)]
pub struct Recognised {
    pub session: BrowserSession,
    pub renewed: bool,
}

pub struct Auth {
    store: Arc<dyn AuthStore>,
    failed: FailedLogins,
    live: LiveSessions,
}

impl Auth {
    pub fn new(store: Arc<dyn AuthStore>) -> Self {
        Self { store, failed: FailedLogins::default(), live: LiveSessions::default() }
    }

    /// What a browser made for another (`made_by`) is worthless once that browser is signed out.
    pub async fn issue_token(
        &self,
        now: OffsetDateTime,
        lifetime: Duration,
        made_by: Option<BrowserSessionId>,
    ) -> Result<Credential, Unavailable> {
        let token = Credential::generate();
        within(self.store.insert_token(token.hash(), now, now + lifetime, made_by)).await?;
        Ok(token)
    }

    /// Whether nobody has used the token, and nobody withdrawn it.
    pub async fn is_unspent(&self, token: CredentialHash) -> Result<bool, Unavailable> {
        within(self.store.has_token(token)).await
    }

    /// Makes a token worthless.
    pub async fn withdraw(&self, token: CredentialHash) -> Result<(), Unavailable> {
        within(self.store.delete_token(token)).await
    }

    /// Spends `token`; the secret returned belongs into the browser's cookie and nowhere else.
    pub async fn log_in(
        &self,
        token: &str,
        peer: IpAddr,
        label: &str,
        now: OffsetDateTime,
    ) -> Result<(BrowserSession, Credential), LoginRefused> {
        // The attempt is paid for before the token is looked at, so that parallel guesses are all counted.
        let attempt = self
            .failed
            .begin(peer, std::time::Instant::now())
            // Rounded up, or the browser comes back a moment too early.
            .map_err(|wait| LoginRefused::TooMany { retry_after_s: wait.as_secs() + 1 })?;
        let token = Credential::parse(token).ok_or(LoginRefused::NotValid)?;
        let secret = Credential::generate();
        let session = BrowserSession {
            id: BrowserSessionId(Uuid::now_v7()),
            label: label.chars().filter(|c| !c.is_control()).take(LABEL_CHARS_MAX).collect(),
            created_at: now,
            seen_at: now,
            expires_at: now + SESSION_LIFETIME,
            secret: secret.hash(),
        };
        if !within(self.store.redeem_token(token.hash(), session.clone())).await? {
            return Err(LoginRefused::NotValid);
        }
        attempt.succeeded();
        Ok((session, secret))
    }

    pub async fn recognise(
        &self,
        cookie: &str,
        now: OffsetDateTime,
    ) -> Result<Option<Recognised>, Unavailable> {
        let Some(secret) = Credential::parse(cookie) else {
            return Ok(None);
        };
        let Some(mut session) = within(self.store.find_session(secret.hash(), now)).await? else {
            return Ok(None);
        };
        let renewed = now - session.seen_at >= TOUCH_INTERVAL;
        if renewed {
            session.seen_at = now;
            session.expires_at = now + SESSION_LIFETIME;
            within(self.store.touch(session.id, session.seen_at, session.expires_at)).await?;
        }
        Ok(Some(Recognised { session, renewed }))
    }

    /// For a connection that outlives its request (SSE, WebSocket). `None` when the session was revoked
    /// meanwhile: the connection registers first and asks again after, so no revocation falls in between.
    pub async fn hold(
        &self,
        session: &BrowserSession,
        now: OffsetDateTime,
    ) -> Result<Option<LiveConnection>, Unavailable> {
        let connection = self.live.enter(session.id);
        let still_there = within(self.store.find_session(session.secret, now)).await?.is_some();
        Ok(still_there.then_some(connection))
    }

    /// Ends the session and every live connection that it holds on this server.
    pub async fn revoke(&self, id: BrowserSessionId) -> Result<bool, Unavailable> {
        let existed = within(self.store.revoke(id)).await?;
        self.live.close(id);
        Ok(existed)
    }

    /// Closes the connections of sessions that expired, or that another server on the same Postgres revoked.
    /// To be called every few seconds.
    pub async fn close_revoked(&self, now: OffsetDateTime) -> Result<(), Unavailable> {
        // Who is live is read before who is valid, so that a login in between is not taken for a revocation.
        let live = self.live.sessions();
        if live.is_empty() {
            return Ok(());
        }
        let valid = self.sessions(now).await?;
        for id in live {
            if !valid.iter().any(|session| session.id == id) {
                self.live.close(id);
            }
        }
        Ok(())
    }

    /// Those that hold a connection to this server now.
    pub fn connected(&self) -> Vec<BrowserSessionId> {
        self.live.sessions()
    }

    pub async fn sessions(&self, now: OffsetDateTime) -> Result<Vec<BrowserSession>, Unavailable> {
        within(self.store.list(now)).await
    }

    /// Whether the store answers at all. Asks for a session that cannot exist.
    pub async fn reachable(&self, now: OffsetDateTime) -> Result<(), Unavailable> {
        within(self.store.find_session(Credential::generate().hash(), now)).await.map(|_| ())
    }
}

async fn within<T>(asked: BoxFuture<'_, Result<T, StoreFailure>>) -> Result<T, Unavailable> {
    match tokio::time::timeout(STORE_WAIT_MAX, asked).await {
        Ok(answer) => answer.map_err(Unavailable::Store),
        Err(_) => Err(Unavailable::TimedOut),
    }
}

#[cfg(test)]
mod tests;

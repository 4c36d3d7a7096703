//! The browsers that are signed in, and codes that sign in one more.

mod qr;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use app::{error::AppError, ports};
use domain::{
    browser::{Browser, Code, Pairing},
    id::BrowserId,
};
use futures::future::{BoxFuture, FutureExt as _};
use time::OffsetDateTime;

use crate::{
    auth::{BrowserSession, BrowserSessionId, Credential, PAIRING_LIFETIME, Unavailable},
    http::guard::Gate,
};

/// More browsers than this do not pair at the same time.
const CODES_MAX: usize = 64;

pub struct Browsers {
    gate: Arc<Gate>,
    /// The last code of each browser. Its secret is kept here only, so that the page can show it again.
    codes: Mutex<BTreeMap<BrowserId, OpenCode>>,
}

#[derive(Clone)]
struct OpenCode {
    token: Credential,
    expires_at: OffsetDateTime,
}

impl Browsers {
    pub fn new(gate: Arc<Gate>) -> Self {
        Self { gate, codes: Mutex::default() }
    }

    async fn signed_in(&self, this: BrowserId, now: OffsetDateTime) -> Result<Vec<Browser>, Unavailable> {
        let connected = self.gate.auth.connected();
        let browser = |session: BrowserSession| Browser {
            id: BrowserId(session.id.0),
            user_agent: session.label,
            created_ms: ms(session.created_at),
            seen_ms: ms(session.seen_at),
            is_this: session.id.0 == this.0,
            is_connected: connected.contains(&session.id),
        };
        let mut browsers: Vec<_> = self.gate.auth.sessions(now).await?.into_iter().map(browser).collect();
        browsers.sort_by_key(|browser| !browser.is_this);
        Ok(browsers)
    }

    async fn show_code(&self, this: BrowserId, now: OffsetDateTime) -> Result<Pairing, Unavailable> {
        let code = self.lock().get(&this).cloned();
        let code = match code {
            None => None,
            Some(code) if code.expires_at <= now => Some(Code::Expired),
            Some(code) if !self.gate.auth.is_unspent(code.token.hash()).await? => Some(Code::Used),
            Some(code) => {
                let link = self.gate.site.login_link(&code.token);
                // A link is far shorter than what a code can hold.
                qr::encode(&link).map(|qr| Code::Open { link, qr, expires_ms: ms(code.expires_at) })
            }
        };
        let site = &self.gate.site;
        Ok(Pairing { url: site.home().to_owned(), is_loopback: site.is_loopback(), code })
    }

    async fn make_code(&self, this: BrowserId, now: OffsetDateTime) -> Result<Pairing, Unavailable> {
        let before = self.lock().remove(&this);
        if let Some(before) = before {
            self.gate.auth.withdraw(before.token.hash()).await?;
        }
        let made_by = Some(BrowserSessionId(this.0));
        let token = self.gate.auth.issue_token(now, PAIRING_LIFETIME, made_by).await?;
        {
            let mut codes = self.lock();
            if codes.len() >= CODES_MAX {
                codes.retain(|_, code| code.expires_at > now);
            }
            if codes.len() >= CODES_MAX {
                codes.pop_first();
            }
            codes.insert(this, OpenCode { token, expires_at: now + PAIRING_LIFETIME });
        }
        self.show_code(this, now).await
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<BrowserId, OpenCode>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ports::Browsers for Browsers {
    fn list(&self, this: BrowserId) -> BoxFuture<'_, Result<Vec<Browser>, AppError>> {
        async move { self.signed_in(this, OffsetDateTime::now_utc()).await.map_err(unavailable) }.boxed()
    }

    fn revoke(&self, id: BrowserId) -> BoxFuture<'_, Result<(), AppError>> {
        async move {
            // One that is gone already is as it should be.
            self.gate.auth.revoke(BrowserSessionId(id.0)).await.map(drop).map_err(unavailable)
        }
        .boxed()
    }

    fn revoke_others(&self, this: BrowserId) -> BoxFuture<'_, Result<(), AppError>> {
        async move {
            let all = self.gate.auth.sessions(OffsetDateTime::now_utc()).await.map_err(unavailable)?;
            for other in all.into_iter().filter(|session| session.id.0 != this.0) {
                self.gate.auth.revoke(other.id).await.map_err(unavailable)?;
            }
            Ok(())
        }
        .boxed()
    }

    fn pairing(&self, this: BrowserId) -> BoxFuture<'_, Result<Pairing, AppError>> {
        async move { self.show_code(this, OffsetDateTime::now_utc()).await.map_err(unavailable) }.boxed()
    }

    fn pair(&self, this: BrowserId) -> BoxFuture<'_, Result<Pairing, AppError>> {
        async move { self.make_code(this, OffsetDateTime::now_utc()).await.map_err(unavailable) }.boxed()
    }
}

fn unavailable(error: Unavailable) -> AppError {
    tracing::error!(error = &error as &dyn std::error::Error, "logins cannot be read or changed");
    AppError::Unavailable
}

fn ms(at: OffsetDateTime) -> i64 {
    (at.unix_timestamp_nanos() / 1_000_000) as i64
}

#[cfg(test)]
mod tests;

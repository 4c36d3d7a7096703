//! The store's semantics in memory, for tests.

use std::{collections::HashMap, sync::Mutex};

use futures::{FutureExt as _, future::BoxFuture};
use time::OffsetDateTime;

use super::{AuthStore, BrowserSession, BrowserSessionId, CredentialHash, StoreFailure};

#[derive(Default)]
pub struct MemoryStore {
    tokens: Mutex<HashMap<CredentialHash, Token>>,
    sessions: Mutex<Vec<BrowserSession>>,
    broken: bool,
}

struct Token {
    expires_at: OffsetDateTime,
    made_by: Option<BrowserSessionId>,
}

impl MemoryStore {
    pub fn broken() -> Self {
        Self { broken: true, ..Self::default() }
    }

    fn answer<T: Send + 'static>(&self, value: T) -> BoxFuture<'_, Result<T, StoreFailure>> {
        let broken = self.broken;
        async move { if broken { Err("connection refused".into()) } else { Ok(value) } }.boxed()
    }
}

impl AuthStore for MemoryStore {
    fn insert_token(
        &self,
        hash: CredentialHash,
        now: OffsetDateTime,
        expires_at: OffsetDateTime,
        made_by: Option<BrowserSessionId>,
    ) -> BoxFuture<'_, Result<(), StoreFailure>> {
        let mut tokens = self.tokens.lock().unwrap();
        tokens.retain(|_, token| token.expires_at > now);
        tokens.insert(hash, Token { expires_at, made_by });
        self.answer(())
    }

    fn has_token(&self, hash: CredentialHash) -> BoxFuture<'_, Result<bool, StoreFailure>> {
        let found = self.tokens.lock().unwrap().contains_key(&hash);
        self.answer(found)
    }

    fn delete_token(&self, hash: CredentialHash) -> BoxFuture<'_, Result<(), StoreFailure>> {
        self.tokens.lock().unwrap().remove(&hash);
        self.answer(())
    }

    fn redeem_token(
        &self,
        hash: CredentialHash,
        session: BrowserSession,
    ) -> BoxFuture<'_, Result<bool, StoreFailure>> {
        let token = self.tokens.lock().unwrap().remove(&hash);
        let valid = token.is_some_and(|token| token.expires_at > session.seen_at);
        if valid {
            let mut sessions = self.sessions.lock().unwrap();
            sessions.retain(|other| other.expires_at > session.seen_at);
            sessions.push(session);
        }
        self.answer(valid)
    }

    fn find_session(
        &self,
        secret: CredentialHash,
        now: OffsetDateTime,
    ) -> BoxFuture<'_, Result<Option<BrowserSession>, StoreFailure>> {
        let sessions = self.sessions.lock().unwrap();
        let found = sessions.iter().find(|session| session.secret == secret && session.expires_at > now);
        self.answer(found.cloned())
    }

    fn touch(
        &self,
        id: BrowserSessionId,
        seen_at: OffsetDateTime,
        expires_at: OffsetDateTime,
    ) -> BoxFuture<'_, Result<(), StoreFailure>> {
        for session in self.sessions.lock().unwrap().iter_mut().filter(|session| session.id == id) {
            (session.seen_at, session.expires_at) = (seen_at, expires_at);
        }
        self.answer(())
    }

    fn revoke(&self, id: BrowserSessionId) -> BoxFuture<'_, Result<bool, StoreFailure>> {
        let mut sessions = self.sessions.lock().unwrap();
        let before = sessions.len();
        sessions.retain(|session| session.id != id);
        self.tokens.lock().unwrap().retain(|_, token| token.made_by != Some(id));
        self.answer(sessions.len() < before)
    }

    fn list(&self, now: OffsetDateTime) -> BoxFuture<'_, Result<Vec<BrowserSession>, StoreFailure>> {
        let mut sessions = self.sessions.lock().unwrap().clone();
        sessions.retain(|session| session.expires_at > now);
        sessions.sort_by_key(|session| std::cmp::Reverse(session.created_at));
        self.answer(sessions)
    }
}

//! Logins kept in Postgres.

use futures::future::{BoxFuture, FutureExt as _};
use store::{
    Db,
    logins::{self, BrowserRow},
};
use time::OffsetDateTime;

use super::{AuthStore, BrowserSession, BrowserSessionId, CredentialHash, StoreFailure};

impl AuthStore for Db {
    fn insert_token(
        &self,
        hash: CredentialHash,
        now: OffsetDateTime,
        expires_at: OffsetDateTime,
        made_by: Option<BrowserSessionId>,
    ) -> BoxFuture<'_, Result<(), StoreFailure>> {
        let made_by = made_by.map(|id| id.0);
        async move { Ok(logins::insert_token(self, hash.as_bytes(), now, expires_at, made_by).await?) }
            .boxed()
    }

    fn has_token(&self, hash: CredentialHash) -> BoxFuture<'_, Result<bool, StoreFailure>> {
        async move { Ok(logins::has_token(self, hash.as_bytes()).await?) }.boxed()
    }

    fn delete_token(&self, hash: CredentialHash) -> BoxFuture<'_, Result<(), StoreFailure>> {
        async move { Ok(logins::delete_token(self, hash.as_bytes()).await?) }.boxed()
    }

    fn redeem_token(
        &self,
        hash: CredentialHash,
        session: BrowserSession,
    ) -> BoxFuture<'_, Result<bool, StoreFailure>> {
        async move {
            let BrowserSession { id, label, created_at, seen_at, expires_at, secret } = session;
            let secret = secret.as_bytes().to_vec();
            let row = BrowserRow { id: id.0, secret, label, created_at, seen_at, expires_at };
            Ok(logins::redeem_token(self, hash.as_bytes(), &row).await?)
        }
        .boxed()
    }

    fn find_session(
        &self,
        secret: CredentialHash,
        now: OffsetDateTime,
    ) -> BoxFuture<'_, Result<Option<BrowserSession>, StoreFailure>> {
        async move {
            let row = logins::find_session(self, secret.as_bytes(), now).await?;
            row.map(session).transpose()
        }
        .boxed()
    }

    fn touch(
        &self,
        id: BrowserSessionId,
        seen_at: OffsetDateTime,
        expires_at: OffsetDateTime,
    ) -> BoxFuture<'_, Result<(), StoreFailure>> {
        async move { Ok(logins::touch(self, id.0, seen_at, expires_at).await?) }.boxed()
    }

    fn revoke(&self, id: BrowserSessionId) -> BoxFuture<'_, Result<bool, StoreFailure>> {
        async move { Ok(logins::revoke(self, id.0).await?) }.boxed()
    }

    fn list(&self, now: OffsetDateTime) -> BoxFuture<'_, Result<Vec<BrowserSession>, StoreFailure>> {
        async move { logins::list(self, now).await?.into_iter().map(session).collect() }.boxed()
    }
}

fn session(row: BrowserRow) -> Result<BrowserSession, StoreFailure> {
    let BrowserRow { id, secret, label, created_at, seen_at, expires_at } = row;
    let secret = CredentialHash::from_bytes(&secret).ok_or("a stored login has no valid hash")?;
    Ok(BrowserSession { id: BrowserSessionId(id), label, created_at, seen_at, expires_at, secret })
}

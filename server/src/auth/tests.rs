use std::net::Ipv4Addr;

use super::{memory::MemoryStore, *};

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const START: OffsetDateTime = time::macros::datetime!(2026-01-01 12:00 UTC);

fn auth() -> Auth {
    Auth::new(Arc::new(MemoryStore::default()))
}

async fn logged_in(auth: &Auth) -> (BrowserSession, Credential) {
    let token = auth.issue_token(START, TOKEN_LIFETIME, None).await.unwrap();
    auth.log_in(token.expose(), PEER, "Firefox", START).await.unwrap()
}

#[tokio::test]
async fn a_token_works_once_and_for_fifteen_minutes() {
    for (after, again, works) in [
        (Duration::ZERO, false, true),
        (TOKEN_LIFETIME - Duration::from_secs(1), false, true),
        (TOKEN_LIFETIME, false, false),
        (Duration::ZERO, true, false),
    ] {
        let auth = auth();
        let token = auth.issue_token(START, TOKEN_LIFETIME, None).await.unwrap();
        if again {
            auth.log_in(token.expose(), PEER, "", START).await.unwrap();
        }
        let outcome = auth.log_in(token.expose(), PEER, "", START + after).await;
        assert_eq!(outcome.is_ok(), works, "{after:?} again={again}");
    }
}

#[tokio::test]
async fn of_many_redeemers_one_wins() {
    let auth = auth();
    let token = auth.issue_token(START, TOKEN_LIFETIME, None).await.unwrap();
    let tries = (0..5).map(|_| auth.log_in(token.expose(), PEER, "", START));
    let won = futures::future::join_all(tries).await.into_iter().filter(Result::is_ok).count();
    assert_eq!(won, 1);
}

#[tokio::test]
async fn a_token_is_no_cookie_and_a_cookie_no_token() {
    let auth = auth();
    let token = auth.issue_token(START, TOKEN_LIFETIME, None).await.unwrap();
    assert!(auth.recognise(token.expose(), START).await.unwrap().is_none());
    let (_, cookie) = logged_in(&auth).await;
    assert!(auth.log_in(cookie.expose(), PEER, "", START).await.is_err());
}

#[tokio::test]
async fn a_session_slides_while_it_is_used_and_ends_when_not() {
    let auth = auth();
    let (_, cookie) = logged_in(&auth).await;
    let day = Duration::from_secs(24 * 60 * 60);
    let seen = |now| auth.recognise(cookie.expose(), now);

    assert!(!seen(START).await.unwrap().unwrap().renewed, "a fresh session is not written again");
    assert!(
        seen(START + Duration::from_secs(90)).await.unwrap().unwrap().renewed,
        "Settings say when it was seen"
    );
    let later = seen(START + 29 * day).await.unwrap().unwrap();
    assert!(later.renewed);
    assert_eq!(later.session.expires_at, START + 29 * day + SESSION_LIFETIME);
    assert!(seen(START + 58 * day).await.unwrap().is_some());
    assert!(seen(START + 88 * day).await.unwrap().is_none());
}

#[tokio::test]
async fn revoking_closes_live_connections() {
    let auth = auth();
    let (session, cookie) = logged_in(&auth).await;
    let (other, _) = logged_in(&auth).await;
    let mine = auth.hold(&session, START).await.unwrap().unwrap();
    let theirs = auth.hold(&other, START).await.unwrap().unwrap();

    assert!(auth.revoke(session.id).await.unwrap());
    mine.revoked().await;
    assert!(!theirs.is_revoked());
    assert!(auth.recognise(cookie.expose(), START).await.unwrap().is_none());
    assert!(auth.hold(&session, START).await.unwrap().is_none(), "no connection after the revocation");
    assert!(!auth.revoke(session.id).await.unwrap());
}

#[tokio::test]
async fn a_revocation_elsewhere_closes_connections_here() {
    let store: Arc<dyn AuthStore> = Arc::new(MemoryStore::default());
    let (here, elsewhere) = (Auth::new(store.clone()), Auth::new(store));
    let (session, _) = logged_in(&here).await;
    let connection = here.hold(&session, START).await.unwrap().unwrap();

    here.close_revoked(START).await.unwrap();
    assert!(!connection.is_revoked());
    elsewhere.revoke(session.id).await.unwrap();
    here.close_revoked(START).await.unwrap();
    assert!(connection.is_revoked());
}

#[tokio::test]
async fn guessing_is_limited_and_costs_a_right_login_nothing() {
    let auth = auth();
    for _ in 0..100 {
        logged_in(&auth).await;
    }
    let mut refused = 0;
    for _ in 0..100 {
        match auth.log_in(Credential::generate().expose(), PEER, "", START).await {
            Err(LoginRefused::TooMany { retry_after_s }) => {
                assert!(retry_after_s > 0);
                refused += 1;
            }
            Err(LoginRefused::NotValid) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(refused > 80, "{refused}");
}

#[tokio::test]
async fn a_broken_store_is_no_login() {
    let auth = Auth::new(Arc::new(MemoryStore::broken()));
    let secret = Credential::generate();
    assert!(matches!(
        auth.log_in(secret.expose(), PEER, "", START).await,
        Err(LoginRefused::Unavailable(Unavailable::Store(_)))
    ));
    assert!(auth.recognise(secret.expose(), START).await.is_err());
    assert!(auth.reachable(START).await.is_err());
}

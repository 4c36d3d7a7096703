//! Login tokens are spent once, sessions end.

use sqlx::PgPool;
use store::{
    Db,
    logins::{self, BrowserRow},
};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::scene::all_at_once;

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
const HOUR: Duration = Duration::HOUR;

#[sqlx::test(migrations = "../../migrations")]
async fn a_token_is_spent_once(pool: PgPool) {
    let db = Db::attach((*pool.connect_options()).clone()).await.unwrap();
    for token in [b"one".as_slice(), b"two"] {
        logins::insert_token(&db, token, NOW, NOW + HOUR, None).await.unwrap();
    }
    let redeem = |_| {
        let db = db.clone();
        async move { logins::redeem_token(&db, b"one", NOW).await.unwrap() }
    };
    let redeemed = all_at_once((0..20).map(redeem)).await;
    assert_eq!(redeemed.iter().filter(|valid| **valid).count(), 1, "{redeemed:?}");
    assert!(logins::redeem_token(&db, b"two", NOW).await.unwrap(), "another token is not touched");
    assert!(!logins::redeem_token(&db, b"three", NOW).await.unwrap(), "nobody made that");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_token_expires(pool: PgPool) {
    let db = Db::from(pool.clone());
    let instant = Duration::MICROSECOND;
    for (at, valid) in [(HOUR - instant, true), (HOUR, false), (HOUR + instant, false)] {
        logins::insert_token(&db, b"token", NOW, NOW + HOUR, None).await.unwrap();
        assert_eq!(logins::redeem_token(&db, b"token", NOW + at).await.unwrap(), valid, "after {at}");
        assert!(!logins::redeem_token(&db, b"token", NOW).await.unwrap(), "it is spent either way");
    }
    logins::insert_token(&db, b"old", NOW, NOW + HOUR, None).await.unwrap();
    logins::insert_token(&db, b"new", NOW + HOUR, NOW + HOUR * 2, None).await.unwrap();
    let kept: Vec<Vec<u8>> =
        sqlx::query_scalar("select hash from login_tokens").fetch_all(&pool).await.unwrap();
    assert_eq!(kept, [b"new"], "what has expired is not kept");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_session_ends_by_time_or_by_being_revoked(pool: PgPool) {
    let db = Db::from(pool);
    let (phone, laptop) = (session("phone", NOW, HOUR), session("laptop", NOW + HOUR / 2, HOUR * 9));
    for row in [&phone, &laptop] {
        logins::insert_session(&db, row).await.unwrap();
    }
    let find = async |row: &BrowserRow, at| logins::find_session(&db, &row.secret, at).await.unwrap();
    let list = async |at| logins::list(&db, at).await.unwrap();
    assert_eq!(find(&phone, NOW).await.as_ref(), Some(&phone));
    assert_eq!(list(NOW).await, [laptop.clone(), phone.clone()], "the newest first");
    assert_eq!(find(&phone, NOW + HOUR).await, None);
    assert_eq!(list(NOW + HOUR).await, std::slice::from_ref(&laptop));
    assert_eq!(logins::find_session(&db, b"guessed", NOW).await.unwrap(), None);

    logins::touch(&db, phone.id, NOW + HOUR, NOW + HOUR * 3).await.unwrap();
    assert_eq!(find(&phone, NOW + HOUR).await.map(|row| row.expires_at), Some(NOW + HOUR * 3));
    let listed: Vec<_> = list(NOW).await.iter().map(|row| row.id).collect();
    assert_eq!(listed, [laptop.id, phone.id], "being seen moves nobody");
    assert!(logins::revoke(&db, phone.id).await.unwrap());
    assert!(!logins::revoke(&db, phone.id).await.unwrap());
    logins::touch(&db, phone.id, NOW, NOW + HOUR * 9).await.unwrap();
    assert_eq!(find(&phone, NOW).await, None, "being seen does not bring it back");
    assert_eq!(find(&laptop, NOW).await, Some(laptop), "another's session is not touched");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_browser_that_is_signed_out_takes_its_codes_along(pool: PgPool) {
    let db = Db::from(pool);
    let phone = session("phone", NOW, HOUR);
    logins::insert_session(&db, &phone).await.unwrap();
    for (token, made_by) in [(b"its".as_slice(), Some(phone.id)), (b"printed", None)] {
        logins::insert_token(&db, token, NOW, NOW + HOUR, made_by).await.unwrap();
        assert!(logins::has_token(&db, token).await.unwrap(), "the control: it would work");
    }
    logins::revoke(&db, phone.id).await.unwrap();
    assert!(!logins::redeem_token(&db, b"its", NOW).await.unwrap());
    assert!(logins::redeem_token(&db, b"printed", NOW).await.unwrap());
    assert!(!logins::has_token(&db, b"printed").await.unwrap(), "it is spent");
}

fn session(label: &str, seen_at: OffsetDateTime, lasts: Duration) -> BrowserRow {
    BrowserRow {
        id: Uuid::now_v7(),
        secret: label.as_bytes().to_vec(),
        label: label.into(),
        created_at: NOW,
        seen_at,
        expires_at: NOW + lasts,
    }
}

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
    let redeem = |n: usize| {
        let (db, row) = (db.clone(), session(&format!("browser {n}"), NOW, HOUR));
        async move { logins::redeem_token(&db, b"one", &row).await.unwrap() }
    };
    let redeemed = all_at_once((0..20).map(redeem)).await;
    assert_eq!(redeemed.iter().filter(|valid| **valid).count(), 1, "{redeemed:?}");
    assert_eq!(logins::list(&db, NOW).await.unwrap().len(), 1, "and let one browser in");
    let (phone, laptop) = (session("phone", NOW, HOUR), session("laptop", NOW, HOUR));
    assert!(logins::redeem_token(&db, b"two", &phone).await.unwrap(), "another token is not touched");
    assert!(!logins::redeem_token(&db, b"three", &laptop).await.unwrap(), "nobody made that");
    assert_eq!(logins::find_session(&db, &laptop.secret, NOW).await.unwrap(), None);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_token_is_not_spent_on_a_browser_that_could_not_be_let_in(pool: PgPool) {
    let db = Db::from(pool);
    let phone = log_in(&db, session("phone", NOW, HOUR)).await;
    logins::insert_token(&db, b"token", NOW, NOW + HOUR, None).await.unwrap();
    // Whatever fails after the token was deleted, here that the secret is taken.
    let twin = BrowserRow { id: Uuid::now_v7(), ..phone.clone() };
    assert!(logins::redeem_token(&db, b"token", &twin).await.is_err());
    assert_eq!(logins::list(&db, NOW).await.unwrap(), [phone]);
    let laptop = session("laptop", NOW, HOUR);
    assert!(logins::redeem_token(&db, b"token", &laptop).await.unwrap(), "so it can be used again");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_token_expires(pool: PgPool) {
    let db = Db::from(pool.clone());
    let instant = Duration::MICROSECOND;
    for (at, valid) in [(HOUR - instant, true), (HOUR, false), (HOUR + instant, false)] {
        logins::insert_token(&db, b"token", NOW, NOW + HOUR, None).await.unwrap();
        let late = session(&format!("after {at}"), NOW + at, HOUR * 9);
        assert_eq!(logins::redeem_token(&db, b"token", &late).await.unwrap(), valid, "after {at}");
        assert_eq!(logins::find_session(&db, &late.secret, NOW + at).await.unwrap().is_some(), valid);
        let again = session(&format!("again after {at}"), NOW, HOUR);
        assert!(!logins::redeem_token(&db, b"token", &again).await.unwrap(), "it is spent either way");
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
        log_in(&db, row.clone()).await;
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
    let phone = log_in(&db, session("phone", NOW, HOUR)).await;
    for (token, made_by) in [(b"its".as_slice(), Some(phone.id)), (b"printed", None)] {
        logins::insert_token(&db, token, NOW, NOW + HOUR, made_by).await.unwrap();
        assert!(logins::has_token(&db, token).await.unwrap(), "the control: it would work");
    }
    logins::revoke(&db, phone.id).await.unwrap();
    assert!(!logins::redeem_token(&db, b"its", &session("tablet", NOW, HOUR)).await.unwrap());
    assert!(logins::redeem_token(&db, b"printed", &session("laptop", NOW, HOUR)).await.unwrap());
    assert!(!logins::has_token(&db, b"printed").await.unwrap(), "it is spent");
}

async fn log_in(db: &Db, row: BrowserRow) -> BrowserRow {
    logins::insert_token(db, &row.secret, NOW, NOW + HOUR, None).await.unwrap();
    assert!(logins::redeem_token(db, &row.secret, &row).await.unwrap());
    row
}

fn session(label: &str, seen_at: OffsetDateTime, lasts: Duration) -> BrowserRow {
    BrowserRow {
        id: Uuid::now_v7(),
        secret: label.as_bytes().to_vec(),
        label: label.into(),
        created_at: seen_at,
        seen_at,
        expires_at: NOW + lasts,
    }
}

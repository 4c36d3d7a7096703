use std::time::Duration;

use super::*;
use crate::{
    auth::{Auth, LoginRefused, TOKEN_LIFETIME, memory::MemoryStore},
    http::guard::Site,
};

const START: OffsetDateTime = time::macros::datetime!(2026-01-01 12:00 UTC);
const PEER: std::net::IpAddr = std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

struct Fixture {
    browsers: Browsers,
    this: BrowserId,
}

async fn fixture(public_url: Option<&str>) -> Fixture {
    let url = public_url.map(|url| url.parse().unwrap());
    let site = Site::new(([127, 0, 0, 1], 3400).into(), url.as_ref()).unwrap();
    let gate = Arc::new(Gate { site, auth: Auth::new(Arc::new(MemoryStore::default())) });
    let token = gate.auth.issue_token(START, TOKEN_LIFETIME, None).await.unwrap();
    let (session, _) = gate.auth.log_in(token.expose(), PEER, "Firefox", START).await.unwrap();
    Fixture { browsers: Browsers::new(gate), this: BrowserId(session.id.0) }
}

impl Fixture {
    async fn make(&self) -> String {
        match self.browsers.make_code(self.this, START).await.unwrap().code {
            Some(Code::Open { link, .. }) => link,
            other => panic!("{other:?}"),
        }
    }

    async fn code_at(&self, now: OffsetDateTime) -> Option<Code> {
        self.browsers.show_code(self.this, now).await.unwrap().code
    }

    async fn log_in(&self, link: &str) -> Result<BrowserId, LoginRefused> {
        let token = link.split("token=").nth(1).unwrap();
        let session = self.browsers.gate.auth.log_in(token, PEER, "Chrome", START).await?.0;
        Ok(BrowserId(session.id.0))
    }
}

#[tokio::test]
async fn a_code_signs_one_browser_in_and_then_says_so() {
    let fixture = fixture(Some("https://code.example.org")).await;
    assert_eq!(fixture.code_at(START).await, None);
    let link = fixture.make().await;
    assert!(link.starts_with("https://code.example.org/login?token="), "{link}");
    assert!(matches!(fixture.code_at(START).await, Some(Code::Open { .. })));
    fixture.log_in(&link).await.unwrap();
    assert_eq!(fixture.code_at(START).await, Some(Code::Used));
    fixture.log_in(&link).await.unwrap_err();
}

#[tokio::test]
async fn a_code_has_its_time() {
    let fixture = fixture(None).await;
    fixture.make().await;
    let last = START + PAIRING_LIFETIME - Duration::from_secs(1);
    assert!(matches!(fixture.code_at(last).await, Some(Code::Open { .. })));
    assert_eq!(fixture.code_at(START + PAIRING_LIFETIME).await, Some(Code::Expired));
}

#[tokio::test]
async fn a_new_code_takes_the_place_of_the_old_one() {
    let fixture = fixture(None).await;
    let (old, new) = (fixture.make().await, fixture.make().await);
    fixture.log_in(&old).await.unwrap_err();
    fixture.log_in(&new).await.unwrap();
}

#[tokio::test]
async fn a_browser_that_is_signed_out_leaves_no_way_in_behind() {
    for is_revoked in [false, true] {
        let fixture = fixture(None).await;
        let link = fixture.make().await;
        if is_revoked {
            ports::Browsers::revoke(&fixture.browsers, fixture.this).await.unwrap();
        }
        // Without the revocation the same link works: that is the control.
        assert_eq!(fixture.log_in(&link).await.is_err(), is_revoked);
    }
}

#[tokio::test]
async fn browsers_are_listed_and_signed_out() {
    let fixture = fixture(None).await;
    let link = fixture.make().await;
    let other = fixture.log_in(&link).await.unwrap();
    let listed = async || fixture.browsers.signed_in(fixture.this, START).await.unwrap();
    let named: Vec<_> =
        listed().await.into_iter().map(|browser| (browser.user_agent, browser.is_this)).collect();
    assert_eq!(named, [("Firefox".into(), true), ("Chrome".into(), false)], "the one that asks is the first");

    let session = BrowserSessionId(other.0);
    let sessions = fixture.browsers.gate.auth.sessions(START).await.unwrap();
    let row = sessions.iter().find(|row| row.id == session).unwrap();
    let live = fixture.browsers.gate.auth.hold(row, START).await.unwrap().unwrap();
    assert!(listed().await.iter().any(|browser| browser.id == other && browser.is_connected));
    // Sessions are compared with the clock on the wall, at which these have expired; so one by its name.
    ports::Browsers::revoke(&fixture.browsers, other).await.unwrap();
    assert!(live.is_revoked(), "its pages are told");
    assert_eq!(listed().await.len(), 1);
}

#[tokio::test]
async fn a_code_says_whether_a_phone_can_use_it() {
    for (public_url, url, is_loopback) in [
        (None, "http://127.0.0.1:3400", true),
        (Some("https://code.example.org"), "https://code.example.org", false),
    ] {
        let fixture = fixture(public_url).await;
        let pairing = fixture.browsers.show_code(fixture.this, START).await.unwrap();
        assert_eq!((pairing.url.as_str(), pairing.is_loopback), (url, is_loopback));
    }
}

#[tokio::test]
async fn codes_are_few() {
    let fixture = fixture(None).await;
    for n in 0..CODES_MAX as u128 + 10 {
        fixture.browsers.make_code(BrowserId(uuid::Uuid::from_u128(n)), START).await.unwrap();
    }
    assert!(fixture.browsers.lock().len() <= CODES_MAX);
}

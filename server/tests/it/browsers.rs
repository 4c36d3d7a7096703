//! Who is signed in: other browsers, codes for them, and what signing one out does to its open pages.

use domain::{
    browser::{Browser, Code, Pairing},
    id::BrowserId,
    settings::Shown,
};
use reqwest::{Response, StatusCode, header};
use tokio::time::timeout;

use crate::harness::{PATIENCE, Server, World};

impl Server {
    async fn browsers(&self) -> Vec<Browser> {
        match self.section("browsers").await {
            Shown::Browsers(browsers) => browsers,
            other => panic!("{other:?}"),
        }
    }

    pub async fn pairing(&self) -> Pairing {
        match self.section("phone").await {
            Shown::Phone(pairing) => pairing,
            other => panic!("{other:?}"),
        }
    }

    /// The link of a fresh code.
    async fn pair(&self) -> String {
        self.call("make_pairing_code", &[]).await;
        match self.pairing().await.code {
            Some(Code::Open { link, .. }) => link,
            other => panic!("{other:?}"),
        }
    }

    /// Follows a link as another browser, and gives that browser's cookie.
    async fn other_browser(&self, link: &str, name: &str) -> Result<String, StatusCode> {
        let answer = self.client.get(link).header(header::USER_AGENT, name).send().await.unwrap();
        match answer.headers().get(header::SET_COOKIE) {
            Some(cookie) => Ok(cookie.to_str().unwrap().split(';').next().unwrap().to_owned()),
            None => Err(answer.status()),
        }
    }

    async fn open_feed(&self, cookie: &str) -> Response {
        let url = format!("{}/api/feed?after=0&watch=", self.url);
        let mut feed = self.client.get(url).header(header::COOKIE, cookie).send().await.unwrap();
        assert_eq!(feed.status(), StatusCode::OK);
        assert!(feed.chunk().await.unwrap().is_some(), "the control: it is live");
        feed
    }

    async fn id_of(&self, name: &str) -> BrowserId {
        self.browsers().await.into_iter().find(|browser| browser.user_agent == name).unwrap().id
    }
}

async fn ends(mut feed: Response) {
    let ended = timeout(PATIENCE, async { while let Ok(Some(_)) = feed.chunk().await {} });
    ended.await.expect("the connection stays open after its session is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_a_browser_out_closes_its_pages_on_every_server() {
    let world = World::new().await;
    let (one, two) = (world.server("one").await, world.server("two").await);
    let phone = one.other_browser(&one.pair().await, "phone").await.unwrap();
    let tablet = one.other_browser(&one.pair().await, "tablet").await.unwrap();
    // A cookie is named after its server's port.
    let at_two = |cookie: &str| {
        let (_, secret) = cookie.split_once('=').unwrap();
        format!("{}={secret}", two.cookie.split_once('=').unwrap().0)
    };
    let (here, there) = (one.open_feed(&phone).await, two.open_feed(&at_two(&phone)).await);
    let mut others = one.open_feed(&tablet).await;
    let browsers = one.browsers().await;
    assert_eq!(browsers.len(), 4);
    assert_eq!(browsers.iter().filter(|browser| browser.is_this).count(), 1);
    assert!(browsers.iter().any(|browser| browser.user_agent == "phone" && browser.is_connected));

    one.call("revoke_browser", &[("browser", one.id_of("phone").await.to_string())]).await;
    ends(here).await;
    ends(there).await;
    assert!(others.chunk().await.unwrap().is_some(), "another browser's pages stay open");
    let again = one.client.get(format!("{}/", one.url)).header(header::COOKIE, &phone).send().await.unwrap();
    assert_eq!(again.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_all_others_out_leaves_this_one() {
    let world = World::new().await;
    let server = world.server("one").await;
    let feeds = [
        server.open_feed(&server.other_browser(&server.pair().await, "phone").await.unwrap()).await,
        server.open_feed(&server.other_browser(&server.pair().await, "tablet").await.unwrap()).await,
    ];
    let mut own = server.open_feed(&server.cookie).await;
    server.call("revoke_other_browsers", &[]).await;
    for feed in feeds {
        ends(feed).await;
    }
    assert!(own.chunk().await.unwrap().is_some());
    assert_eq!(server.browsers().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_lets_one_browser_in_and_says_when_it_was_used() {
    let world = World::new().await;
    let server = world.server("one").await;
    assert_eq!(server.pairing().await.code, None);
    let old = server.pair().await;
    let link = server.pair().await;
    assert_eq!(server.other_browser(&old, "thief").await, Err(StatusCode::UNAUTHORIZED), "it was replaced");
    server.other_browser(&link, "phone").await.unwrap();
    assert_eq!(server.pairing().await.code, Some(Code::Used));
    assert_eq!(server.other_browser(&link, "thief").await, Err(StatusCode::UNAUTHORIZED), "it was used");
    let said = server.client.get(&link).send().await.unwrap().text().await.unwrap();
    assert!(said.contains("used already, or its time is over"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_is_signed_out_leaves_no_code_behind() {
    let world = World::new().await;
    let server = world.server("one").await;
    let phone = server.other_browser(&server.pair().await, "phone").await.unwrap();
    let make = async || {
        let post = async |endpoint: &str, section: &str| {
            let fields = [("section", section.to_owned())];
            server.post_as(&phone, "application/json", endpoint, &fields).send().await.unwrap()
        };
        assert!(post("make_pairing_code", "").await.status().is_success());
        match post("show_settings", "phone").await.json().await.unwrap() {
            Shown::Phone(Pairing { code: Some(Code::Open { link, .. }), .. }) => link,
            other => panic!("{other:?}"),
        }
    };
    server.other_browser(&make().await, "friend").await.expect("the control: its code works");
    let link = make().await;
    server.call("revoke_browser", &[("browser", server.id_of("phone").await.to_string())]).await;
    assert_eq!(server.other_browser(&link, "friend").await, Err(StatusCode::UNAUTHORIZED));
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_and_browsers_are_shown_to_nobody_outside() {
    let world = World::new().await;
    let server = world.server("one").await;
    server.pair().await;
    for endpoint in ["show_settings", "make_pairing_code", "revoke_other_browsers", "look_again"] {
        let ask = |cookie: &str, origin: &str| {
            server
                .client
                .post(format!("{}/api/{endpoint}", server.url))
                .header(header::COOKIE, cookie)
                .header(header::ORIGIN, origin)
                .header(header::ACCEPT, "application/json")
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body("section=phone")
                .send()
        };
        let status = async |cookie: &str, origin: &str| ask(cookie, origin).await.unwrap().status();
        assert_eq!(status(&server.cookie, &server.url).await, StatusCode::OK, "the control: {endpoint}");
        assert_eq!(status("", &server.url).await, StatusCode::UNAUTHORIZED, "{endpoint}");
        assert_eq!(status(&server.cookie, "https://evil.example").await, StatusCode::FORBIDDEN, "{endpoint}");
    }
}

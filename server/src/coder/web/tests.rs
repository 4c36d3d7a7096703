use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::*;

/// A server on loopback that gives everybody the same answer.
async fn site(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut asked = [0; 4096];
            let _ = socket.read(&mut asked).await;
            let _ = socket.write_all(answer.as_bytes()).await;
        }
    });
    address
}

async fn asked(web: &Web, name: &str, arguments: Value) -> Answer {
    web.call(&Call { name: name.into(), arguments }).await.unwrap()
}

#[tokio::test]
async fn nothing_of_this_network_is_fetched() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let secret = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 6\r\n\r\nsecret";
    let inside = site(secret).await;
    let control = Client::builder().no_proxy().build().unwrap().get(&inside).send().await.unwrap();
    assert_eq!(control.text().await.unwrap(), "secret", "the control: it is there to be read");

    let web = Web::new(None).unwrap();
    let port = inside.rsplit(':').next().unwrap().to_owned();
    for url in [
        inside.clone(),
        format!("http://localhost:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://2130706433:{port}/"),
        "http://169.254.169.254/latest/meta-data".into(),
        "file:///etc/passwd".into(),
        "ftp://example.org/".into(),
        "http://user:word@example.org/".into(),
        "no address".into(),
    ] {
        let answer = asked(&web, FETCH, json!({ "url": url })).await;
        assert!(answer.failed && !answer.text.contains("secret"), "{url}: {}", answer.text);
    }
}

/// The first address is one of this machine too, or there would be none to test with; so it is not checked here.
#[tokio::test]
async fn a_page_leads_to_no_place_of_this_network() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let inside = site("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret").await;
    let leads = format!("HTTP/1.1 302 Found\r\nlocation: {inside}\r\ncontent-length: 0\r\n\r\n");
    let outside = site(leads.leak()).await;
    let client = |policy| Client::builder().no_proxy().redirect(policy).build().unwrap();
    let control = client(redirect::Policy::default()).get(&outside).send().await.unwrap();
    assert_eq!(control.text().await.unwrap(), "secret", "the control: whoever follows gets there");
    let refused = client(within(is_public)).get(&outside).send().await.unwrap_err();
    assert_eq!(words(&refused), "It could not be fetched: 127.0.0.1 is not a public address.");
}

/// On loopback, where there is a page to be had.
#[tokio::test]
async fn a_page_is_read_as_what_it_is() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let web = Web::open_with(None, |address| address.is_loopback()).unwrap();
    let check = async |kind: &str, body: &str, expected: Result<&str, &str>| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
        let site = site(format!("{head}{body}").leak()).await;
        // By its address, and by a name that is looked up.
        for url in [site.clone(), site.replace("127.0.0.1", "localhost")] {
            let answer = asked(&web, FETCH, json!({ "url": url })).await;
            let said = if answer.failed { Err(answer.text.as_str()) } else { Ok(answer.text.as_str()) };
            assert_eq!(said, expected, "{url} as {kind}");
        }
    };
    check("text/html; charset=utf-8", "<h1>Title</h1><script>no</script>words", Ok("Title\nwords")).await;
    check("application/json", "{\"a\": [1]}", Ok("{\"a\": [1]}")).await;
    check("image/png", "\u{0}PNG", Err("It is no text but image/png.")).await;
    let missing = site("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await;
    let answer = asked(&web, FETCH, json!({ "url": missing })).await;
    assert_eq!((answer.failed, answer.text.as_str()), (true, "The page answers with 404 Not Found."));
}

#[tokio::test]
async fn of_a_long_page_only_the_beginning_is_read() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let page = "x".repeat(2 * PAGE_BYTES_MAX);
    let long = site(format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{page}").leak()).await;
    let answer = Client::builder().no_proxy().build().unwrap().get(&long).send().await.unwrap();
    assert_eq!(body(answer).await.unwrap().len(), PAGE_BYTES_MAX);
}

#[tokio::test]
async fn a_search_goes_to_the_configured_place_alone() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let without = Web::new(None).unwrap();
    assert_eq!(without.schemas().iter().map(|schema| schema.name).collect::<Vec<_>>(), [FETCH]);
    assert!(asked(&without, SEARCH, json!({"query": "x"})).await.failed);

    let found = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
                 {\"results\":[{\"title\":\"T\",\"url\":\"https://a.example\",\"content\":\"C\"}]}";
    let web = Web::new(Some(format!("{}/search?q={{query}}", site(found).await))).unwrap();
    let outside = web.schemas();
    let names: Vec<_> = tools::schemas().iter().chain(&outside).map(|schema| schema.name).collect();
    assert_eq!(names, domain::agent::TOOLS, "what a persona may name is what there is");
    let answer = asked(&web, SEARCH, json!({"query": "two words"})).await;
    assert_eq!((answer.failed, answer.text.as_str()), (false, "T\nhttps://a.example\nC"));
    assert!(asked(&web, SEARCH, json!({"q": 1})).await.failed);
    assert!(web.call(&Call { name: "read".into(), arguments: json!({}) }).await.is_none());
}

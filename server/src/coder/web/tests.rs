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

#[tokio::test]
async fn a_search_goes_to_the_configured_place_alone() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let without = Web::new(None).unwrap();
    assert_eq!(without.schemas().iter().map(|schema| schema.name).collect::<Vec<_>>(), [FETCH]);
    assert!(asked(&without, SEARCH, json!({"query": "x"})).await.failed);

    let found = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
                 {\"results\":[{\"title\":\"T\",\"url\":\"https://a.example\",\"content\":\"C\"}]}";
    let web = Web::new(Some(format!("{}/search?q={{query}}", site(found).await))).unwrap();
    assert_eq!(web.schemas().len(), 2);
    let answer = asked(&web, SEARCH, json!({"query": "two words"})).await;
    assert_eq!((answer.failed, answer.text.as_str()), (false, "T\nhttps://a.example\nC"));
    assert!(asked(&web, SEARCH, json!({"q": 1})).await.failed);
    assert!(web.call(&Call { name: "read".into(), arguments: json!({}) }).await.is_none());
}

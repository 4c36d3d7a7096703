//! The log of requests, over a real socket: only there can a client leave.

use std::time::Duration;

use scripted::{Script, serve};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::client::{chat, chat_body, get, post, quick, server};

const PATIENCE: Duration = Duration::from_secs(20);

async fn start(script: Script) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(serve(listener, script));
    address
}

async fn open(address: std::net::SocketAddr, request: String) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("to write");
    stream
}

fn ask(prompt: &str) -> String {
    let body = chat_body(prompt).to_string();
    format!("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

async fn log(address: std::net::SocketAddr) -> Value {
    let request = "GET /scripted/requests HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let mut answer = String::new();
    open(address, request.to_owned()).await.read_to_string(&mut answer).await.expect("to read");
    let body = answer.split_once("\r\n\r\n").expect("a body").1;
    serde_json::from_str(body).expect(body)
}

/// Waits until the first request's record holds a value.
async fn until(address: std::net::SocketAddr, pointer: &str, expected: impl Fn(&Value) -> bool) {
    let seen = async {
        while !log(address).await.pointer(pointer).is_some_and(&expected) {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, seen).await.expect(pointer);
}

#[tokio::test]
async fn a_client_that_leaves_is_seen() {
    for prompt in ["[[count 100000]][[rate 20]]", "[[hang after 1]]", "[[loading 60000]]"] {
        let address = start(quick()).await;
        let client = open(address, ask(prompt)).await;
        until(address, "/concurrent/now", |now| now == 1).await;
        assert_eq!(log(address).await["requests"][0]["finished_unix_ms"], Value::Null);
        drop(client);
        until(address, "/requests/0/disconnected", |left| left == true).await;
        until(address, "/concurrent/now", |now| now == 0).await;
    }
}

#[tokio::test]
async fn a_client_that_stays_is_not() {
    let address = start(quick()).await;
    let mut client =
        open(address, ask("[[count 20]]").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n")).await;
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.expect("to read");
    assert!(answer.contains("[DONE]"));
    until(address, "/requests/0/finished_unix_ms", Value::is_u64).await;
    let record = &log(address).await["requests"][0];
    assert_eq!(
        (&record["disconnected"], &record["tokens"], &record["status"]),
        (&false.into(), &20.into(), &200.into())
    );
}

#[tokio::test]
async fn records_what_was_asked() {
    let router = server(quick());
    chat(&router, "[[say one]]").await;
    chat(&router, "[[die]]").await;
    let log = get(&router, "/scripted/requests").await.json();
    assert_eq!(log["requests"][0]["last_user_message"], "[[say one]]");
    assert_eq!(log["requests"][1]["status"], 500);
    assert_eq!(log["concurrent_by_model"]["small"]["max"], 1);
    assert_eq!(post(&router, "/scripted/reset", Value::Null).await.status, 204);
    assert_eq!(get(&router, "/scripted/requests").await.json()["requests"], serde_json::json!([]));
}

#[tokio::test]
async fn only_loopback_is_served() {
    let listener = TcpListener::bind("0.0.0.0:0").await.expect("a port");
    assert!(serve(listener, quick()).await.is_err());
}

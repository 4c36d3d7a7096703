use std::env;
use std::time::Duration;

use reqwest::{Client, NoProxy, Proxy, redirect};

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Shorter than the five seconds after which many servers, llama.cpp's among them, close a connection that nobody uses:
/// a question that meets the closing is lost, and must not be sent again by itself.
const IDLE_MAX: Duration = Duration::from_secs(2);
const LOOPBACK: &str = "localhost,127.0.0.0/8,::1";

/// The one client for every model server. It follows no redirect, since a key must not travel to another host, and
/// takes no proxy to this machine, whatever the environment says.
pub fn http_client() -> Result<Client, reqwest::Error> {
    // Fails only where a provider is installed already, and then that one serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_LIMIT)
        .tcp_keepalive(KEEPALIVE)
        .pool_idle_timeout(IDLE_MAX)
        .tcp_nodelay(true);
    for proxy in proxies(|name| env::var(name).ok()) {
        builder = builder.proxy(proxy?);
    }
    builder.build()
}

fn proxies(variable: impl Fn(&str) -> Option<String>) -> Vec<Result<Proxy, reqwest::Error>> {
    let either = |name: &str| {
        variable(name).or_else(|| variable(&name.to_uppercase())).filter(|value| !value.trim().is_empty())
    };
    let direct =
        [Some(LOOPBACK.to_owned()), either("no_proxy")].into_iter().flatten().collect::<Vec<_>>().join(",");
    let make = |proxy: Result<Proxy, reqwest::Error>| {
        proxy.map(|proxy| proxy.no_proxy(NoProxy::from_string(&direct)))
    };
    [
        either("https_proxy").map(Proxy::https),
        either("http_proxy").map(Proxy::http),
        either("all_proxy").map(Proxy::all),
    ]
    .into_iter()
    .flatten()
    .map(make)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::http::StatusCode;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    async fn serve(status: StatusCode) -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router =
            Router::new().fallback(move || async move { (status, [("location", "http://192.0.2.1/")]) });
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }

    /// Control: another host goes through the proxy, so the proxy would be found if it were asked.
    #[tokio::test]
    async fn loopback_is_reached_without_the_proxy() {
        let proxy = serve(StatusCode::IM_A_TEAPOT).await;
        let direct = serve(StatusCode::OK).await;
        http_client().unwrap();
        let mut builder = Client::builder().no_proxy();
        for made in proxies(|name| (name == "http_proxy").then(|| format!("http://{proxy}"))) {
            builder = builder.proxy(made.unwrap());
        }
        let client = builder.build().unwrap();
        let status = async |url: String| client.get(url).send().await.unwrap().status();
        assert_eq!(status(format!("http://{direct}/")).await, StatusCode::OK);
        assert_eq!(status(format!("http://localhost:{}/", direct.port())).await, StatusCode::OK);
        assert_eq!(status("http://models.invalid/".to_owned()).await, StatusCode::IM_A_TEAPOT);
    }

    /// Answers one question a connection, and hangs up on the next, as a server does that was about to close it.
    async fn serve_once_a_connection() -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut question = [0; 1024];
                    let _ = connection.read(&mut question).await;
                    let _ = connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
                    let _ = connection.read(&mut question).await;
                });
            }
        });
        address
    }

    /// Control: a client as it comes takes the old connection.
    #[tokio::test]
    async fn a_connection_that_a_server_may_be_closing_is_not_used_again() {
        let url = format!("http://{}/", serve_once_a_connection().await);
        let (ours, plain) = (http_client().unwrap(), Client::builder().no_proxy().build().unwrap());
        for client in [&ours, &plain] {
            client.post(&url).send().await.unwrap();
        }
        tokio::time::sleep(IDLE_MAX + Duration::from_millis(300)).await;
        assert!(ours.post(&url).send().await.is_ok());
        assert!(plain.post(&url).send().await.is_err());
    }

    /// Control: a client as it comes follows, and fails on the address that leads nowhere.
    #[tokio::test]
    async fn a_redirect_is_not_followed() {
        let server = serve(StatusCode::TEMPORARY_REDIRECT).await;
        let client = http_client().unwrap();
        let response = client.get(format!("http://{server}/")).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::TEMPORARY_REDIRECT);
        let follows = Client::builder().no_proxy().timeout(Duration::from_millis(300)).build().unwrap();
        assert!(follows.get(format!("http://{server}/")).send().await.is_err());
    }
}

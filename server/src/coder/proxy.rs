//! The way from an agent behind its wall to its own provider, where it works on its own login: a proxy on loopback,
//! for one task, that leads to the hosts of that provider and nowhere else.
//!
//! What passes is encrypted from the agent to the provider. Names are resolved here, since behind the wall none are,
//! and an address of this network is refused whatever name leads to it.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use futures::future::{BoxFuture, FutureExt as _};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream, lookup_host},
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{health::Health, web::is_public};

const PORT: u16 = 443;
const HEAD_BYTES_MAX: usize = 8 * 1024;
const HEAD_WAIT_MAX: Duration = Duration::from_secs(10);
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(20);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// More than any agent holds open; the next one waits.
const TUNNELS_MAX: usize = 64;

/// Finds the addresses of a host. A test has its own.
pub type Resolve = fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;

/// Open for as long as it is held.
pub struct Proxy {
    port: u16,
    leads: Leads,
    /// The tunnels end with whoever serves them.
    serving: JoinSet<()>,
}

impl Proxy {
    pub async fn open(hosts: &'static [&'static str]) -> io::Result<Self> {
        Self::open_with(hosts, public).await
    }

    async fn open_with(hosts: &'static [&'static str], resolve: Resolve) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let mut serving = JoinSet::new();
        let leads = Leads { hosts, resolve, health: Arc::default() };
        serving.spawn(serve(listener, leads.clone()));
        Ok(Self { port, leads, serving })
    }

    /// Serves here too: in the agent's own network, where it has one.
    pub fn answer_at(&mut self, door: std::net::TcpListener) -> io::Result<()> {
        self.serving.spawn(serve(TcpListener::from_std(door)?, self.leads.clone()));
        Ok(())
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Waits until the provider could not be reached so often in a row that there is no use in trying on.
    pub async fn given_up(&self) -> String {
        self.leads.health.given_up().await
    }
}

/// Where tunnels may lead, and how it is found.
#[derive(Clone)]
struct Leads {
    hosts: &'static [&'static str],
    resolve: Resolve,
    health: Arc<Health>,
}

async fn serve(listener: TcpListener, leads: Leads) {
    let places = Arc::new(Semaphore::new(TUNNELS_MAX));
    let mut tunnels = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        while tunnels.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            // There are too many open files, most likely.
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let leads = leads.clone();
        tunnels.spawn(async move {
            let _place = place;
            if let Err(error) = tunnel(stream, &leads).await {
                tracing::debug!(%error, "an agent's way to its provider ended");
            }
        });
    }
}

async fn tunnel(mut agent: TcpStream, leads: &Leads) -> io::Result<()> {
    let asked = timeout(HEAD_WAIT_MAX, head(&mut agent)).await??;
    let host = match target(&asked).filter(|host| leads.hosts.contains(&host.as_str())) {
        Some(host) => host,
        None => return refuse(&mut agent, "403 Forbidden").await,
    };
    let connected = timeout(CONNECT_WAIT_MAX, connect((leads.resolve)(host.clone()))).await;
    let Ok(Ok(mut provider)) = connected else {
        leads.health.failed(&format!("{host} cannot be reached."));
        return refuse(&mut agent, "502 Bad Gateway").await;
    };
    leads.health.answered();
    agent.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    copy_bidirectional(&mut agent, &mut provider).await?;
    Ok(())
}

/// All up to the empty line. What follows it belongs to the tunnel, and nothing does before there is one.
async fn head(agent: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == HEAD_BYTES_MAX {
            return Err(io::Error::other("the request has no end"));
        }
        head.push(agent.read_u8().await?);
    }
    String::from_utf8(head).map_err(io::Error::other)
}

/// The host of a request for a tunnel to the port of the encrypted web.
fn target(head: &str) -> Option<String> {
    let mut words = head.lines().next()?.split(' ');
    let (method, place) = (words.next()?, words.next()?);
    let (host, port) = place.rsplit_once(':')?;
    (method == "CONNECT" && port.parse() == Ok(PORT)).then(|| host.to_ascii_lowercase())
}

async fn connect(addresses: BoxFuture<'static, io::Result<Vec<SocketAddr>>>) -> io::Result<TcpStream> {
    let mut last = io::Error::other("the host has no public address");
    for address in addresses.await? {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn public(host: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
    async move {
        let found = lookup_host((host, PORT)).await?;
        Ok(found.filter(|address| is_public(address.ip())).collect())
    }
    .boxed()
}

async fn refuse(agent: &mut TcpStream, status: &str) -> io::Result<()> {
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    agent.write_all(answer.as_bytes()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A provider that says its name to whoever comes.
    async fn provider() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                stream.write_all(b"the provider").await.unwrap();
            }
        });
        address
    }

    /// `fake.test` is wherever its port says; the rest is as in earnest.
    fn scripted(host: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        match host.strip_suffix(".fake.test").and_then(|port| port.parse::<u16>().ok()) {
            Some(port) => async move { Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]) }.boxed(),
            None => public(host),
        }
    }

    async fn asked(proxy: &Proxy, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.unwrap().unwrap();
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test]
    async fn a_tunnel_leads_to_the_agents_provider_and_nowhere_else() {
        let address = provider().await;
        let name: &'static str = format!("{}.fake.test", address.port()).leak();
        let hosts: &'static [&'static str] = vec![name, "localhost", "127.0.0.1"].leak();
        let proxy = Proxy::open_with(hosts, scripted).await.unwrap();
        let connect = |host: &str| format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let through = "HTTP/1.1 200 Connection established\r\n\r\nthe provider";
        assert_eq!(asked(&proxy, &connect(&format!("{name}:443"))).await, through);
        assert_eq!(asked(&proxy, &connect(&format!("{}:443", name.to_uppercase()))).await, through);
        for refused in [
            connect("example.org:443"),
            connect(&format!("{name}:80")),
            connect(&format!("{name}:443.evil")),
            connect(&format!("evil.{name}:443")),
            connect(name),
            format!("GET http://{name}/ HTTP/1.1\r\n\r\n"),
            "nonsense\r\n\r\n".to_owned(),
        ] {
            let answer = asked(&proxy, &refused).await;
            assert!(answer.starts_with("HTTP/1.1 403 Forbidden"), "{refused}: {answer}");
        }
        // A name on the list that leads into this network: it is resolved, and not connected to.
        for private in ["localhost:443", "127.0.0.1:443"] {
            let answer = asked(&proxy, &connect(private)).await;
            assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway"), "{private}: {answer}");
        }
        for _ in 0..3 {
            assert_eq!(proxy.given_up().now_or_never(), None);
            asked(&proxy, &connect("localhost:443")).await;
        }
        assert!(proxy.given_up().await.contains("localhost cannot be reached."));
    }

    #[tokio::test]
    async fn a_tunnel_ends_with_its_task() {
        let address = provider().await;
        let name: &'static str = format!("{}.fake.test", address.port()).leak();
        let proxy = Proxy::open_with(vec![name].leak(), scripted).await.unwrap();
        let port = proxy.port();
        // One that has said nothing yet is cut as well.
        let mut silent = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        silent.write_all(b"CONNECT ").await.unwrap();
        drop(proxy);
        let mut rest = Vec::new();
        let ended = timeout(Duration::from_secs(20), silent.read_to_end(&mut rest)).await.unwrap();
        assert!(rest.is_empty() || ended.is_err());
        let gone = async {
            while TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(20), gone).await.unwrap();
    }
}

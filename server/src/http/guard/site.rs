use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::http::{Uri, uri::Scheme};

/// The names under which this server is reached, and no others; and who may stand in front of it.
#[derive(Clone, Debug)]
pub struct Site {
    port: u16,
    proxies: Vec<IpAddr>,
    hosts: Vec<String>,
    origins: Vec<String>,
    home: String,
    https: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum PublicUrlRejected {
    #[error(
        "public_url must be absolute and start with http:// or https://, for example https://code.example.org"
    )]
    NotAbsolute,
    #[error("public_url must not have a path: BooCode lives at the root of its host")]
    HasPath,
    #[error("public_url must not hold a user name or password")]
    HasUser,
}

impl Site {
    /// `listen` is what is listened on; `public_url` is what a TLS-terminating proxy in front is called.
    pub fn new(listen: SocketAddr, public_url: Option<&Uri>) -> Result<Self, PublicUrlRejected> {
        let port = listen.port();
        // One that listens elsewhere too is found on this machine as usual.
        let own = match listen.ip() {
            IpAddr::V4(ip) if ip.is_loopback() => ip.to_string(),
            IpAddr::V6(ip) if ip.is_loopback() => format!("[{ip}]"),
            _ => Ipv4Addr::LOCALHOST.to_string(),
        };
        let mut site = Self {
            port,
            proxies: Vec::new(),
            hosts: Vec::new(),
            origins: Vec::new(),
            home: format!("http://{own}:{port}"),
            https: false,
        };
        for host in ["127.0.0.1", "localhost", "[::1]", &own] {
            site.admit("http", host, port);
        }
        if let Some(url) = public_url {
            let (Some(scheme), Some(authority)) = (url.scheme(), url.authority()) else {
                return Err(PublicUrlRejected::NotAbsolute);
            };
            let https = *scheme == Scheme::HTTPS;
            if !https && *scheme != Scheme::HTTP {
                return Err(PublicUrlRejected::NotAbsolute);
            }
            if authority.as_str().contains('@') {
                return Err(PublicUrlRejected::HasUser);
            }
            if url.path() != "/" || url.query().is_some() {
                return Err(PublicUrlRejected::HasPath);
            }
            let public_port = authority.port_u16().unwrap_or(if https { 443 } else { 80 });
            site.admit(scheme.as_str(), authority.host(), public_port);
            site.home = format!("{scheme}://{authority}");
            site.https = https;
        }
        Ok(site)
    }

    /// `proxies` are believed when they say for whom a request comes.
    pub fn behind(mut self, proxies: &[IpAddr]) -> Self {
        self.proxies = proxies.iter().map(IpAddr::to_canonical).collect();
        self
    }

    pub fn proxies(&self) -> &[IpAddr] {
        &self.proxies
    }

    /// Whoever is not on this machine comes through the proxy, which ends TLS.
    pub(super) fn takes_from(&self, peer: IpAddr) -> bool {
        peer.to_canonical().is_loopback() || self.proxies.contains(&peer.to_canonical())
    }

    /// Ports share one cookie jar, so the name tells two servers on one machine apart.
    pub fn cookie_name(&self) -> String {
        format!("boocode_{}", self.port)
    }

    pub fn is_https(&self) -> bool {
        self.https
    }

    /// Where a browser finds it: the public address, or else this machine's own.
    pub fn home(&self) -> &str {
        &self.home
    }

    /// Whether only this machine reaches it.
    pub fn is_loopback(&self) -> bool {
        let host = self.home.parse::<Uri>().ok().and_then(|home| home.host().map(str::to_owned));
        host.is_some_and(|host| domain::catalogue::is_loopback(&host))
    }

    /// What is printed for the user to open.
    pub fn login_link(&self, token: &crate::auth::Credential) -> String {
        format!("{}/login?token={}", self.home, token.expose())
    }

    pub(super) fn answers_to(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    /// Browsers write an origin in one way only, so this compares bytes.
    pub(super) fn is_origin(&self, origin: &[u8]) -> bool {
        self.origins.iter().any(|known| known.as_bytes() == origin)
    }

    fn admit(&mut self, scheme: &str, host: &str, port: u16) {
        let host = host.to_ascii_lowercase();
        let with_port = format!("{host}:{port}");
        // A default port may be left out of Host, and is always left out of Origin.
        if matches!((scheme, port), ("http", 80) | ("https", 443)) {
            self.origins.push(format!("{scheme}://{host}"));
            self.hosts.push(host);
        } else {
            self.origins.push(format!("{scheme}://{with_port}"));
        }
        self.hosts.push(with_port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(port: u16, public_url: &str) -> Result<Site, PublicUrlRejected> {
        let url: Option<Uri> = (!public_url.is_empty()).then(|| public_url.parse().unwrap());
        Site::new(SocketAddr::from(([127, 0, 0, 1], port)), url.as_ref())
    }

    #[test]
    fn it_answers_where_it_listens() {
        for (listen, home) in [
            ("127.0.0.1:3400", "http://127.0.0.1:3400"),
            ("127.0.0.2:3400", "http://127.0.0.2:3400"),
            ("[::1]:3400", "http://[::1]:3400"),
            ("0.0.0.0:3400", "http://127.0.0.1:3400"),
            ("192.168.1.5:3400", "http://127.0.0.1:3400"),
        ] {
            let site = Site::new(listen.parse().unwrap(), None).unwrap();
            assert_eq!(site.home(), home, "{listen}");
            assert!(site.answers_to(home.strip_prefix("http://").unwrap()), "{listen}");
            assert!(site.is_origin(home.as_bytes()), "{listen}");
            assert!(!site.answers_to("192.168.1.5:3400"), "{listen}");
        }
    }

    #[test]
    fn hosts_and_origins() {
        for (port, public_url, host, origin) in [
            (3400, "", "127.0.0.1:3400", "http://127.0.0.1:3400"),
            (3400, "", "LocalHost:3400", "http://localhost:3400"),
            (3400, "", "[::1]:3400", "http://[::1]:3400"),
            (80, "", "localhost", "http://localhost"),
            (80, "", "localhost:80", "http://localhost"),
            (3400, "https://Code.Example.org", "code.example.org", "https://code.example.org"),
            (3400, "https://code.example.org", "code.example.org:443", "https://code.example.org"),
            (
                3400,
                "https://code.example.org:8443/",
                "code.example.org:8443",
                "https://code.example.org:8443",
            ),
        ] {
            let site = site(port, public_url).unwrap();
            assert!(site.answers_to(host), "{host}");
            assert!(site.is_origin(origin.as_bytes()), "{origin}");
        }
    }

    #[test]
    fn near_misses() {
        let site = site(3400, "https://code.example.org").unwrap();
        for host in [
            "",
            "localhost",
            "localhost:3401",
            "127.0.0.1",
            "127.0.0.2:3400",
            "localhost.evil.org:3400",
            "evil.org",
            "code.example.org.",
            "code.example.org:3400",
            "localhost:3400@evil.org",
            " localhost:3400",
        ] {
            assert!(!site.answers_to(host), "{host:?}");
        }
        for origin in [
            "",
            "null",
            "http://localhost",
            "https://localhost:3400",
            "http://localhost:3400/",
            "http://localhost:34000",
            "http://LOCALHOST:3400",
            "http://code.example.org",
            "https://code.example.org:443",
            "https://code.example.org.evil.org",
        ] {
            assert!(!site.is_origin(origin.as_bytes()), "{origin:?}");
        }
    }

    #[test]
    fn only_a_public_address_is_reached_from_elsewhere() {
        for (public_url, is_loopback) in [
            ("", true),
            ("http://localhost:8080", true),
            ("http://[::1]:8080", true),
            ("https://code.example.org", false),
            ("https://192.168.1.5:8443", false),
        ] {
            assert_eq!(site(3400, public_url).unwrap().is_loopback(), is_loopback, "{public_url}");
        }
    }

    #[test]
    fn public_urls_that_cannot_work_are_refused() {
        for url in [
            "code.example.org",
            "/x",
            "ftp://x.org",
            "https://u:p@x.org",
            "https://x.org/boo",
            "https://x.org/?a",
        ] {
            assert!(site(3400, url).is_err(), "{url}");
        }
    }
}

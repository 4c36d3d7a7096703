use axum::http::{Uri, uri::Scheme};

/// The names under which this server is reached, and no others.
#[derive(Clone, Debug)]
pub struct Site {
    port: u16,
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
    /// `port` is the one listened on; `public_url` is what a TLS-terminating proxy in front is called.
    pub fn new(port: u16, public_url: Option<&Uri>) -> Result<Self, PublicUrlRejected> {
        let mut site = Self {
            port,
            hosts: Vec::new(),
            origins: Vec::new(),
            home: format!("http://127.0.0.1:{port}"),
            https: false,
        };
        for host in ["127.0.0.1", "localhost", "[::1]"] {
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

    /// Ports share one cookie jar, so the name tells two servers on one machine apart.
    pub fn cookie_name(&self) -> String {
        format!("boocode_{}", self.port)
    }

    pub fn is_https(&self) -> bool {
        self.https
    }

    /// What is printed for the user to open.
    pub fn login_link(&self, token: &crate::auth::Secret) -> String {
        format!("{}/login?token={}", self.home, token.reveal())
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
        Site::new(port, url.as_ref())
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

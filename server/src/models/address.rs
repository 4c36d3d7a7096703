//! Where a model server is, normalised, so that two spellings of one place share one slot.

use std::net::IpAddr;

use domain::catalogue::is_loopback;
use reqwest::Url;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    root: String,
    api: String,
    slot: String,
    host: String,
}

impl Address {
    /// Takes `http://host:port`, or the base of the API with its path, such as `https://host/openai/v1`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let allowed = "allowed is http://host:port or https://host/path";
        let url =
            Url::parse(text).map_err(|error| format!("\"{text}\" is not a URL ({error}); {allowed}"))?;
        let host = match (url.scheme(), url.host_str()) {
            ("http" | "https", Some(host)) => host.to_owned(),
            _ => return Err(format!("\"{text}\" is not a web address; {allowed}")),
        };
        // The text is not repeated here: it holds a password.
        if !url.username().is_empty() || url.password().is_some() {
            return Err("a URL must not hold credentials; name the key's variable in api_key_env".into());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(format!("\"{text}\" has a query or fragment; {allowed}"));
        }
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let path = url.path().trim_end_matches('/');
        let root_path = path.strip_suffix("/v1").unwrap_or(path);
        let root = format!("{}://{host}{port}{root_path}", url.scheme());
        // A bare host means the usual place. A path was written by someone who knows the API's base.
        let api = if root_path.is_empty() || root_path != path { format!("{root}/v1") } else { root.clone() };
        let slot_host = if is_loopback(&host) { "127.0.0.1" } else { &host };
        let slot = format!("{}://{slot_host}{port}{root_path}", url.scheme());
        Ok(Address { root, api, slot, host })
    }

    /// Where the server's own pages are: `/running`, `/props`, `/api/tags`.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Where `/chat/completions` and `/models` are.
    pub fn api(&self) -> &str {
        &self.api
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }

    /// Whether a key may be sent there: encrypted, or within this machine or a private network.
    pub fn may_carry_a_key(&self) -> bool {
        let private = match self.host.trim_matches(['[', ']']).parse() {
            Ok(IpAddr::V4(address)) => address.is_private(),
            Ok(IpAddr::V6(address)) => address.is_unique_local(),
            Err(_) => false,
        };
        self.root.starts_with("https://") || self.is_loopback() || private
    }

    pub fn is_same_server(&self, other: &Address) -> bool {
        self.slot == other.slot
    }

    /// The machine whose own it is: a loopback server is a different one on each, and its tasks are claimed there only.
    pub fn machine(&self, hostname: &str) -> Option<String> {
        self.is_loopback().then(|| hostname.to_owned())
    }

    /// The name of the server's slot in Postgres.
    pub fn slot_key(&self, hostname: &str) -> String {
        match self.machine(hostname) {
            Some(machine) => format!("{machine}|{}", self.slot),
            None => self.slot.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        let check = |text: &str, root: &str, api: &str, slot: &str| {
            let address = Address::parse(text).unwrap();
            assert_eq!(
                (address.root(), address.api(), &*address.slot_key("box")),
                (root, api, slot),
                "{text}"
            );
        };
        for text in ["http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/"] {
            check(text, "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1", "box|http://127.0.0.1:8080");
        }
        check(
            "HTTP://LocalHost:8080",
            "http://localhost:8080",
            "http://localhost:8080/v1",
            "box|http://127.0.0.1:8080",
        );
        check("http://[::1]:8080", "http://[::1]:8080", "http://[::1]:8080/v1", "box|http://127.0.0.1:8080");
        check(
            "https://api.openai.com:443/v1",
            "https://api.openai.com",
            "https://api.openai.com/v1",
            "https://api.openai.com",
        );
        check(
            "https://host/v1beta/openai/",
            "https://host/v1beta/openai",
            "https://host/v1beta/openai",
            "https://host/v1beta/openai",
        );
        check("https://host/api/v1", "https://host/api", "https://host/api/v1", "https://host/api");
    }

    #[test]
    fn keys_travel_encrypted_or_not_far() {
        let check = |text: &str, expected| {
            assert_eq!(Address::parse(text).unwrap().may_carry_a_key(), expected, "{text}")
        };
        for text in ["https://host", "http://localhost:1", "http://192.168.1.5", "http://[fd00::1]:80"] {
            check(text, true);
        }
        for text in ["http://host", "http://8.8.8.8", "http://[2001:db8::1]"] {
            check(text, false);
        }
    }

    #[test]
    fn refusals() {
        let check = |text: &str, expected: &str| {
            let error = Address::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains("hunter2"), "a password was repeated: {error}");
        };
        check("localhost:8080", "not a web address");
        check("8080", "not a URL");
        check("ftp://host", "not a web address");
        check("https://me:hunter2@host", "must not hold credentials");
        check("https://host/?key=1", "query or fragment");
    }
}

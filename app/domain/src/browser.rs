//! The browsers that are signed in, and the code that signs in one more.

use serde::{Deserialize, Serialize};

use crate::id::BrowserId;

/// A browser that is signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Browser {
    pub id: BrowserId,
    /// As it called itself.
    pub user_agent: String,
    pub created_ms: i64,
    /// Noted once an hour.
    pub seen_ms: i64,
    /// The one that asks.
    pub is_this: bool,
    /// Whether a page of it is open now.
    pub is_connected: bool,
}

/// What another device needs to come in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// The address that links lead to.
    pub url: String,
    /// Whether only the machine that BooCode runs on reaches that address.
    pub is_loopback: bool,
    pub code: Option<Code>,
}

/// A link that signs one browser in, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    Open { link: String, qr: Qr, expires_ms: i64 },
    Used,
    Expired,
}

/// A QR code as one path over a square of `size` modules, its quiet border included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qr {
    pub size: u32,
    pub path: String,
}

/// What a person calls it: `Firefox on Linux`. What is not known stays as it was sent.
pub fn name(user_agent: &str) -> String {
    let has = |part: &&str| user_agent.contains(part);
    // Most browsers also name those that they descend from, so the younger ones are looked for first.
    let browser = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser/", "Samsung Internet"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]
    .into_iter()
    .find(|(mark, _)| has(mark));
    let system = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("CrOS", "ChromeOS"),
        ("Mac OS X", "Mac"),
        ("Linux", "Linux"),
    ]
    .into_iter()
    .find(|(mark, _)| has(mark));
    match (browser, system) {
        (Some((_, browser)), Some((_, system))) => format!("{browser} on {system}"),
        (Some((_, browser)), None) => browser.to_owned(),
        (None, _) => user_agent.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_called_by_their_names() {
        for (user_agent, expected) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Linux; Android 14; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/138.0.0.0 Mobile Safari/537.36",
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like \
                 Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.0 Safari/605.1.15",
                "Safari on Mac",
            ),
            ("curl/8.5.0", "curl/8.5.0"),
            ("", ""),
        ] {
            assert_eq!(name(user_agent), expected, "{user_agent}");
        }
    }
}

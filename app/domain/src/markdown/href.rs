//! Where a link may lead.

use std::fmt;

pub(super) const HREF_BYTES_MAX: usize = 2048;

/// An absolute http or https address, safe to stand in an `href`. There is no other way to make one than
/// [`Href::parse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Href(String);

impl Href {
    /// Stricter than browsers, which repair what they are given: a repaired address is not the one we checked.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > HREF_BYTES_MAX || !text.chars().all(is_visible) {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return None;
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        is_authority(authority).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Href {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A host and perhaps a port. A user's name before `@` is refused: its only use in a link is to look like the
/// host.
fn is_authority(authority: &str) -> bool {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split_once(']').is_some_and(|(address, rest)| {
            !address.is_empty()
                && address.chars().all(|c| c.is_ascii_hexdigit() || c == ':' || c == '.')
                && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
        });
    }
    match authority.split_once(':') {
        Some((host, port)) => is_host(host) && is_port(port),
        None => is_host(authority),
    }
}

fn is_host(host: &str) -> bool {
    host.starts_with(char::is_alphanumeric)
        && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_'))
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

/// Characters that show nothing or reorder what is shown make an address look like another one; a backslash is
/// a slash to browsers only.
fn is_visible(c: char) -> bool {
    !c.is_control()
        && !c.is_whitespace()
        && !matches!(c, '\\' | '<' | '>' | '"' | '`')
        && !matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        && !matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, allowed: bool) {
        assert_eq!(Href::parse(text).is_some(), allowed, "{text:?}");
    }

    #[test]
    fn web_addresses_are_allowed() {
        for text in [
            "https://example.com",
            "http://localhost:8080/a/b?c=d&e=f#g",
            "HTTPS://EXAMPLE.com/",
            "http://127.0.0.1/",
            "http://[::1]:3000/x",
            "https://münchen.example/straße",
            "https://example.com/a_(b)?q='x'",
            "https://example.com?q=a@b",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "/relative",
            "//example.com",
            "example.com",
            "javascript:alert(1)",
            "JaVaScRiPt://example.com/%0aalert(1)",
            "java\nscript:alert(1)",
            " https://example.com",
            "https:/example.com",
            "https:\\\\example.com",
            "https://example.com\\@evil.example",
            "https://",
            "https:///path",
            "https://user@evil.example",
            "https://user:pass@evil.example/",
            "https://example.com:99999/",
            "https://example.com:+80/",
            "https://example.com:80:80/",
            "https://[::1/",
            "https://[::1]x/",
            "https://exa mple.com",
            "https://example.com/\u{202e}gpj.exe",
            "https://exam\u{200b}ple.com",
            "data:text/html,<script>alert(1)</script>",
            "vbscript:x",
            "file:///etc/passwd",
            "mailto:a@example.com",
            "ftp://example.com",
            "blob:https://example.com/x",
        ] {
            check(text, false);
        }
        check(&format!("https://example.com/{}", "a".repeat(HREF_BYTES_MAX)), false);
    }
}

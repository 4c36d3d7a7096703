//! A value that must never reach a log, a page or a child by accident: it has no `Display`, no `Serialize`,
//! and its `Debug` says nothing.

use std::fmt;

/// Shorter ones are not looked for in texts.
pub const BYTES_MIN: usize = 8;

#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }

    /// The value itself. The name makes each use easy to find and to question.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether these bytes hold it. One that is hardly longer than a word is everywhere.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        let value = self.0.trim().as_bytes();
        value.len() >= BYTES_MIN && bytes.windows(value.len()).any(|window| window == value)
    }

    /// The text without this value, should a server have quoted it.
    pub fn redact(&self, text: &str) -> String {
        match self.0.trim() {
            "" => text.to_owned(),
            value => text.replace(value, "[API key]"),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)).matches("hunter2").count(), 0);
        assert_eq!(secret.expose(), "hunter2");
    }
}

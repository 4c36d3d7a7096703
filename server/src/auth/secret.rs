use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

const SECRET_BYTES: usize = 32;
/// 32 bytes in base64url without padding.
const SECRET_CHARS: usize = 43;

/// 256 random bits, written in base64url. `Debug` does not show them: a log line is not a place for a secret.
#[derive(Clone)]
pub struct Secret(String);

/// What is kept of a secret. No salt and no slow hash: 256 random bits cannot be guessed from their SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecretHash(pub [u8; 32]);

impl SecretHash {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl Secret {
    pub fn generate() -> Self {
        Self(URL_SAFE_NO_PAD.encode(rand::random::<[u8; SECRET_BYTES]>()))
    }

    /// Refuses what no `generate` wrote, before anything is hashed or asked of the database.
    pub fn parse(text: &str) -> Option<Self> {
        let well_formed = text.len() == SECRET_CHARS
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        well_formed.then(|| Self(text.to_owned()))
    }

    pub fn hash(&self) -> SecretHash {
        SecretHash(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The secret itself, for the link or the cookie.
    pub fn reveal(&self) -> &str {
        &self.0
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
    fn a_secret_survives_its_text_and_hides_in_debug() {
        let secret = Secret::generate();
        let again = Secret::parse(secret.reveal()).unwrap();
        assert_eq!(secret.hash(), again.hash());
        assert_ne!(secret.hash(), Secret::generate().hash());
        assert!(!format!("{secret:?}").contains(secret.reveal()));
    }

    #[test]
    fn only_what_was_generated_parses() {
        let good = "A".repeat(SECRET_CHARS);
        assert!(Secret::parse(&good).is_some());
        for bad in ["", "A", &"A".repeat(44), &"+".repeat(43), &"A".repeat(1_000_000), &"é".repeat(22)] {
            assert!(Secret::parse(bad).is_none(), "{bad:.20}");
        }
    }
}

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::secret::Secret;

const RANDOM_BYTES: usize = 32;
/// 32 bytes in base64url without padding.
const TEXT_CHARS: usize = 43;

/// What lets a browser in, a link's token or a cookie: 256 random bits, written in base64url.
#[derive(Clone, Debug)]
pub struct Credential(Secret);

/// What is kept of a credential. No salt and no slow hash: 256 random bits cannot be guessed from their SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CredentialHash(pub [u8; 32]);

impl CredentialHash {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl Credential {
    pub fn generate() -> Self {
        Self(Secret::new(URL_SAFE_NO_PAD.encode(rand::random::<[u8; RANDOM_BYTES]>())))
    }

    /// Refuses what no `generate` wrote, before anything is hashed or asked of the database.
    pub fn parse(text: &str) -> Option<Self> {
        let well_formed = text.len() == TEXT_CHARS
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        well_formed.then(|| Self(Secret::new(text)))
    }

    pub fn hash(&self) -> CredentialHash {
        CredentialHash(Sha256::digest(self.expose().as_bytes()).into())
    }

    /// The value itself, for the link or the cookie.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_survives_its_text_and_hides_in_debug() {
        let credential = Credential::generate();
        let again = Credential::parse(credential.expose()).unwrap();
        assert_eq!(credential.hash(), again.hash());
        assert_ne!(credential.hash(), Credential::generate().hash());
        assert!(!format!("{credential:?}").contains(credential.expose()));
    }

    #[test]
    fn only_what_was_generated_parses() {
        let good = "A".repeat(TEXT_CHARS);
        assert!(Credential::parse(&good).is_some());
        for bad in ["", "A", &"A".repeat(44), &"+".repeat(43), &"A".repeat(1_000_000), &"é".repeat(22)] {
            assert!(Credential::parse(bad).is_none(), "{bad:.20}");
        }
    }
}

//! What Postgres keeps of the password, as it writes it itself.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::{
    digest::{SHA256, digest},
    hmac, pbkdf2,
};
use std::num::NonZeroU32;

/// Rounds make it slow to guess a weak password. Ours is 256 random bits, which nobody guesses in one round
/// either. At the usual 4,096 a client gives way hundreds of times in each login, and on a busy server each time
/// queues behind all that is busy: a login then takes seconds.
const ROUNDS: NonZeroU32 = NonZeroU32::MIN;

/// The SCRAM-SHA-256 verifier (RFC 5803) of `password`.
pub(super) fn verifier(password: &str) -> String {
    let salt: [u8; 16] = rand::random();
    let mut salted = [0; 32];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, ROUNDS, &salt, password.as_bytes(), &mut salted);
    let key = hmac::Key::new(hmac::HMAC_SHA256, &salted);
    let stored = digest(&SHA256, hmac::sign(&key, b"Client Key").as_ref());
    let server = hmac::sign(&key, b"Server Key");
    let [salt, stored, server] =
        [salt.as_ref(), stored.as_ref(), server.as_ref()].map(|part| STANDARD.encode(part));
    format!("SCRAM-SHA-256${ROUNDS}:{salt}${stored}:{server}")
}

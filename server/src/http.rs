//! What the server answers, and to whom.

pub mod assets;
pub mod feed;
pub mod guard;
pub mod headers;
pub mod health;
pub mod login;
pub mod router;

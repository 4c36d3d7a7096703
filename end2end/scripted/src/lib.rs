//! A model server that does what a test tells it to: the same answers for the same script, and every fault that
//! real servers were seen to have. Directives in the prompt choose the behaviour; see [`directive`].
//!
//! One request, end to end: `http/answer.rs` reads it through `wire` into an `Ask`, `plan.rs` decides the whole
//! `Reply`, `models.rs` waits until the model is loaded, `performance.rs` plays the reply at its pace, and
//! `emission.rs` writes it out through `wire`. `journal.rs` keeps what was asked.

use std::io;

use axum::serve::ListenerExt;
use tokio::net::TcpListener;

mod analyst;
mod ask;
pub mod calls;
pub mod directive;
mod emission;
mod http;
mod journal;
mod models;
mod opinion;
mod performance;
mod plan;
mod refusal;
mod sample;
mod schema;
mod seed;
mod server;
mod setup;
mod shell;
mod split;
mod swap;
mod wire;
mod words;

pub use http::router;
pub use sample::{MARKDOWN, MULTIBYTE};
pub use setup::{Flavour, Script};

/// Serves until it is dropped. Only on loopback: whoever reaches it may make it send gigabytes.
pub async fn serve(listener: TcpListener, script: Script) -> io::Result<()> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        let message =
            format!("{address} is not a loopback address; the scripted server listens on 127.0.0.1 only");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    // Without this the kernel holds small writes back, and a benchmark would measure that.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            eprintln!("scripted: could not set TCP_NODELAY: {error}");
        }
    });
    axum::serve(listener, router(script)).await
}

//! How connections are taken.

use axum::serve::{ListenerExt as _, TapIo};
use tokio::net::{TcpListener, TcpStream};

/// Connections over which every write leaves at once. The kernel would otherwise hold a small piece of an answer
/// back until the one before it is acknowledged, which a browser may put off for 40 ms.
pub fn without_delay(listener: TcpListener) -> TapIo<TcpListener, fn(&mut TcpStream)> {
    listener.tap_io(|connection: &mut TcpStream| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays with its delay");
        }
    })
}

#[cfg(test)]
mod tests {
    use axum::serve::Listener;

    use super::*;

    async fn accepted(mut listener: impl Listener<Io = TcpStream, Addr = std::net::SocketAddr>) -> bool {
        let address = listener.local_addr().unwrap();
        let (_client, (connection, _)) = tokio::join!(TcpStream::connect(address), listener.accept());
        connection.nodelay().unwrap()
    }

    #[tokio::test]
    async fn accepted_connections_do_not_wait() {
        let bind = async || TcpListener::bind("127.0.0.1:0").await.unwrap();
        assert!(!accepted(bind().await).await, "the control: the kernel's own way is to wait");
        assert!(accepted(without_delay(bind().await)).await);
    }
}

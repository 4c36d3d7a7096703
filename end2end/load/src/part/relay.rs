//! The least that can stand between two ends of a connection: bytes from one to the other.

use std::net::SocketAddr;

use anyhow::Result;
use tokio::{io::copy_bidirectional, net::TcpStream};

use crate::Goal;

pub async fn serve(to: SocketAddr) -> Result<Vec<Goal>> {
    let listener = super::announced().await?;
    loop {
        let (mut near, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut far = TcpStream::connect(to).await?;
            near.set_nodelay(true)?;
            far.set_nodelay(true)?;
            copy_bidirectional(&mut near, &mut far).await
        });
    }
}

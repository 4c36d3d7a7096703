//! The server's end of a task's door: the socket that the helper made in the task's network, as it comes.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::time::Duration;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// A wall goes up in milliseconds; a machine that swaps gets its time.
const LIMIT: Duration = Duration::from_secs(10);

/// Nothing where the helper ended first: why, it says itself.
pub async fn taken(from: std::os::unix::net::UnixStream) -> io::Result<Option<TcpListener>> {
    from.set_nonblocking(true)?;
    let from = UnixStream::from_std(from)?;
    let door = timeout(LIMIT, from.async_io(Interest::READABLE, || receive(&from))).await??;
    door.map(|door| door.set_nonblocking(true).map(|()| door)).transpose()
}

fn receive(from: &UnixStream) -> io::Result<Option<TcpListener>> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut room);
    recvmsg(from, &mut [IoSliceMut::new(&mut [0])], &mut message, RecvFlags::CMSG_CLOEXEC)?;
    let received = message.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut rights) => rights.next(),
        _ => None,
    });
    Ok(received.map(TcpListener::from))
}

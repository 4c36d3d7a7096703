//! A network of the task's own. It holds loopback and nothing else, so no address of the machine or beyond it can be
//! reached, by whatever protocol and at whatever port.
//!
//! The one way out is a socket that listens inside and is accepted from outside: a socket stays in the network that
//! it was made in, whoever holds it.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::{Failure, Naming};
use crate::sys;

/// Of the one byte that goes along with the socket; without any, nothing would.
const WORD: &[u8] = b"!";

/// Makes it, and hands the listening end of the door over.
pub fn build(door: Option<(u16, OwnedFd)>) -> Result<(), Failure> {
    sys::bring_loopback_up().naming("a network of its own could not be made")?;
    let Some((port, over)) = door else { return Ok(()) };
    let what = "the task's door could not be made";
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).naming(what)?;
    let rights = [listener.as_fd()];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut room);
    message.push(SendAncillaryMessage::ScmRights(&rights));
    sendmsg(over, &[IoSlice::new(WORD)], &mut message, SendFlags::NOSIGNAL).naming(what)?;
    Ok(())
}

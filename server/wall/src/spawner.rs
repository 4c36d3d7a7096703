//! The one thread that starts programs which end with us.
//!
//! The kernel takes the death of the *thread* that forked for the death of the parent, and a pool's threads come
//! and go. This one stays as long as the process.

use std::io;
use std::sync::{OnceLock, mpsc};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::{die_with_parent, enter::END_NOW};

type Order = (Command, Handle, oneshot::Sender<io::Result<Child>>);

pub async fn spawn(command: Command) -> io::Result<Child> {
    let (reply, child) = oneshot::channel();
    let order = (command, Handle::current(), reply);
    let gone = || io::Error::other("the thread that starts programs is gone");
    orders()?.send(order).map_err(|_| gone())?;
    child.await.map_err(|_| gone())?
}

/// A program of our own, outside of any wall. It is killed when this process ends, by `kill -9` too.
pub async fn spawn_to_die_with_us(mut command: Command) -> io::Result<Child> {
    die_with_parent(command.as_std_mut(), Signal::KILL);
    spawn(command).await
}

/// Not a plain kill: the helper takes everything that it owns along.
pub fn end_now(helper: &Child) {
    let pid = helper.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
    // Before it holds the signal back it has started nothing, and dies of it.
    let _ = pid.map(|pid| kill_process(pid, END_NOW));
}

fn orders() -> io::Result<&'static mpsc::Sender<Order>> {
    static ORDERS: OnceLock<io::Result<mpsc::Sender<Order>>> = OnceLock::new();
    let orders = ORDERS.get_or_init(|| {
        let (orders, waiting) = mpsc::channel::<Order>();
        std::thread::Builder::new().name("wall-spawn".to_owned()).spawn(move || {
            for (mut command, runtime, reply) in waiting {
                let _runtime = runtime.enter();
                if let Err(Ok(child)) = reply.send(command.spawn()) {
                    // Nobody waits for it any more.
                    end_now(&child);
                }
            }
        })?;
        Ok(orders)
    });
    orders.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))
}

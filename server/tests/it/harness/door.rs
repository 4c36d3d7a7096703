//! Who answers where a task has a network of its own, for tests that start one without a server.

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use wall::Process;

/// What comes to the task's door goes to the machine's port of that number.
pub fn passed_on(process: &mut Process, port: u16) {
    let Some(door) = process.door.take() else { return };
    let door = TcpListener::from_std(door).unwrap();
    tokio::spawn(async move {
        while let Ok((mut inside, _)) = door.accept().await {
            tokio::spawn(async move {
                let mut outside = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let _ = copy_bidirectional(&mut inside, &mut outside).await;
            });
        }
    });
}

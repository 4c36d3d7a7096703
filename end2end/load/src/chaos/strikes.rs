//! Who is killed, and when.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep_until, timeout};

use super::dice::Dice;
use crate::{
    boocode::{Home, PATIENCE, Server},
    machine,
};

/// Some strikes hit a start, most hit a server that is up.
const MOMENT_MAX_MS: u64 = 1_500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Server,
    Postgres,
    Both,
}

/// Strikes `kills` times, starts again each time, and gives back a server that is up.
pub async fn run(home: &Home, server: Server, kills: u32, dice: &mut Dice) -> Result<Server> {
    let mut target = Target { home, server, ready: true, struck: false };
    for _ in 0..kills {
        let victim = match dice.below(4) {
            0 => Victim::Postgres,
            1 => Victim::Both,
            _ => Victim::Server,
        };
        target.live_until(Instant::now() + Duration::from_millis(dice.below(MOMENT_MAX_MS))).await?;
        target.strike(victim).await?;
    }
    target.live_until(Instant::now()).await?;
    let up = async {
        while !target.ready {
            target.live_until(Instant::now() + PATIENCE).await?;
        }
        Ok::<_, anyhow::Error>(target.server)
    };
    timeout(2 * PATIENCE, up).await.context("the server does not get ready after the last kill")?
}

struct Target<'a> {
    home: &'a Home,
    server: Server,
    ready: bool,
    /// Whether something was killed since this server was started.
    struck: bool,
}

impl Target<'_> {
    /// Lets the server be until then; one that is not ready gets ready meanwhile.
    async fn live_until(&mut self, moment: Instant) -> Result<()> {
        while !self.ready && Instant::now() < moment {
            tokio::select! {
                link = self.server.ready() => match link {
                    Ok(_) => {
                        self.ready = true;
                        return Ok(sleep_until(moment).await);
                    }
                    // It lost its Postgres before it was up, said so and ended.
                    Err(_) if self.struck => self.start_again().await?,
                    Err(error) => return Err(error.context("a start failed that nobody had disturbed")),
                },
                () = sleep_until(moment) => {}
            }
        }
        sleep_until(moment).await;
        if self.ready && self.server.has_ended()? {
            if !self.struck {
                bail!("the server ended although nobody had touched it");
            }
            self.start_again().await?;
        }
        Ok(())
    }

    async fn strike(&mut self, victim: Victim) -> Result<()> {
        let postgres = machine::postmaster_of(&self.home.data_dir());
        if victim != Victim::Server
            && let Some(pid) = postgres.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
        {
            // It may have ended between the look and the kill.
            let _ = kill_process(pid, Signal::KILL);
            self.struck = true;
        }
        if victim != Victim::Postgres || postgres.is_none() {
            self.server.kill().await?;
            self.start_again().await?;
        }
        Ok(())
    }

    async fn start_again(&mut self) -> Result<()> {
        // Waits for the old one, which holds the port until it is gone.
        self.server.kill().await?;
        self.server = self.home.spawn()?;
        (self.ready, self.struck) = (false, false);
        Ok(())
    }
}

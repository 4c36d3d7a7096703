//! Who is killed, and when.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::dice::Dice;
use crate::{
    boocode::{Home, PATIENCE, Server},
    machine,
};

/// How long a server that is up is let alone at most, and one that is starting.
const UP_MAX_MS: u64 = 1_000;
const STARTING_MAX_MS: u64 = 500;

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
        // One in four may hit a server that is not up yet.
        let limit_ms = if dice.below(4) == 0 {
            STARTING_MAX_MS
        } else {
            target.get_ready().await?;
            UP_MAX_MS
        };
        target.live_until(Instant::now() + Duration::from_millis(dice.below(limit_ms))).await?;
        target.strike(victim).await?;
    }
    target.get_ready().await?;
    Ok(target.server)
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
        match timeout_at(moment, self.get_ready()).await {
            Ok(ready) => ready?,
            Err(_) => return Ok(()),
        }
        sleep_until(moment).await;
        self.get_ready().await
    }

    /// Waits until it is up. One that ended because of a strike is started again; may be given up at any time.
    async fn get_ready(&mut self) -> Result<()> {
        if self.ready && self.server.has_ended()? {
            self.after_its_end().await?;
        }
        while !self.ready {
            match timeout(PATIENCE, self.server.ready()).await.context("the server does not get ready")? {
                Ok(_) => self.ready = true,
                Err(error) => self.after_its_end().await.context(error)?,
            }
        }
        Ok(())
    }

    /// A server that has lost its Postgres may say so and end. Any other end is a fault.
    async fn after_its_end(&mut self) -> Result<()> {
        if !self.struck {
            bail!("the server ended although nothing had been killed since its start");
        }
        // It may be on its way out still, with the port and the data directory in its hands.
        self.server.kill().await?;
        self.start_again()
    }

    async fn strike(&mut self, victim: Victim) -> Result<()> {
        let postgres = machine::postmaster_of(&self.home.cluster());
        if victim != Victim::Server
            && let Some(pid) = postgres.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
        {
            // It may have ended between the look and the kill.
            let _ = kill_process(pid, Signal::KILL);
            self.struck = true;
        }
        if victim != Victim::Postgres || postgres.is_none() {
            self.server.kill().await?;
            self.start_again()?;
        }
        Ok(())
    }

    fn start_again(&mut self) -> Result<()> {
        self.server = self.home.spawn()?;
        (self.ready, self.struck) = (false, false);
        Ok(())
    }
}

//! Guessing is slow: failed logins draw from a bucket per peer and from one for everybody.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

const PEER: Rate = Rate { burst: 8, refill: Duration::from_secs(5) };
const EVERYBODY: Rate = Rate { burst: 40, refill: Duration::from_secs(1) };
const PEERS_MAX: usize = 1024;

#[derive(Default)]
pub struct FailedLogins(Mutex<Buckets>);

/// A login under way. It counts as failed unless it is told otherwise.
#[must_use]
pub struct Attempt<'a> {
    logins: &'a FailedLogins,
    peer: IpAddr,
}

impl FailedLogins {
    /// Or how long to wait before the next try.
    pub fn begin(&self, peer: IpAddr, now: Instant) -> Result<Attempt<'_>, Duration> {
        let peer = network(peer);
        let mut buckets = self.lock();
        let wait = buckets.everybody.wait(EVERYBODY, now).max(buckets.peer(peer, now).wait(PEER, now));
        if !wait.is_zero() {
            return Err(wait);
        }
        buckets.everybody.take(EVERYBODY, now);
        buckets.peer(peer, now).take(PEER, now);
        Ok(Attempt { logins: self, peer })
    }

    fn lock(&self) -> MutexGuard<'_, Buckets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    /// Gives back what `begin` took.
    pub fn succeeded(self) {
        let mut buckets = self.logins.lock();
        buckets.everybody.give_back(EVERYBODY);
        if let Some(bucket) = buckets.peers.get_mut(&self.peer) {
            bucket.give_back(PEER);
        }
    }
}

struct Rate {
    burst: u32,
    refill: Duration,
}

#[derive(Default)]
struct Buckets {
    everybody: Bucket,
    peers: HashMap<IpAddr, Bucket>,
}

impl Buckets {
    fn peer(&mut self, peer: IpAddr, now: Instant) -> &mut Bucket {
        if self.peers.len() >= PEERS_MAX && !self.peers.contains_key(&peer) {
            self.peers.retain(|_, bucket| bucket.full_at.is_some_and(|at| at > now));
        }
        if self.peers.len() >= PEERS_MAX && !self.peers.contains_key(&peer) {
            // A thousand peers failing at once share one bucket: strict, but bounded.
            return &mut self.everybody;
        }
        self.peers.entry(peer).or_default()
    }
}

/// Kept as the moment at which the bucket will be full again, the only number a leaky bucket needs.
#[derive(Default)]
struct Bucket {
    full_at: Option<Instant>,
}

impl Bucket {
    fn wait(&self, rate: Rate, now: Instant) -> Duration {
        let debt = self.debt(now) + rate.refill;
        debt.saturating_sub(rate.refill * rate.burst)
    }

    fn take(&mut self, rate: Rate, now: Instant) {
        self.full_at = Some(now + self.debt(now) + rate.refill);
    }

    fn give_back(&mut self, rate: Rate) {
        self.full_at = self.full_at.and_then(|at| at.checked_sub(rate.refill));
    }

    fn debt(&self, now: Instant) -> Duration {
        self.full_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(now))
    }
}

/// An IPv6 host owns a whole /64, so its addresses count as one peer.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & !u128::from(u64::MAX)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures_until_refused(logins: &FailedLogins, peer: &str, now: Instant) -> (u32, Duration) {
        for count in 0..1000 {
            if let Err(wait) = logins.begin(peer.parse().unwrap(), now) {
                return (count, wait);
            }
        }
        panic!("never refused");
    }

    #[test]
    fn a_peer_runs_dry_and_recovers() {
        let (logins, now) = (FailedLogins::default(), Instant::now());
        assert_eq!(failures_until_refused(&logins, "10.0.0.1", now), (PEER.burst, PEER.refill));
        assert_eq!(failures_until_refused(&logins, "10.0.0.2", now).0, PEER.burst);
        assert_eq!(failures_until_refused(&logins, "10.0.0.1", now + PEER.refill).0, 1);
        assert_eq!(failures_until_refused(&logins, "10.0.0.1", now + PEER.refill * 100).0, PEER.burst);
    }

    #[test]
    fn everybody_together_runs_dry() {
        let (logins, now) = (FailedLogins::default(), Instant::now());
        let total: u32 =
            (0..100).map(|n| failures_until_refused(&logins, &format!("10.0.1.{n}"), now).0).sum();
        assert_eq!(total, EVERYBODY.burst);
    }

    #[test]
    fn success_costs_nothing() {
        let (logins, now) = (FailedLogins::default(), Instant::now());
        for _ in 0..1000 {
            logins.begin("::1".parse().unwrap(), now).unwrap_or_else(|_| panic!("refused")).succeeded();
        }
    }

    #[test]
    fn addresses_of_one_ipv6_host_are_one_peer() {
        let (logins, now) = (FailedLogins::default(), Instant::now());
        failures_until_refused(&logins, "2001:db8::1", now);
        assert_eq!(failures_until_refused(&logins, "2001:db8::2", now).0, 0);
        assert_eq!(failures_until_refused(&logins, "2001:db8:0:1::2", now).0, PEER.burst);
        failures_until_refused(&logins, "10.9.9.9", now);
        assert_eq!(failures_until_refused(&logins, "::ffff:10.9.9.9", now).0, 0);
    }

    #[test]
    fn memory_is_bounded() {
        let (logins, start) = (FailedLogins::default(), Instant::now());
        for n in 0..10_000_u32 {
            let peer = IpAddr::V4((0x0a00_0000 + n).into());
            let _counted = logins.begin(peer, start + EVERYBODY.refill * n);
        }
        assert!(logins.lock().peers.len() <= PEERS_MAX);
    }
}

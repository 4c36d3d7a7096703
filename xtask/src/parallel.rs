//! The same work for many items, on every core.

use crate::process::go_on;
use anyhow::{Result, anyhow};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// What each item came to, in no order. A failure is the answer once everything that had begun is over, and
/// nothing begins after it, or after a wish to stop.
pub fn for_each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = go_on().and_then(|()| work(item));
            if outcome.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            done.push(outcome?);
        }
        Ok(done)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        let mut all = Vec::new();
        let mut failure = None;
        for thread in threads {
            match thread.join().map_err(|_| anyhow!("a thread ended badly")).flatten() {
                Ok(done) => all.extend(done),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(all), Err)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn every_item_is_worked_on_once() {
        let items: Vec<u32> = (0..100).collect();
        let mut doubled = for_each(&items, |item| Ok(item * 2)).unwrap();
        doubled.sort_unstable();
        assert_eq!(doubled, (0..100).map(|item| item * 2).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_begins_after_a_failure() {
        let items: Vec<usize> = (0..1000).collect();
        let begun = AtomicUsize::new(0);
        let outcome = for_each(&items, |item| {
            begun.fetch_add(1, Ordering::Relaxed);
            thread::sleep(std::time::Duration::from_millis(2));
            if *item == 0 { bail!("no") } else { Ok(()) }
        });
        assert_eq!(outcome.unwrap_err().to_string(), "no");
        assert!(begun.load(Ordering::Relaxed) < items.len());
    }
}

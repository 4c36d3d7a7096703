//! Keeps the best few of very many.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

/// One of the candidates, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranked {
    pub index: usize,
    pub score: i32,
    /// The length of the path: of two that fit as well, the shorter one is meant.
    pub len: usize,
}

impl Ord for Ranked {
    /// Better ones come first.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |ranked: &Self| (Reverse(ranked.score), ranked.len, ranked.index);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Debug)]
pub struct Best {
    limit: usize,
    /// The worst of those kept is on top.
    kept: BinaryHeap<Ranked>,
    /// How many were offered, kept or not.
    pub total: usize,
}

impl Best {
    pub fn new(limit: usize) -> Self {
        Self { limit, kept: BinaryHeap::new(), total: 0 }
    }

    pub fn offer(&mut self, ranked: Ranked) {
        self.total += 1;
        if self.kept.len() < self.limit {
            self.kept.push(ranked);
        } else if let Some(mut worst) = self.kept.peek_mut()
            && ranked < *worst
        {
            *worst = ranked;
        }
    }

    /// Takes in what was found in another part of the list.
    pub fn merge(&mut self, other: Self) {
        let total = self.total + other.total;
        other.kept.into_iter().for_each(|ranked| self.offer(ranked));
        self.total = total;
    }

    pub fn into_sorted(self) -> Vec<Ranked> {
        self.kept.into_sorted_vec()
    }
}

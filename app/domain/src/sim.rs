//! Chance with a seed, for simulations: the same seed gives the same story.

/// SplitMix64: small, fast, and good enough to choose between faults.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }
}

/// Runs `story` for every seed and names the seed that broke it.
pub fn for_each_seed(seeds: u64, story: impl Fn(u64) + std::panic::RefUnwindSafe) {
    for seed in 0..seeds {
        if let Err(panic) = std::panic::catch_unwind(|| story(seed)) {
            eprintln!("seed {seed} broke it");
            std::panic::resume_unwind(panic);
        }
    }
}

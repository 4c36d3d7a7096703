//! Small deterministic numbers. The standard hasher makes no promise between releases, and what this server
//! says must stay the same from one to the next.

/// Folds bytes into a running hash (FNV-1a).
pub fn hash(start: u64, bytes: &[u8]) -> u64 {
    let mut state = start ^ 0xcbf2_9ce4_8422_2325;
    for byte in bytes {
        state = (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    state
}

/// One well-mixed number for a seed and a position (splitmix64), so that any position is reached without the
/// ones before it.
pub fn mix(seed: u64, position: u64) -> u64 {
    let mut z = seed.wrapping_add(position.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

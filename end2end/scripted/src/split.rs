//! Cuts bytes at odd places, inside characters and lines, as a network may.

use bytes::Bytes;

use crate::seed::mix;

/// Leaves everything whole without a seed.
pub struct Splitter {
    seed: Option<u64>,
    cuts: u64,
}

impl Splitter {
    pub fn new(seed: Option<u64>) -> Self {
        Self { seed, cuts: 0 }
    }

    pub fn pieces(&mut self, text: String) -> Vec<Bytes> {
        let mut left = Bytes::from(text);
        let mut pieces = Vec::new();
        if let Some(seed) = self.seed {
            while left.len() > 1 {
                pieces.push(left.split_to(cut(&left, mix(seed, self.cuts))));
                self.cuts += 1;
            }
        }
        if !left.is_empty() {
            pieces.push(left);
        }
        pieces
    }
}

/// Where to cut next: always right after the first byte of a longer character, else at some odd place.
fn cut(bytes: &[u8], chance: u64) -> usize {
    const PIECE_BYTES_MAX: u64 = 23;
    let at = (1 + chance % PIECE_BYTES_MAX) as usize;
    let inside = bytes.iter().position(|byte| *byte >= 0xc0).map_or(bytes.len(), |lead| lead + 1);
    at.min(inside).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_longer_character_is_cut_inside() {
        let text = "aé日🦀 plain words that go on for a while";
        for seed in 0..50 {
            let pieces = Splitter::new(Some(seed)).pieces(text.to_owned());
            let torn = pieces.iter().filter(|piece| piece.last().is_some_and(|byte| *byte >= 0xc0)).count();
            assert_eq!((torn, pieces.concat()), (3, text.as_bytes().to_vec()), "seed {seed}");
        }
        assert_eq!(Splitter::new(None).pieces(text.to_owned()), [text]);
    }
}

//! The rows that have come, by chunks, as many as are worth keeping.

use std::collections::BTreeMap;

pub const CHUNK_ROWS: u32 = 200;
const CHUNKS_MAX: usize = 48;
/// So many are asked for at once.
const ASKED_MAX: usize = 4;

#[derive(Default)]
pub struct Chunks {
    chunks: BTreeMap<u32, Chunk>,
    asked: Vec<u32>,
}

struct Chunk {
    text: String,
    /// Where its rows begin, and where the last one ends.
    starts: Vec<u32>,
}

impl Chunks {
    pub fn put(&mut self, chunk: u32, text: String) {
        self.forget(chunk);
        let after = text.bytes().zip(1..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
        let starts = [0].into_iter().chain(after).chain([text.len() as u32 + 1]).collect();
        self.chunks.insert(chunk, Chunk { text, starts });
        // Whatever is furthest from what is read now.
        while self.chunks.len() > CHUNKS_MAX {
            let (first, last) = (self.chunks.keys().next().copied(), self.chunks.keys().next_back().copied());
            let (Some(first), Some(last)) = (first, last) else { break };
            let furthest = if chunk.abs_diff(first) > chunk.abs_diff(last) { first } else { last };
            self.chunks.remove(&furthest);
        }
    }

    pub fn forget(&mut self, chunk: u32) {
        self.asked.retain(|asked| *asked != chunk);
    }

    pub fn row(&self, row: u32) -> Option<&str> {
        let chunk = self.chunks.get(&(row / CHUNK_ROWS))?;
        let n = (row % CHUNK_ROWS) as usize;
        let (start, end) = (*chunk.starts.get(n)? as usize, *chunk.starts.get(n + 1)? as usize);
        chunk.text.get(start..end - 1)
    }

    /// The chunks to ask for: those of the rows in sight first, then those beside them.
    pub fn missing(&mut self, (first, last): (u32, u32), rows: u32) -> Vec<u32> {
        let (first, last) = (first / CHUNK_ROWS, last / CHUNK_ROWS);
        let beside = [last + 1, first.saturating_sub(1)];
        let mut missing = Vec::new();
        for chunk in (first..=last).chain(beside) {
            let is_known = self.chunks.contains_key(&chunk) || self.asked.contains(&chunk);
            if !is_known && chunk * CHUNK_ROWS < rows && self.asked.len() < ASKED_MAX {
                self.asked.push(chunk);
                missing.push(chunk);
            }
        }
        missing
    }
}

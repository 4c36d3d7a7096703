//! Server-sent events out of bytes that come in any cut.

/// One event: its name, empty where it has none, and its data.
pub struct Block {
    pub event: String,
    pub data: String,
}

#[derive(Default)]
pub struct Blocks {
    buffer: Vec<u8>,
    /// Up to here there is no end of a block.
    searched: usize,
}

impl Blocks {
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    pub fn next_block(&mut self) -> Option<Block> {
        let found = self.buffer.get(self.searched..)?.windows(2).position(|pair| pair == b"\n\n");
        let Some(at) = found else {
            self.searched = self.buffer.len().saturating_sub(1);
            return None;
        };
        let end = self.searched + at;
        let text = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        self.buffer.drain(..end + 2);
        self.searched = 0;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        Some(Block { event: field("event: ").to_owned(), data: field("data: ").to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_cut_gives_the_same_blocks() {
        let wire = "event: a\ndata: 1\n\ndata: é\n\n: comment\n\n".as_bytes();
        for step in 1..wire.len() {
            let mut blocks = Blocks::default();
            let mut seen = Vec::new();
            for piece in wire.chunks(step) {
                blocks.push(piece);
                while let Some(block) = blocks.next_block() {
                    seen.push(format!("{}={}", block.event, block.data));
                }
            }
            assert_eq!(seen, ["a=1", "=é", "="], "step {step}");
        }
    }
}

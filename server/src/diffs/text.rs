//! The lines of one side of a file.

use domain::diff::{
    Kind, Side,
    patch::{File, Patch},
};

/// Larger files are shown as far as the patch shows them.
const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

pub struct Text {
    text: String,
    starts: Vec<u32>,
    /// The numbers of its lines, where only some of them are known.
    numbers: Option<Vec<u32>>,
}

impl Text {
    /// All of a file.
    pub fn whole(bytes: Vec<u8>) -> Option<Self> {
        if bytes.len() > TEXT_BYTES_MAX {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let ends = text.bytes().zip(1..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
        let mut starts: Vec<u32> = [0].into_iter().chain(ends).collect();
        // What follows the last newline is a line only if there is something.
        starts.pop_if(|start| *start as usize == text.len());
        Some(Self { text, starts, numbers: None })
    }

    /// What a patch shows of a side.
    pub fn of_patch(patch: &Patch, file: &File, side: Side) -> Self {
        let (mut text, mut starts, mut numbers) = (String::new(), Vec::new(), Vec::new());
        let other = match side {
            Side::Old => Kind::Added,
            Side::New => Kind::Removed,
        };
        for hunk in patch.hunks(file) {
            let start = match side {
                Side::Old => hunk.old_start,
                Side::New => hunk.new_start,
            };
            let own = patch.lines(hunk).filter(|(_, kind)| *kind != other);
            for ((line, _), number) in own.zip(start..) {
                starts.push(text.len() as u32);
                numbers.push(number);
                text.push_str(&patch.text(line));
                text.push('\n');
            }
        }
        Self { text, starts, numbers: Some(numbers) }
    }

    pub fn is_whole(&self) -> bool {
        self.numbers.is_none()
    }

    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Where the line with this number is.
    pub fn index(&self, number: u32) -> Option<usize> {
        match &self.numbers {
            Some(numbers) => numbers.binary_search(&number).ok(),
            None => (number as usize).checked_sub(1).filter(|index| *index < self.starts.len()),
        }
    }

    /// Without its end.
    pub fn line(&self, index: usize) -> &str {
        self.lines(index, index + 1).trim_end_matches('\n')
    }

    /// The text of some lines.
    pub fn lines(&self, from: usize, to: usize) -> &str {
        let at = |index: usize| self.starts.get(index).map_or(self.text.len(), |start| *start as usize);
        &self.text[at(from)..at(to)]
    }

    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    pub fn size(&self) -> usize {
        self.text.len() + self.starts.len() * 8
    }
}

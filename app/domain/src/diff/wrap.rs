//! Where a long line goes on in the next row.
//!
//! All rows are of the same height, so that the place of each is known without drawing it. What a browser would
//! break by itself is broken here, by columns.

use super::hidden;

const TAB_COLUMNS: u32 = 4;
/// What follows is not shown: nobody reads it, and a browser would draw it for seconds.
pub const LINE_CHARS_MAX: usize = 2_000;

/// The byte offsets at which the rows of a line begin, but for the first.
pub fn breaks(text: &str, columns: u16) -> Vec<usize> {
    let mut breaks = Vec::new();
    let mut column = 0;
    for (at, c) in text.char_indices().take(LINE_CHARS_MAX) {
        let next = after(column, c);
        if columns > 0 && next > u32::from(columns) && column > 0 {
            breaks.push(at);
            column = after(0, c);
        } else {
            column = next;
        }
    }
    breaks
}

/// How many columns a line takes.
pub fn columns(text: &str) -> u32 {
    // Nearly all text is of one column a byte, and need not be looked at one by one.
    if text.len() <= LINE_CHARS_MAX && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len() as u32;
    }
    text.chars().take(LINE_CHARS_MAX).fold(0, after)
}

fn after(column: u32, c: char) -> u32 {
    if c == '\t' {
        return (column / TAB_COLUMNS + 1) * TAB_COLUMNS;
    }
    column + hidden::token(c).map_or_else(|| hidden::width(c), |token| token.len() as u32 + 1)
}

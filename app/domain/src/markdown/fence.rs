//! An open code fence takes each line as it is, so a stream can be appended to it without parsing it again.

/// A top-level fence whose opening line is complete and whose closing line has not come.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    marker: u8,
    length: usize,
    /// Where the first line begins that is not complete yet.
    line: usize,
    /// How much of the code comes from complete lines.
    kept: usize,
}

impl Fence {
    /// Reads the fence that opens at `start`. An indented one is left to the parser, because its lines lose
    /// their indent in ways that only the parser knows.
    pub(super) fn open(text: &str, start: usize) -> Option<Self> {
        let rest = text.get(start..)?;
        let marker = *rest.as_bytes().first().filter(|marker| matches!(marker, b'`' | b'~'))?;
        let at_line_start = start == 0 || text.as_bytes().get(start - 1) == Some(&b'\n');
        let line = start + rest.find('\n')? + 1;
        at_line_start.then(|| Self { marker, length: run(rest.as_bytes(), marker), line, kept: 0 })
    }

    /// Brings `code` up to date with what `text` has now; returns where the closing line ends when it is there.
    pub(super) fn feed(&mut self, text: &str, code: &mut String) -> Option<usize> {
        code.truncate(self.kept);
        while let Some(length) = text[self.line..].find('\n').map(|at| at + 1) {
            let line = &text[self.line..self.line + length];
            self.line += length;
            if self.is_closed_by(line) {
                return Some(self.line);
            }
            code.push_str(line);
            self.kept = code.len();
        }
        let unfinished = &text[self.line..];
        // The parser takes the end of the text after at most three spaces for the end of the fence.
        let is_blank_end = unfinished.len() <= 3 && unfinished.bytes().all(|b| b == b' ');
        if !is_blank_end && !self.is_closed_by(unfinished) {
            code.push_str(unfinished);
        }
        None
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.strip_suffix('\n').unwrap_or(line).as_bytes();
        let indent = run(line, b' ');
        let markers = run(&line[indent..], self.marker);
        indent <= 3 && markers >= self.length && line[indent + markers..].iter().all(|b| *b == b' ')
    }
}

fn run(bytes: &[u8], of: u8) -> usize {
    bytes.iter().take_while(|b| **b == of).count()
}

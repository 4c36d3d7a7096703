//! Reads a patch as git writes it. Lines are places in the patch, so that a million of them take little room.

mod header;

use std::{borrow::Cow, ops::Range};

use super::{FileOutline, Kind, LineId, Status, hidden::shown};
use header::Header;

/// Beyond this nobody reads it, and memory is better used.
pub const PATCH_BYTES_MAX: usize = 256 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("The patch has {} MB; up to {} MB can be shown.", .0 >> 20, PATCH_BYTES_MAX >> 20)]
    TooLarge(usize),
    #[error("Line {line} of the patch cannot be read: {why}.")]
    Line { line: usize, why: &'static str },
}

#[derive(Debug)]
pub struct Patch {
    bytes: Vec<u8>,
    pub files: Vec<File>,
    hunks: Vec<Hunk>,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub old_path: Option<String>,
    pub status: Status,
    pub modes: Option<(String, String)>,
    pub is_binary: bool,
    pub added: u32,
    pub removed: u32,
    /// Where its own patch is.
    bytes: Range<usize>,
    hunks: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    pub old_start: u32,
    pub old_count: u32,
    pub new_start: u32,
    pub new_count: u32,
    heading: Range<usize>,
    lines: Range<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    start: u32,
    len: u32,
    kind: Kind,
    has_newline: bool,
}

impl Patch {
    pub fn read(bytes: Vec<u8>) -> Result<Self, Unreadable> {
        if bytes.len() > PATCH_BYTES_MAX {
            return Err(Unreadable::TooLarge(bytes.len()));
        }
        let mut reader = Reader { rest: &bytes, at: 0, number: 0, hunks: Vec::new(), lines: Vec::new() };
        let files = reader.files()?;
        let Reader { hunks, lines, .. } = reader;
        Ok(Self { bytes, files, hunks, lines })
    }

    pub fn hunks(&self, file: &File) -> &[Hunk] {
        &self.hunks[file.hunks.clone()]
    }

    /// The lines of a hunk: what each is, under its id.
    pub fn lines(&self, hunk: &Hunk) -> impl Iterator<Item = (LineId, Kind)> {
        let lines = self.lines[hunk.lines.clone()].iter();
        lines.zip(hunk.lines.start..).map(|(line, n)| (LineId::new(n), line.kind))
    }

    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// Without its sign and its end. What is no text is shown as what can be read of it.
    pub fn text(&self, line: LineId) -> Cow<'_, str> {
        let Line { start, len, .. } = self.lines[line.index()];
        String::from_utf8_lossy(&self.bytes[start as usize..][..len as usize])
    }

    pub fn has_newline(&self, line: LineId) -> bool {
        self.lines[line.index()].has_newline
    }

    /// What git says the hunk is in.
    pub fn heading(&self, hunk: &Hunk) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes[hunk.heading.clone()])
    }

    /// The patch of one file.
    pub fn of_file(&self, file: &File) -> &[u8] {
        &self.bytes[file.bytes.clone()]
    }

    /// How much memory it takes.
    pub fn size(&self) -> usize {
        self.bytes.len()
            + self.lines.len() * size_of::<Line>()
            + self.hunks.len() * size_of::<Hunk>()
            + self.files.len() * size_of::<File>()
    }
}

impl File {
    pub fn outline(&self, rows: u32) -> FileOutline {
        FileOutline {
            path: shown(&self.path),
            old_path: self.old_path.as_deref().map(shown),
            status: self.status,
            added: self.added,
            removed: self.removed,
            is_binary: self.is_binary,
            modes: self.modes.clone(),
            rows,
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    /// Where `rest` begins.
    at: usize,
    number: usize,
    hunks: Vec<Hunk>,
    lines: Vec<Line>,
}

impl<'a> Reader<'a> {
    fn files(&mut self) -> Result<Vec<File>, Unreadable> {
        let mut files = Vec::new();
        while let Some(line) = self.peek() {
            if line.starts_with(b"diff --git ") || line.starts_with(b"--- ") {
                files.push(self.file()?);
            } else if line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ") {
                return Err(self.fault("it compares with more than one version"));
            } else {
                // Mail headers and the like.
                self.next();
            }
        }
        if files.is_empty() && self.at > 0 && self.number > 0 {
            return Err(Unreadable::Line { line: 1, why: "it is no patch" });
        }
        Ok(files)
    }

    fn file(&mut self) -> Result<File, Unreadable> {
        let (start, first_hunk) = (self.at, self.hunks.len());
        let mut header = Header::default();
        let (mut added, mut removed) = (0, 0);
        let mut is_first = true;
        while let Some(line) = self.peek() {
            if line.starts_with(b"@@ ") {
                let (more, less) = self.hunk()?;
                added += more;
                removed += less;
            } else if line.starts_with(b"GIT binary patch") {
                header.is_binary = true;
                self.next();
                // Its lines are never mistaken for a header, which has a space in it.
                while self
                    .peek()
                    .is_some_and(|line| !line.starts_with(b"diff ") && !line.starts_with(b"--- "))
                {
                    self.next();
                }
            } else if !is_first
                && (line.starts_with(b"diff ") || (header.is_named() && line.starts_with(b"--- ")))
            {
                break;
            } else if header.take(line) || self.hunks.len() == first_hunk {
                self.next();
            } else {
                break;
            }
            is_first = false;
        }
        let Some((path, old_path, status)) = header.paths() else {
            return Err(self.fault("no file is named"));
        };
        Ok(File {
            path,
            old_path,
            status,
            modes: header.modes(),
            is_binary: header.is_binary,
            added,
            removed,
            bytes: start..self.at,
            hunks: first_hunk..self.hunks.len(),
        })
    }

    /// Counts what its head says rather than looking for its end: a removed line may look like a header.
    fn hunk(&mut self) -> Result<(u32, u32), Unreadable> {
        let head_at = self.at;
        let head = self.next().unwrap_or_default();
        let Some(((old_start, old_count), (new_start, new_count), heading)) = header::hunk(head) else {
            return Err(self.fault("it does not begin a hunk as git does"));
        };
        let first_line = self.lines.len();
        let (mut old_left, mut new_left) = (old_count, new_count);
        while old_left > 0 || new_left > 0 {
            let at = self.at;
            let Some(line) = self.next() else {
                return Err(self.fault("the patch ends in the middle of a hunk"));
            };
            let (kind, sign) = match line.first() {
                Some(b' ') => (Kind::Context, 1),
                Some(b'-') => (Kind::Removed, 1),
                Some(b'+') => (Kind::Added, 1),
                Some(b'\\') => {
                    self.no_newline();
                    continue;
                }
                // Some programs take the blank at the end of a line away.
                None | Some(b'\r') => (Kind::Context, 0),
                Some(_) => return Err(self.fault("it is neither kept nor added nor removed")),
            };
            let (is_old, is_new) = (kind != Kind::Added, kind != Kind::Removed);
            if (is_old && old_left == 0) || (is_new && new_left == 0) {
                return Err(self.fault("the hunk is longer than it says"));
            }
            old_left -= u32::from(is_old);
            new_left -= u32::from(is_new);
            let (start, len) = ((at + sign) as u32, (line.len() - sign) as u32);
            self.lines.push(Line { start, len, kind, has_newline: true });
        }
        if self.peek().is_some_and(|line| line.starts_with(b"\\")) {
            self.next();
            self.no_newline();
        }
        let lines = first_line..self.lines.len();
        let count = |kind| self.lines[lines.clone()].iter().filter(|line| line.kind == kind).count() as u32;
        let counts = (count(Kind::Added), count(Kind::Removed));
        let heading = head_at + heading..head_at + head.len();
        self.hunks.push(Hunk { old_start, old_count, new_start, new_count, heading, lines });
        Ok(counts)
    }

    fn no_newline(&mut self) {
        if let Some(line) = self.lines.last_mut() {
            line.has_newline = false;
        }
    }

    fn peek(&self) -> Option<&'a [u8]> {
        (!self.rest.is_empty()).then(|| self.rest.split(|&byte| byte == b'\n').next().unwrap_or_default())
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.peek()?;
        let taken = (line.len() + 1).min(self.rest.len());
        self.rest = &self.rest[taken..];
        self.at += taken;
        self.number += 1;
        Some(line)
    }

    fn fault(&self, why: &'static str) -> Unreadable {
        Unreadable::Line { line: self.number, why }
    }
}

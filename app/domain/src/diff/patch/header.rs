//! What stands before the hunks of a file.

use super::Status;

/// Paths as they were written, and what git says of them.
#[derive(Default)]
pub struct Header {
    /// Both, from the first line; used where nothing better is said.
    git: Option<(String, String)>,
    old: Option<String>,
    new: Option<String>,
    from: Option<String>,
    to: Option<String>,
    is_copy: bool,
    old_mode: Option<String>,
    new_mode: Option<String>,
    is_new: bool,
    is_deleted: bool,
    pub is_binary: bool,
}

type Act = fn(&mut Header, &[u8]);

impl Header {
    /// Whether the line was one of a header.
    pub fn take(&mut self, line: &[u8]) -> bool {
        let words: [(&[u8], Act); 12] = [
            (b"diff --git ", |header, rest| header.git = both(rest)),
            (b"--- ", |header, rest| header.old = side(rest, b"a/")),
            (b"+++ ", |header, rest| header.new = side(rest, b"b/")),
            (b"rename from ", |header, rest| header.from = Some(name(rest))),
            (b"rename to ", |header, rest| header.to = Some(name(rest))),
            (b"copy from ", |header, rest| {
                header.from = Some(name(rest));
                header.is_copy = true;
            }),
            (b"copy to ", |header, rest| header.to = Some(name(rest))),
            (b"old mode ", |header, rest| header.old_mode = Some(name(rest))),
            (b"new mode ", |header, rest| header.new_mode = Some(name(rest))),
            (b"new file mode ", |header, _| header.is_new = true),
            (b"deleted file mode ", |header, _| header.is_deleted = true),
            (b"Binary files ", |header, _| header.is_binary = true),
        ];
        for (word, act) in words {
            if let Some(rest) = line.strip_prefix(word) {
                act(self, rest);
                return true;
            }
        }
        false
    }

    pub fn is_named(&self) -> bool {
        self.old.is_some() || self.new.is_some()
    }

    /// Its path, the one before if it differs, and what happened.
    pub fn paths(&self) -> Option<(String, Option<String>, Status)> {
        if let (Some(from), Some(to)) = (&self.from, &self.to) {
            let status = if self.is_copy { Status::Copied } else { Status::Renamed };
            return Some((to.clone(), Some(from.clone()), status));
        }
        let nowhere = |path: &Option<String>| path.as_deref() == Some(NOWHERE);
        let known = |path: &Option<String>| path.clone().filter(|path| path != NOWHERE);
        let (git_old, git_new) = self.git.clone().unzip();
        let old = known(&self.old).or(git_old);
        let new = known(&self.new).or(git_new);
        let status = if self.is_new || nowhere(&self.old) {
            Status::Added
        } else if self.is_deleted || nowhere(&self.new) {
            Status::Deleted
        } else {
            Status::Modified
        };
        let path = if status == Status::Deleted { old.or(new) } else { new.or(old) };
        Some((path?, None, status))
    }

    pub fn modes(&self) -> Option<(String, String)> {
        self.old_mode.clone().zip(self.new_mode.clone())
    }
}

const NOWHERE: &str = "/dev/null";

/// The path of a `---` or `+++` line. Git ends one that has blanks in it with a tab.
fn side(rest: &[u8], prefix: &[u8]) -> Option<String> {
    let bytes = unquoted(rest);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(&bytes);
    let bytes =
        bytes.split(|&byte| byte == b'\t').next().filter(|_| rest.first() != Some(&b'"')).unwrap_or(bytes);
    Some(String::from_utf8_lossy(bytes.strip_prefix(prefix).unwrap_or(bytes)).into_owned())
}

fn name(rest: &[u8]) -> String {
    let bytes = unquoted(rest);
    String::from_utf8_lossy(bytes.strip_suffix(b"\r").unwrap_or(&bytes)).into_owned()
}

/// Both paths of a `diff --git` line. Without quotes they are told apart only where they are the same, and where
/// they are not, git says them again in lines of their own.
fn both(rest: &[u8]) -> Option<(String, String)> {
    let rest = rest.strip_suffix(b"\r").unwrap_or(rest);
    let split = if rest.first() == Some(&b'"') {
        quoted_len(rest)?
    } else if rest.last() == Some(&b'"') {
        rest.windows(2).position(|pair| pair == b" \"")?
    } else {
        rest.len() / 2
    };
    let (old, new) = (rest.get(..split)?, rest.get(split + 1..)?);
    let (old, new) = (unquoted(old), unquoted(new));
    let (old, new) = (old.strip_prefix(b"a/").unwrap_or(&old), new.strip_prefix(b"b/").unwrap_or(&new));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (old == new).then(|| (text(old), text(new)))
}

/// How long the quoted word at the start is, with its quotes.
fn quoted_len(text: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    for (n, &byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(n + 1),
            _ => {}
        }
    }
    None
}

/// A path as it is, from how C writes it: git quotes paths with bytes that a terminal may not like.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let Some(len) = text.first().filter(|&&byte| byte == b'"').and_then(|_| quoted_len(text)) else {
        return text.to_vec();
    };
    let mut bytes = text[1..len - 1].iter().copied().peekable();
    let mut path = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            path.push(byte);
            continue;
        }
        path.push(match bytes.next() {
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => b'\r',
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = bytes.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                value as u8
            }
            Some(other) => other,
            None => b'\\',
        });
    }
    path
}

type Extent = (u32, u32);

/// `@@ -1,2 +3,4 @@ heading`: both extents, and where the heading begins.
pub fn hunk(line: &[u8]) -> Option<(Extent, Extent, usize)> {
    let end = line.windows(4).position(|four| four == b" @@ ").map(|n| (n, n + 4));
    let (end, heading) = end.or_else(|| {
        let trimmed = line.strip_suffix(b"\r").unwrap_or(line);
        Some((trimmed.strip_suffix(b" @@")?.len(), line.len()))
    })?;
    let extents = std::str::from_utf8(line.get(3..end)?).ok()?;
    let (old, new) = extents.split_once(' ')?;
    Some((extent(old.strip_prefix('-')?)?, extent(new.strip_prefix('+')?)?, heading))
}

fn extent(text: &str) -> Option<Extent> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

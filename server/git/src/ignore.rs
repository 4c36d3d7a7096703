//! git's rules for what is not to be kept, read from files that an agent may have written: no file is opened
//! but a plain one, and no pattern takes longer than its length times that of the path.

use std::io;

use crate::{
    Error, Limits,
    beneath::{Folder, split},
};

/// All rules on the way to a folder. What is beyond is not read; the last line then may be cut.
const RULES_BYTES_MAX: u64 = 1 << 20;
/// As long as a path can be. A longer line is no rule.
const PATTERN_BYTES_MAX: usize = 4096;
/// Patterns that are tried between two looks at the limits.
const PATTERNS_AT_ONCE: usize = 64;

/// The rules on the way to one folder, outermost first.
#[derive(Default)]
pub struct Rules(Vec<Level>);

struct Level {
    /// What a path begins with beneath the folder that holds the rules.
    prefix: usize,
    bytes: u64,
    patterns: Vec<Pattern>,
}

impl Rules {
    pub fn push(&mut self, text: &[u8], prefix: usize) {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let patterns = text.split(|byte| *byte == b'\n').filter_map(Pattern::new).collect();
        self.0.push(Level { prefix, bytes: text.len() as u64, patterns });
    }

    /// Takes in the `.gitignore` of the folder whose path is `prefix` bytes long, with its slash.
    pub fn enter(&mut self, folder: &Folder, prefix: usize) -> io::Result<()> {
        // As for git: a link is no file of rules.
        let held: u64 = self.0.iter().map(|level| level.bytes).sum();
        let room = RULES_BYTES_MAX.saturating_sub(held);
        let mut text = folder.read(b".gitignore", room)?.map(|(text, _)| text).unwrap_or_default();
        text.truncate(room as usize);
        self.push(&text, prefix);
        Ok(())
    }

    pub fn leave(&mut self) {
        self.0.pop();
    }

    /// The last rule that fits decides, of those closest to the file. A folder that is ignored is not entered.
    pub fn ignore(&self, path: &[u8], is_folder: bool, limits: &Limits) -> Result<bool, Error> {
        for level in self.0.iter().rev() {
            let Some(below) = path.get(level.prefix..) else { continue };
            for some in level.patterns.rchunks(PATTERNS_AT_ONCE) {
                limits.check()?;
                if let Some(found) = some.iter().rev().find(|one| one.fits(below, is_folder)) {
                    return Ok(!found.is_negated);
                }
            }
        }
        Ok(false)
    }
}

struct Pattern {
    is_negated: bool,
    only_folders: bool,
    /// Without a slash in it a pattern fits in every folder below.
    only_name: bool,
    tokens: Vec<Token>,
    /// Where every token is a byte.
    plain: Option<Vec<u8>>,
}

enum Token {
    Byte(u8),
    /// `?`
    One,
    Class(Box<[bool; 256]>),
    /// `*`
    Star,
    /// `**/`: any number of folders
    Folders,
    /// `**` at the end
    Rest,
}

impl Pattern {
    fn new(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.first() == Some(&b'#') || line.len() > PATTERN_BYTES_MAX {
            return None;
        }
        let line = trim_end(line);
        let (is_negated, line) = line.strip_prefix(b"!").map_or((false, line), |rest| (true, rest));
        let (only_folders, line) = line.strip_suffix(b"/").map_or((false, line), |rest| (true, rest));
        let only_name = !line.contains(&b'/');
        let line = line.strip_prefix(b"/").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        let tokens = tokens(line, only_name)?;
        let byte = |token: &Token| if let Token::Byte(byte) = token { Some(*byte) } else { None };
        let plain = tokens.iter().map(byte).collect();
        Some(Self { is_negated, only_folders, only_name, tokens, plain })
    }

    fn fits(&self, path: &[u8], is_folder: bool) -> bool {
        if self.only_folders && !is_folder {
            return false;
        }
        let text = if self.only_name { split(path).1 } else { path };
        match &self.plain {
            Some(plain) => plain == text,
            None => fits(&self.tokens, text),
        }
    }
}

/// Spaces at the end do not count, unless a backslash is before them.
fn trim_end(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while at < line.len() {
        let step = if line[at] == b'\\' { 2 } else { 1 };
        if line[at] != b' ' {
            end = (at + step).min(line.len());
        }
        at += step;
    }
    &line[..end]
}

/// `None` where a pattern can fit nothing.
fn tokens(pattern: &[u8], only_name: bool) -> Option<Vec<Token>> {
    // git compares what goes before the first wildcard by itself, so that to it a pattern begins there.
    let first = pattern.iter().position(|byte| b"*?[\\".contains(byte)).filter(|_| !only_name);
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(byte) = pattern.get(at) {
        at += 1;
        match byte {
            b'?' => tokens.push(Token::One),
            b'\\' => {
                tokens.push(Token::Byte(*pattern.get(at)?));
                at += 1;
            }
            b'[' => {
                let (class, end) = class(pattern, at)?;
                tokens.push(Token::Class(class));
                at = end;
            }
            b'*' => {
                let stars = pattern[at - 1..].iter().take_while(|byte| **byte == b'*').count();
                let begins = at == 1 || pattern[at - 2] == b'/' || first == Some(at - 1);
                at += stars - 1;
                match pattern.get(at) {
                    None if stars > 1 && begins => tokens.push(Token::Rest),
                    Some(b'/') if stars > 1 && begins => {
                        tokens.push(Token::Folders);
                        at += 1;
                    }
                    _ => tokens.push(Token::Star),
                }
            }
            byte => tokens.push(Token::Byte(*byte)),
        }
    }
    Some(tokens)
}

/// What stands in brackets, and where it ends.
fn class(pattern: &[u8], mut at: usize) -> Option<(Box<[bool; 256]>, usize)> {
    let mut class = Box::new([false; 256]);
    let is_negated = matches!(pattern.get(at)?, b'!' | b'^');
    at += usize::from(is_negated);
    let start = at;
    loop {
        let mut byte = *pattern.get(at)?;
        at += 1;
        if byte == b']' && at - 1 > start {
            break;
        }
        if byte == b'[' && pattern.get(at) == Some(&b':') {
            let end = pattern[at..].windows(2).position(|two| two == b":]");
            if let Some(end) = end {
                let name = &pattern[at + 1..at + end];
                (0..=255u8).filter(|byte| named(name, *byte)).for_each(|byte| class[byte as usize] = true);
                at += end + 2;
                continue;
            }
        }
        if byte == b'\\' {
            byte = *pattern.get(at)?;
            at += 1;
        }
        let mut last = byte;
        if pattern.get(at) == Some(&b'-') && pattern.get(at + 1).is_some_and(|next| *next != b']') {
            last = *pattern.get(at + 1)?;
            at += 2;
            if last == b'\\' {
                last = *pattern.get(at)?;
                at += 1;
            }
        }
        (byte..=last).for_each(|byte| class[byte as usize] = true);
    }
    if is_negated {
        class.iter_mut().for_each(|is_in| *is_in = !*is_in);
    }
    class[b'/' as usize] = false;
    Some((class, at))
}

fn named(class: &[u8], byte: u8) -> bool {
    match class {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0B,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => false,
    }
}

/// Follows every place that the tokens so far can have reached, all at once.
fn fits(tokens: &[Token], text: &[u8]) -> bool {
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for token in tokens {
        match token {
            Token::Star => {
                for at in 1..reached.len() {
                    reached[at] |= reached[at - 1] && text[at - 1] != b'/';
                }
            }
            Token::Rest | Token::Folders => {
                let anywhere = matches!(token, Token::Rest);
                let Some(first) = reached.iter().position(|is_reached| *is_reached) else { return false };
                for at in first + 1..reached.len() {
                    reached[at] |= anywhere || text[at - 1] == b'/';
                }
            }
            _ => {
                let takes = |byte: u8| match token {
                    Token::Byte(one) => *one == byte,
                    Token::Class(class) => class[byte as usize],
                    _ => byte != b'/',
                };
                for at in (1..reached.len()).rev() {
                    reached[at] = reached[at - 1] && takes(text[at - 1]);
                }
                reached[0] = false;
            }
        }
        if !reached.contains(&true) {
            return false;
        }
    }
    reached.last() == Some(&true)
}

#[cfg(test)]
mod tests;

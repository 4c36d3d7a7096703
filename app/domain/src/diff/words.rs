//! Which words of a changed line are other ones.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// Longer lines are generated, and nobody compares their words.
const LINE_BYTES_MAX: usize = 1_000;

type Ranges = Vec<Range<usize>>;

/// The byte ranges of both lines that differ, or nothing where the lines have too little in common: then all of
/// them would be marked.
pub fn marks(old: &str, new: &str) -> Option<(Ranges, Ranges)> {
    if old.len() > LINE_BYTES_MAX || new.len() > LINE_BYTES_MAX {
        return None;
    }
    let (before, after): (Vec<_>, Vec<_>) = (words(old).collect(), words(new).collect());
    let mut input = InternedInput::default();
    input.update_before(before.iter().map(|(_, word)| *word));
    input.update_after(after.iter().map(|(_, word)| *word));
    let diff = Diff::compute(Algorithm::Myers, &input);
    let removed = marked(&before, |n| diff.is_removed(n));
    let added = marked(&after, |n| diff.is_added(n));
    let kept = |line: &str, marks: &Ranges| {
        let visible = |text: &str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
        (visible(line) - marks.iter().map(|mark| visible(&line[mark.clone()])).sum::<usize>(), visible(line))
    };
    let (old_kept, old_all) = kept(old, &removed);
    let (new_kept, new_all) = kept(new, &added);
    // A third of the longer line.
    (old_kept.min(new_kept) * 3 >= old_all.max(new_all)).then_some((removed, added))
}

fn marked(words: &[(usize, &str)], is_other: impl Fn(u32) -> bool) -> Ranges {
    let mut marks: Ranges = Vec::new();
    for (n, (at, word)) in words.iter().enumerate() {
        if !is_other(n as u32) {
            continue;
        }
        match marks.last_mut() {
            Some(last) if last.end == *at => last.end = at + word.len(),
            _ => marks.push(*at..at + word.len()),
        }
    }
    marks
}

/// Words, runs of blanks, and everything else one by one; together they are the line.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &line[at..];
        let first = rest.chars().next()?;
        let end = match class(first) {
            Class::Other => first.len_utf8(),
            own => rest.find(|c| class(c) != own).unwrap_or(rest.len()),
        };
        let word = (at, &rest[..end]);
        at += end;
        Some(word)
    })
}

#[derive(PartialEq)]
enum Class {
    Word,
    Blank,
    Other,
}

fn class(c: char) -> Class {
    if c.is_alphanumeric() || c == '_' {
        Class::Word
    } else if c.is_whitespace() {
        Class::Blank
    } else {
        Class::Other
    }
}

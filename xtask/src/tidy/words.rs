//! Marks of unfinished work.

use anyhow::{Context, Result};
use std::{fs, path::PathBuf};

/// Put together here, or this file would find itself.
const MARKS: [&str; 8] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
    concat!("#[ign", "ore"),
    concat!("test.sk", "ip"),
    concat!("test.fix", "me"),
    concat!(".on", "ly("),
];

pub fn faults(sources: &[PathBuf]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for path in sources {
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        for (number, line) in String::from_utf8_lossy(&text).lines().enumerate() {
            let marks = MARKS.iter().filter(|mark| holds(line, mark));
            faults.extend(
                marks.map(|mark| {
                    format!("{}:{}: {mark}; finish it or take it out", path.display(), number + 1)
                }),
            );
        }
    }
    Ok(faults)
}

/// A word only as a whole word; anything else anywhere.
fn holds(line: &str, mark: &str) -> bool {
    let is_word = mark.bytes().all(|byte| byte.is_ascii_uppercase());
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    line.match_indices(mark).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + mark.len()..]);
        !is_word || (edge(before.chars().next_back()) && edge(after.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_calls_are_not() {
        let [todo, .., only] = MARKS;
        for (line, mark, expected) in [
            (format!("// {todo}: later"), todo, true),
            (format!("// {todo}"), todo, true),
            (format!("const {todo}_LIST: u8"), todo, false),
            (format!("MAS{todo}N"), todo, false),
            (format!("test.describe{only}'a'"), only, true),
        ] {
            assert_eq!(holds(&line, mark), expected, "{line}");
        }
    }
}

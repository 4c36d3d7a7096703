//! What is read of a long result: its text in pieces, without what nobody can read.

use std::borrow::Cow;

/// More pieces are not read: the middle is left out, and the digest says so.
pub(super) const PIECES_MAX: usize = 24;
/// How git begins what a binary file holds.
const BINARY: &str = "GIT binary patch";

/// A patch with a word in the place of what binary files hold: nobody can read that, and it takes the room of what can
/// be read.
pub(super) fn without_binaries(patch: &str) -> Cow<'_, str> {
    if !patch.contains(BINARY) {
        return patch.into();
    }
    let (mut clean, mut is_binary) = (String::new(), false);
    for line in patch.split_inclusive('\n') {
        // Lines of texts begin with a mark.
        let begins = line.trim_end() == BINARY;
        let ends = line.starts_with("diff --git ") || line.starts_with("[… ");
        is_binary = begins || (is_binary && !ends);
        match (begins, is_binary) {
            (true, _) => clean.push_str("[A binary file. What it holds is left out here.]\n"),
            (false, true) => {}
            (false, false) => clean.push_str(line),
        }
    }
    clean.into()
}

/// Cut at line ends where there are any. With how many bytes are left out.
pub(super) fn pieces(text: &str, bytes: usize) -> (Vec<&str>, usize) {
    let (mut all, mut rest, mut unread) = (Vec::new(), text, 0);
    while !rest.is_empty() {
        let limit = rest.floor_char_boundary(bytes.min(rest.len()));
        let end = match rest[..limit].rfind('\n') {
            Some(line) if limit < rest.len() && line > limit / 2 => line + 1,
            _ => limit.max(rest.chars().next().map_or(1, char::len_utf8)),
        };
        let (piece, after) = rest.split_at(end);
        all.push(piece);
        rest = after;
    }
    if all.len() > PIECES_MAX {
        let tail = all.split_off(all.len() - PIECES_MAX / 2);
        unread = all.drain(PIECES_MAX / 2 - 1..).map(str::len).sum();
        all.push("[The middle of the result is left out here: it is too long to be read.]");
        all.extend(tail);
    }
    (all, unread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_without_an_end_is_read_at_both_ends_and_that_is_said() {
        let text: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
        let (all, unread) = pieces(&text, 4_000);
        let read: usize = all.iter().filter(|piece| piece.starts_with("line ")).map(|it| it.len()).sum();
        assert_eq!((all.len(), read + unread), (PIECES_MAX, text.len()));
        assert!(all[0].starts_with("line 0\n") && all[PIECES_MAX - 1].ends_with("line 99999\n"));
        assert!(all.iter().any(|piece| piece.contains("left out")));
        // Letters of several bytes, and no line end at all.
        assert_eq!(pieces(&"é".repeat(10), 3).0.concat(), "é".repeat(10));
        assert_eq!(pieces("short", 4_000), (vec!["short"], 0));
    }

    #[test]
    fn what_binary_files_hold_is_left_out_with_a_word() {
        let patch = "diff --git a/a.png b/a.png\nindex 0..1\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 0\nHcmV\n\n\
            diff --git a/b b/b\n@@ -0,0 +1 @@\n+GIT binary patch\n+b\n";
        let expected = "diff --git a/a.png b/a.png\nindex 0..1\n[A binary file. What it holds is left out here.]\n\
            diff --git a/b b/b\n@@ -0,0 +1 @@\n+GIT binary patch\n+b\n";
        assert_eq!(without_binaries(patch), expected);
        assert_eq!(without_binaries("+a\n"), "+a\n");
    }
}

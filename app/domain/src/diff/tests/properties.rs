//! What holds for every patch.

use proptest::prelude::*;

use super::{patch, written};
use crate::diff::{
    Kind, LineId, Options, RowText, Window,
    patch::Patch,
    view::{NoColours, NoTexts, View},
};

/// Hunks of lines; each with its sign.
fn hunks() -> impl Strategy<Value = Vec<Vec<(char, String)>>> {
    let line = (prop::sample::select(vec![' ', '-', '+']), "[ \tab\u{202e}é漢]{0,12}");
    prop::collection::vec(prop::collection::vec(line, 1..12), 1..5)
}

fn patch_of(hunks: &[Vec<(char, String)>]) -> Patch {
    let mut text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n".to_owned();
    let (mut old, mut new) = (1, 1);
    for hunk in hunks {
        let count = |without: char| hunk.iter().filter(|(sign, _)| *sign != without).count();
        let (olds, news) = (count('+'), count('-'));
        let start = |from: usize, count: usize| from - usize::from(count == 0);
        text += &format!("@@ -{},{olds} +{},{news} @@\n", start(old, olds), start(new, news));
        for (sign, line) in hunk {
            text += &format!("{sign}{line}\n");
        }
        old += olds + 5;
        new += news + 5;
    }
    patch(&text)
}

fn views() -> [Options; 8] {
    std::array::from_fn(|n| Options {
        is_split: n & 1 > 0,
        ignores_whitespace: n & 2 > 0,
        columns: if n & 4 > 0 { 5 } else { 0 },
        ..Options::default()
    })
}

proptest! {
    #[test]
    fn every_line_appears_exactly_once(hunks in hunks()) {
        let patch = patch_of(&hunks);
        for options in views() {
            let view = View::new(&patch, &options, &NoTexts);
            let mut lines: Vec<LineId> = Vec::new();
            for row in view.rows().iter().filter(|row| row.part == 0) {
                lines.extend(row.left);
                lines.extend(row.right.filter(|right| Some(*right) != row.left));
            }
            lines.sort();
            let all: Vec<_> = patch.hunks(&patch.files[0]).iter().flat_map(|hunk| patch.lines(hunk)).collect();
            prop_assert_eq!(lines, all.iter().map(|(line, _)| *line).collect::<Vec<_>>(), "{:?}", options);
        }
    }

    /// Each side has the same lines under the same numbers.
    #[test]
    fn split_and_unified_agree(hunks in hunks(), ignores_whitespace: bool) {
        let patch = patch_of(&hunks);
        let sides = |is_split| {
            let options = Options { is_split, ignores_whitespace, ..Options::default() };
            let view = View::new(&patch, &options, &NoTexts);
            let code = view.rows().iter().filter(|row| row.kind.is_code());
            let (mut old, mut new) = (Vec::new(), Vec::new());
            for row in code {
                old.extend(row.left.map(|line| (row.old, line)));
                new.extend(row.right.map(|line| (row.new, line)));
            }
            (old, new)
        };
        prop_assert_eq!(sides(true), sides(false));
    }

    #[test]
    fn windows_are_pieces_of_the_whole(hunks in hunks(), size in 1usize..9) {
        let patch = patch_of(&hunks);
        for options in views() {
            let view = View::new(&patch, &options, &NoTexts);
            let write = |at| written(&patch, &view, at, &options, &NoTexts);
            let all = 0..view.rows().len();
            let whole: Vec<_> = all.clone().map(write).collect();
            let window = |start: usize| {
                let window = Window { start: start as u32, count: size as u32 };
                view.window(window, &options, &patch, &NoTexts, &NoColours)
            };
            let windows: Vec<_> = all.step_by(size).map(window).collect();
            prop_assert_eq!(windows.join("\n"), whole.join("\n"));
            // What is written can be read, and has one line a row.
            for (line, row) in whole.iter().zip(view.rows()) {
                let read = RowText::read(line).unwrap();
                prop_assert_eq!(read.kind, row.kind);
                prop_assert!(!line.contains('\n'));
            }
        }
    }

    /// The rows that a line goes on in are the line.
    #[test]
    fn broken_lines_lose_nothing(line in "[ \tab\u{202e}é漢]{0,40}", columns in 1u16..12) {
        let patch = patch(&format!("--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+{line}\n"));
        let text = |columns| {
            let options = Options { columns, ..Options::default() };
            let view = View::new(&patch, &options, &NoTexts);
            let rows = view.rows().iter().enumerate().filter(|(_, row)| row.kind == Kind::Added);
            let lines = rows.map(|(at, _)| written(&patch, &view, at, &options, &NoTexts));
            lines.map(|line| RowText::read(&line).unwrap().left().map(|span| span.text.to_owned()).collect::<String>())
                .collect::<String>()
        };
        prop_assert_eq!(text(columns), text(0));
    }

    #[test]
    fn anything_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), head in 0usize..3) {
        let head = ["", "diff --git a/x b/x\n", "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n"][head];
        let text = [head.as_bytes(), &bytes].concat();
        if let Ok(patch) = Patch::read(text) {
            for options in views() {
                View::new(&patch, &options, &NoTexts);
            }
        }
    }
}

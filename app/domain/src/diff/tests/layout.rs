//! How a patch lies on the screen.

use std::borrow::Cow;

use super::{patch, shown};
use crate::diff::{
    Expanded, Options, Seek, Side,
    tree::entries,
    view::{NoTexts, Texts, View},
    wire::{Cell, write_cell},
    words::marks,
};

const PATCH: &str = "diff --git a/src/main.rs b/src/main.rs\n--- a/src/main.rs\n+++ b/src/main.rs\n\
    @@ -3,4 +3,5 @@ fn main()\n three\n-four\n+FOUR\n+four and a half\n five\n six\n\
    @@ -20,2 +21,2 @@\n-\tx\n+    x\n twenty\n";

struct Numbered(u32);

impl Texts for Numbered {
    fn count(&self, _file: usize) -> Option<u32> {
        Some(self.0)
    }

    fn line(&self, _file: usize, number: u32) -> Option<Cow<'_, str>> {
        Some(format!("line {number}").into())
    }
}

fn check(options: &Options, texts: &dyn Texts, expected: &[&str]) {
    assert_eq!(shown(&patch(PATCH), options, texts), expected);
}

#[test]
fn unified_and_split() {
    let unified = [
        "#0,0 ",
        "@0,2 fn main()",
        " 3,3 three",
        "-4,0 four",
        "+0,4 FOUR",
        "+0,5 four and a half",
        " 5,6 five",
        " 6,7 six",
        "@1,13 ",
        "-20,0 \tx",
        "+0,21     x",
        " 21,22 twenty",
    ];
    check(&Options::default(), &NoTexts, &unified);
    let split = [
        "#0,0 ",
        "@0,2 fn main()",
        " 3,3 three",
        "~4,4 four | FOUR",
        "+0,5 four and a half",
        " 5,6 five",
        " 6,7 six",
        "@1,13 ",
        "~20,21 \tx |     x",
        " 21,22 twenty",
    ];
    check(&Options { is_split: true, ..Options::default() }, &NoTexts, &split);
    let quiet = [
        "#0,0 ",
        "@0,2 fn main()",
        " 3,3 three",
        "-4,0 four",
        "+0,4 FOUR",
        "+0,5 four and a half",
        " 5,6 five",
        " 6,7 six",
        "@1,13 ",
        " 20,21     x",
        " 21,22 twenty",
    ];
    check(&Options { ignores_whitespace: true, ..Options::default() }, &NoTexts, &quiet);
}

#[test]
fn gaps_open_from_both_ends_and_only_where_there_is_a_text() {
    let open = |gap, top, bottom| Options {
        expanded: vec![Expanded { file: 0, gap, top, bottom }],
        ..Options::default()
    };
    let rows = |options: &Options, texts: &dyn Texts| shown(&patch(PATCH), options, texts);
    assert_eq!(rows(&open(0, 0, 1), &Numbered(30))[1..4], ["@0,1 fn main()", " 2,2 line 2", " 3,3 three"]);
    assert_eq!(rows(&open(0, 9, 9), &Numbered(30))[1..4], [" 1,1 line 1", " 2,2 line 2", " 3,3 three"]);
    assert_eq!(rows(&open(1, 1, 1), &Numbered(30))[8..11], [" 7,8 line 8", "@1,11 ", " 19,20 line 20"]);
    assert_eq!(rows(&open(1, 1, 1), &NoTexts), rows(&Options::default(), &NoTexts));
    // A text that is too short is not the one that was changed.
    assert_eq!(rows(&open(1, 1, 1), &Numbered(10)), rows(&Options::default(), &NoTexts));
}

#[test]
fn the_end_of_a_file_opens_too() {
    let text = "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n-a\n+b\n c\n d\n e\n";
    let options = |expanded| Options { expanded, ..Options::default() };
    assert_eq!(shown(&patch(text), &options(Vec::new()), &Numbered(6)).last().unwrap(), "@1,0 ");
    let all = options(vec![Expanded { file: 0, gap: 1, top: 1, bottom: 0 }]);
    assert_eq!(shown(&patch(text), &all, &Numbered(6))[6..], [" 5,5 line 5", "@1,1 "]);
    // It had ended already.
    assert_eq!(shown(&patch(text), &all, &Numbered(4)).last().unwrap(), " 4,4 e");
}

#[test]
fn what_cannot_be_seen_is_shown_as_a_token() {
    let cell = |text: &str| {
        let mut out = String::new();
        let cell = Cell {
            text,
            colours: &[],
            marks: &[],
            has_newline: true,
            shows_return: false,
            part: 0,
            columns: 0,
        };
        write_cell(&mut out, &cell, false);
        out.replace('\u{7f}', "^")
    };
    assert_eq!(cell("a\u{202e}b"), "^xa^uU+202E^xb");
    assert_eq!(cell("\u{200b}\u{200b}"), "^uU+200B^uU+200B");
    assert_eq!(cell("a\u{7f}x\0\r"), "^xa^uU+007F^xx^uNUL");
    assert_eq!(cell("ä\t漢 ❤\u{fe0f}"), "^xä\t漢 ❤\u{fe0f}");
    assert_eq!(cell(&"a".repeat(2_001)).len(), "^x^u… 1 more characters".len() + 2_000);
}

#[test]
fn long_lines_go_on() {
    let text = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-abcdefgh\n+ab\u{202e}漢漢\n+\t\t\n";
    let options = Options { columns: 4, ..Options::default() };
    let rows = shown(&patch(text), &options, &NoTexts);
    assert_eq!(
        rows[1..],
        ["-1,0 abcd", "-0,0 efgh", "+0,1 ab", "+0,0 U+202E", "+0,0 漢漢", "+0,2 \t", "+0,0 \t"]
    );
}

#[test]
fn words_are_marked_where_lines_have_something_in_common() {
    let check = |old: &str, new: &str, expected: Option<(&[&str], &[&str])>| {
        let cut = |line: &str, ranges: &[std::ops::Range<usize>]| {
            ranges.iter().map(|range| line[range.clone()].to_owned()).collect::<Vec<_>>()
        };
        let marks = marks(old, new).map(|(removed, added)| (cut(old, &removed), cut(new, &added)));
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(marks, expected.map(|(old, new)| (owned(old), owned(new))), "{old} / {new}");
    };
    check("let a = 1;", "let b = 1;", Some((&["a"], &["b"])));
    check("call(one, two)", "call(one, two, three)", Some((&[], &[", three"])));
    check("alpha beta", "gamma delta", None);
    check("größe", "größen + 1", None);
}

#[test]
fn what_is_looked_for_is_found_row_by_row() {
    let patch = patch(PATCH);
    let view = View::new(&patch, &Options::default(), &NoTexts);
    let find = |query| view.find(query, &patch, &NoTexts).rows;
    assert_eq!(find("four"), [3, 4, 5]);
    assert_eq!(find("FOUR"), [4]);
    assert_eq!(find("main.rs"), [0]);
    assert_eq!(find(""), [0; 0]);
    let seek = |from, seek| view.seek(from, seek);
    assert_eq!(
        [seek(0, Seek::NextChange), seek(3, Seek::NextChange), seek(9, Seek::NextChange)],
        [Some(3), Some(9), None]
    );
    assert_eq!([seek(9, Seek::PreviousChange), seek(3, Seek::PreviousChange)], [Some(3), None]);
}

#[test]
fn a_line_is_found_however_it_is_looked_at() {
    let check = |options: &Options, expected: [u32; 4]| {
        let patch = patch(&[PATCH, &PATCH.replace("main", "other")].concat());
        let view = View::new(&patch, options, &Numbered(30));
        let line = |side, line| view.seek(0, Seek::Line { file: 1, side, line }).unwrap();
        let found = [line(Side::Old, 4), line(Side::New, 4), line(Side::New, 6), line(Side::Old, 12)];
        let start = view.outline(&patch, "").starts()[1];
        assert_eq!(found.map(|row| row - start), expected);
        assert_eq!(view.seek(0, Seek::Line { file: 2, side: Side::New, line: 4 }), None);
    };
    // What is not shown is where its file is.
    check(&Options::default(), [3, 4, 6, 0]);
    check(&Options { is_split: true, ..Options::default() }, [3, 3, 5, 0]);
    // `four and a half` takes three rows.
    check(&Options { columns: 5, ..Options::default() }, [3, 4, 8, 0]);
    let expanded = vec![Expanded { file: 1, gap: 1, top: 30, bottom: 0 }];
    check(&Options { expanded, ..Options::default() }, [3, 4, 6, 13]);
}

#[test]
fn folders_with_one_folder_are_one_line() {
    let files = ["a/b/c/x.rs", "a/b/y.rs", "z.rs", "q/w/e.rs"];
    let text: String =
        files.iter().map(|file| format!("diff --git a/{file} b/{file}\nnew file mode 100644\n")).collect();
    let patch = patch(&text);
    let outline = View::new(&patch, &Options::default(), &NoTexts).outline(&patch, "");
    let lines = |folded: &[String]| {
        let line =
            |entry: crate::diff::tree::Entry| format!("{}{}", " ".repeat(entry.depth.into()), entry.name);
        entries(&outline, folded).into_iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(lines(&[]), ["a/b", " c", "  x.rs", " y.rs", "q/w", " e.rs", "z.rs"]);
    assert_eq!(lines(&["a/b/".to_owned()]), ["a/b", "q/w", " e.rs", "z.rs"]);
}

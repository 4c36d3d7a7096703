mod layout;
mod patches;
mod properties;

use super::{
    Options, RowText,
    patch::Patch,
    view::{NoColours, Texts, View},
};

fn patch(text: &str) -> Patch {
    Patch::read(text.as_bytes().to_vec()).unwrap()
}

/// A row in short: its sign, its numbers and its text.
fn shown(patch: &Patch, options: &Options, texts: &dyn Texts) -> Vec<String> {
    let view = View::new(patch, options, texts);
    (0..view.rows().len()).map(|at| row(patch, &view, at, options, texts)).collect()
}

fn row(patch: &Patch, view: &View, at: usize, options: &Options, texts: &dyn Texts) -> String {
    let line = written(patch, view, at, options, texts);
    let read = RowText::read(&line).unwrap();
    let words = |spans: super::Spans| spans.map(|span| span.text).collect::<String>();
    let right = read.right().map_or_else(String::new, |right| format!(" | {}", words(right)));
    format!("{}{},{} {}{right}", read.kind.sign(), read.old, read.new, words(read.left()))
}

fn written(patch: &Patch, view: &View, at: usize, options: &Options, texts: &dyn Texts) -> String {
    let mut line = String::new();
    view.write(at, &mut line, options, patch, texts, &NoColours);
    line
}

//! Where in a path a word fits best.
//!
//! The path is read once. For each character of the word the best score so far that ends with it is kept, so
//! a character of the path that the word does not have costs nothing. A gap costs by its length, so the best
//! start of a gap is a running maximum.
//!
//! Neighbours in a sorted list share their folders, and what is known at the end of a folder is kept: of most
//! paths only the name is read.

use super::word::{Kind, Word};

const MATCHED: i32 = 16;
/// For a character right behind the one before it.
const TOGETHER: i32 = 8;
/// For a character in the file's own name.
const IN_NAME: i32 = 3;
/// For the start of the file's name, of a folder's, of a word, of a part of a word.
const NAME_STARTS: i32 = 10;
const FOLDER_STARTS: i32 = 9;
const WORD_STARTS: i32 = 8;
const PART_STARTS: i32 = 7;
/// The first character says most about where a word is meant to be.
const FIRST_TIMES: i32 = 2;
/// For a last character that ends a word.
const WORD_ENDS: i32 = 4;
const GAP: i32 = -3;
/// For each further character of a gap.
const GAP_GROWS: i32 = -1;

#[derive(Debug)]
pub struct Aligner {
    word: Word,
    /// The last path up to its name.
    folders: String,
    /// What was known at the end of each of its folders, after what was known at the start.
    known: Vec<Known>,
    rows: Rows,
    cells: Vec<Cell>,
}

/// A way to have a character of the word at a place.
#[derive(Clone, Copy, Debug)]
struct Cell {
    place: u32,
    /// The cell of the character before it.
    from: u32,
}

#[derive(Clone, Debug)]
struct Known {
    end: usize,
    rows: Rows,
    cells: usize,
}

/// The best ends so far, for each character of the word.
#[derive(Clone, Debug, Default)]
struct Rows {
    rows: Vec<Row>,
    /// The best end of the whole word.
    whole: Option<Reach>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// The last place, and where it ends.
    near: Option<(Reach, u32)>,
    /// The best of those before it, as if it ended where the path starts.
    far: Option<Reach>,
}

/// A score, and the cell that has it.
type Reach = (i32, u32);

impl Aligner {
    pub fn new(word: Word) -> Self {
        let rows = Rows { rows: vec![Row::default(); word.len()], whole: None };
        let start = Known { end: 0, rows: rows.clone(), cells: 0 };
        Self { word, folders: String::new(), known: vec![start], rows, cells: Vec::new() }
    }

    pub fn score(&mut self, path: &str) -> Option<i32> {
        let name = path.rfind('/').map_or(0, |slash| slash + 1);
        let (folders, _) = path.split_at(name);
        if self.folders != folders {
            self.enter(folders);
        } else {
            self.go_back();
        }
        self.read(path, name, true);
        self.rows.whole.map(|(score, _)| score)
    }

    /// Appends where `score` has just found the word.
    pub fn positions(&self, positions: &mut Vec<u32>) {
        let mut at = self.rows.whole.map(|(_, cell)| cell);
        for _ in 0..self.word.len() {
            let cell = at.and_then(|at| self.cells.get(at as usize));
            positions.extend(cell.map(|cell| cell.place));
            at = cell.map(|cell| cell.from);
        }
    }

    /// To the end of the folders, reading only those that differ from the last path's.
    fn enter(&mut self, folders: &str) {
        let both = self.folders.bytes().zip(folders.bytes());
        let same = both.take_while(|(one, other)| one == other).count();
        self.known.retain(|known| known.end <= same);
        self.go_back();
        let start = self.known.last().map_or(0, |known| known.end);
        self.folders.truncate(start);
        for folder in folders.get(start..).unwrap_or_default().split_inclusive('/') {
            let from = self.folders.len();
            self.folders.push_str(folder);
            let read = std::mem::take(&mut self.folders);
            self.read(&read, from, false);
            self.folders = read;
            let (end, rows, cells) = (self.folders.len(), self.rows.clone(), self.cells.len());
            self.known.push(Known { end, rows, cells });
        }
    }

    /// Forgets what came after the last folder.
    fn go_back(&mut self) {
        if let Some(known) = self.known.last() {
            self.rows.rows.copy_from_slice(&known.rows.rows);
            self.rows.whole = known.rows.whole;
            self.cells.truncate(known.cells);
        }
    }

    /// Takes in what follows `from`: the name, or one more folder.
    fn read(&mut self, path: &str, from: usize, is_name: bool) {
        let Some(text) = path.get(from..) else { return };
        let mut before = None;
        let mut chars = text.char_indices().peekable();
        while let Some((offset, c)) = chars.next() {
            let places = self.word.places(c);
            if !places.is_empty() {
                let at = At {
                    start: (from + offset) as u32,
                    end: (from + offset + c.len_utf8()) as u32,
                    own: MATCHED + if is_name { IN_NAME } else { 0 },
                    border: border(before, c, is_name),
                    word_ends: ends_word(c, chars.peek().map(|(_, next)| *next)),
                };
                self.rows.take(places, at, &mut self.cells);
            }
            before = Some(c);
        }
    }
}

/// A character of the path that the word has.
#[derive(Clone, Copy)]
struct At {
    start: u32,
    end: u32,
    own: i32,
    border: i32,
    word_ends: bool,
}

impl Rows {
    /// `places` are those that the character has in the word, the last one first: none may build on what
    /// another one finds at the same character of the path.
    fn take(&mut self, places: &[u8], at: At, cells: &mut Vec<Cell>) {
        let last = self.rows.len() - 1;
        for place in places {
            let place = usize::from(*place);
            let reached = match place.checked_sub(1).and_then(|before| self.rows.get(before)) {
                None => Some((at.own + at.border * FIRST_TIMES, 0)),
                Some(before) => before.reach(at),
            };
            let Some((score, from)) = reached else { continue };
            let cell = cells.len() as u32;
            cells.push(Cell { place: at.start, from });
            if place == last {
                let whole = score + if at.word_ends { WORD_ENDS } else { 0 };
                self.whole = self.whole.max(Some((whole, cell)));
            }
            if let Some(row) = self.rows.get_mut(place) {
                row.far = row.best_far();
                row.near = Some(((score, cell), at.end));
            }
        }
    }
}

impl Row {
    /// The best score that a character can have right behind this row's last place, or over a gap.
    fn reach(&self, at: At) -> Option<Reach> {
        let ((score, from), end) = self.near?;
        let (together, far) = match end == at.start {
            true => (Some((score + at.own + at.border.max(TOGETHER), from)), self.far),
            false => (None, self.best_far()),
        };
        let gap = |end: i32| GAP + GAP_GROWS * (at.start as i32 - end - 1);
        let apart = far.map(|(score, from)| (score + at.own + at.border + gap(0), from));
        together.max(apart)
    }

    fn best_far(&self) -> Option<Reach> {
        let near = self.near.map(|((score, cell), end)| (score - GAP_GROWS * end as i32, cell));
        self.far.max(near)
    }
}

/// What it is worth to match a character, for where it stands in its folder's or file's name.
fn border(before: Option<char>, c: char, is_name: bool) -> i32 {
    match (before.map(Kind::of), Kind::of(c)) {
        (None, _) if is_name => NAME_STARTS,
        (_, Kind::Separator) => 0,
        (None, _) => FOLDER_STARTS,
        (Some(Kind::Separator), _) => WORD_STARTS,
        (Some(Kind::Lower), Kind::Upper) => PART_STARTS,
        (Some(Kind::Lower | Kind::Upper), Kind::Digit) => PART_STARTS,
        _ => 0,
    }
}

fn ends_word(c: char, next: Option<char>) -> bool {
    Kind::of(c) != Kind::Separator && next.is_none_or(|next| Kind::of(next) == Kind::Separator)
}

/// What one way to match an ASCII path is worth, told apart from how the best is found.
#[cfg(test)]
pub fn worth(path: &str, way: &[usize]) -> i32 {
    let text: Vec<char> = path.chars().collect();
    let name = text.iter().rposition(|c| *c == '/').map_or(0, |slash| slash + 1);
    let mut score = 0;
    for (nth, at) in way.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| text[before]).filter(|c| *c != '/');
        let border = border(before, text[*at], *at >= name);
        score += MATCHED + if *at >= name { IN_NAME } else { 0 };
        score += match nth.checked_sub(1).map(|before| at - way[before]) {
            None => border * FIRST_TIMES,
            Some(1) => border.max(TOGETHER),
            Some(apart) => border + GAP + GAP_GROWS * (apart as i32 - 2),
        };
    }
    let ends = way.last().is_some_and(|at| ends_word(text[*at], text.get(at + 1).copied()));
    score + if ends { WORD_ENDS } else { 0 }
}

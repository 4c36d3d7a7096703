//! One word of a query.

/// Which places of the word a character can take.
#[derive(Clone, Debug)]
pub struct Word {
    /// The characters, folded unless their case counts.
    chars: Vec<char>,
    is_case_kept: bool,
    /// For each ASCII character the places that it has in the word, the last one first.
    ascii: Vec<Box<[u8]>>,
    /// The same for the word's other characters.
    other: Vec<(char, Box<[u8]>)>,
}

impl Word {
    /// An upper case letter means that the case counts: who types none does not care.
    pub fn new(text: &str) -> Self {
        let is_case_kept = text.chars().any(|c| fold(c) != c);
        let mut word =
            Self { chars: text.chars().collect(), is_case_kept, ascii: Vec::new(), other: Vec::new() };
        word.ascii = (0..128u8).map(|byte| word.find(byte.into())).collect();
        word.other = word.chars.iter().filter(|c| !c.is_ascii()).map(|c| (*c, word.find(*c))).collect();
        word
    }

    pub fn len(&self) -> usize {
        self.chars.len()
    }

    pub fn places(&self, c: char) -> &[u8] {
        if let Some(places) = self.ascii.get(c as usize) {
            return places;
        }
        let c = self.folded(c);
        self.other.iter().find(|(wanted, _)| *wanted == c).map_or(&[], |(_, places)| places)
    }

    fn find(&self, c: char) -> Box<[u8]> {
        let c = self.folded(c);
        (0..self.chars.len() as u8).rev().filter(|place| self.chars[usize::from(*place)] == c).collect()
    }

    fn folded(&self, c: char) -> char {
        if self.is_case_kept { c } else { fold(c) }
    }
}

/// Lower case, one character for one. What only folds into ASCII (the Kelvin sign) stays as it is: nobody
/// who types a plain letter looks for it.
fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    c.to_lowercase().next().filter(|lower| !lower.is_ascii()).unwrap_or(c)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Separator,
    Digit,
    Upper,
    Lower,
}

impl Kind {
    pub fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            c if c.is_ascii() => Self::Separator,
            c if c.is_uppercase() => Self::Upper,
            c if c.is_alphanumeric() => Self::Lower,
            _ => Self::Separator,
        }
    }
}

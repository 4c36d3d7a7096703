//! The words of one directive.

/// One plain word first, then pairs of a name and a number; each is taken once and nothing may be left over.
pub struct Arguments<'a> {
    words: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { words: text.split_whitespace().collect() }
    }

    pub fn named(&mut self, name: &str) -> Result<Option<u64>, String> {
        let Some(at) = self.words.iter().position(|word| *word == name) else {
            return Ok(None);
        };
        let value = self.words.get(at + 1).ok_or_else(|| format!("a number is missing after {name}"))?;
        let value = amount(value)?;
        self.words.drain(at..at + 2);
        Ok(Some(value))
    }

    pub fn required(&mut self, name: &str) -> Result<u64, String> {
        self.named(name)?.ok_or_else(|| format!("{name} N is missing"))
    }

    pub fn word(&mut self) -> Result<String, String> {
        if self.words.is_empty() {
            return Err("its argument is missing".to_owned());
        }
        Ok(self.words.remove(0).to_owned())
    }

    pub fn number(&mut self) -> Result<u64, String> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("{word} is not a whole number"))
    }

    pub fn first(&mut self) -> Result<u64, String> {
        let word = self.word()?;
        amount(&word)
    }

    pub fn finish(self) -> Result<(), String> {
        match self.words.first() {
            Some(word) => Err(format!("{word} is not understood")),
            None => Ok(()),
        }
    }
}

/// More than this in one answer is a slip of the pen, not a test.
const AMOUNT_MAX: u64 = 1 << 30;

fn amount(word: &str) -> Result<u64, String> {
    match word.parse() {
        Ok(n) if n <= AMOUNT_MAX => Ok(n),
        Ok(_) => Err(format!("{word} is more than {AMOUNT_MAX}")),
        Err(_) => Err(format!("{word} is not a whole number")),
    }
}

//! The words of a command of the shell, as far as they are needed to tell what it is for. What is quoted is one word,
//! whatever it holds.

use std::{borrow::Cow, iter::Peekable, str::Chars};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    /// The words of each command.
    pub commands: Vec<Vec<String>>,
    /// Where output is redirected to.
    pub written: Vec<String>,
}

/// What a call is to run: its input alone, or what JSON holds under the name of a command, as a text or as words.
pub(super) fn command(input: &str) -> Cow<'_, str> {
    const NAMES: [&str; 2] = ["\"command\"", "\"cmd\""];
    let after = |name: &&str| input.find(*name).map(|at| input[at + name.len()..].trim_start());
    let named = NAMES.iter().find_map(|name| after(name)?.strip_prefix(':'));
    let is_json = input.trim_start().starts_with('{');
    let Some(value) = named.filter(|_| is_json) else { return Cow::Borrowed(input) };
    let value = value.trim_start();
    match value.strip_prefix('[') {
        // Quoted again, so that each stays one word.
        Some(list) => {
            let words = texts(list).map(|word| format!("'{}'", word.replace('\'', "'\\''")));
            Cow::Owned(words.collect::<Vec<_>>().join(" "))
        }
        None => Cow::Owned(texts(value).next().unwrap_or_default()),
    }
}

/// The texts of JSON up to the end of a list.
fn texts(json: &str) -> impl Iterator<Item = String> {
    let mut rest = json.chars();
    std::iter::from_fn(move || {
        rest.find(|c| matches!(c, '"' | ']')).filter(|c| *c == '"')?;
        let mut text = String::new();
        while let Some(c) = rest.next().filter(|c| *c != '"') {
            text.push(match c {
                '\\' => match rest.next()? {
                    'n' | 'r' => '\n',
                    't' => '\t',
                    other => other,
                },
                other => other,
            });
        }
        Some(text)
    })
}

pub(super) fn read(text: &str) -> Read {
    let mut reader = Reader { read: Read::default(), command: Vec::new(), word: None, is_target: false };
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        reader.take(c, &mut rest);
    }
    reader.end_command();
    reader.read
}

struct Reader {
    read: Read,
    command: Vec<String>,
    word: Option<String>,
    /// Whether the next word is where output goes.
    is_target: bool,
}

impl Reader {
    fn take(&mut self, c: char, rest: &mut Peekable<Chars<'_>>) {
        match c {
            '\'' | '"' => self.quoted(c, rest),
            '\\' => self.push(rest.next().unwrap_or_default()),
            '$' if rest.peek() == Some(&'{') => {
                self.push(c);
                for inner in rest.by_ref() {
                    self.push(inner);
                    if inner == '}' {
                        break;
                    }
                }
            }
            '#' if self.word.is_none() => while rest.next_if(|c| *c != '\n').is_some() {},
            '>' => self.redirect(rest),
            ';' | '|' | '&' | '\n' | '(' | ')' | '`' => self.end_command(),
            '{' | '}' if self.word.is_none() => self.end_command(),
            '<' => self.end_word(),
            c if c.is_whitespace() => self.end_word(),
            c => self.push(c),
        }
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn quoted(&mut self, quote: char, rest: &mut Peekable<Chars<'_>>) {
        let word = self.word.get_or_insert_default();
        while let Some(c) = rest.next().filter(|c| *c != quote) {
            match c {
                '\\' if quote == '"' => word.extend(rest.next()),
                c => word.push(c),
            }
        }
    }

    fn redirect(&mut self, rest: &mut Peekable<Chars<'_>>) {
        // `->`, `=>` and `>=` are no redirects.
        if self.word.as_ref().is_some_and(|word| word.ends_with(['-', '='])) || rest.peek() == Some(&'=') {
            return self.push('>');
        }
        // The number of what is redirected is no argument.
        self.word.take_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        self.end_word();
        while rest.next_if(|c| matches!(c, '>' | '|')).is_some() {}
        if rest.next_if_eq(&'&').is_some() {
            while rest.next_if(|c| c.is_ascii_digit() || *c == '-').is_some() {}
            return;
        }
        self.is_target = true;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.is_target) {
            true => self.read.written.push(word),
            false => self.command.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.is_target = false;
        let command = std::mem::take(&mut self.command);
        if !command.is_empty() {
            self.read.commands.push(command);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_word_by_word() {
        let check = |text: &str, expected: &[&[&str]], written: &[&str]| {
            let Read { commands, written: targets } = read(text);
            assert_eq!(commands, expected, "{text}");
            assert_eq!(targets, written, "{text}");
        };
        check("a b;c|d\ne", &[&["a", "b"], &["c"], &["d"], &["e"]], &[]);
        check("a 'b; c' \"d\\\"|e\"f", &[&["a", "b; c", "d\"|ef"]], &[]);
        check("a 2>&1 >b 2>>c>|d", &[&["a"]], &["b", "c", "d"]);
        check("a -> b => c >= d", &[&["a", "->", "b", "=>", "c", ">=", "d"]], &[]);
        check("a x/{b,c} ${D}/e # f > g\nh", &[&["a", "x/{b,c}", "${D}/e"], &["h"]], &[]);
        check("a 'never ends > b", &[&["a", "never ends > b"]], &[]);
    }

    #[test]
    fn the_command_of_a_call_is_found_in_json() {
        let check = |input: &str, expected: &str| assert_eq!(command(input), expected, "{input}");
        check("rm a", "rm a");
        check(r#"{"command": "a \"b\"\nc", "why": "d"}"#, "a \"b\"\nc");
        check(r#"{"cmd":["sh","-c","it's"]}"#, "'sh' '-c' 'it'\\''s'");
        check(r#"{"path": "a"}"#, r#"{"path": "a"}"#);
        check("{ echo \"command\"; }", "{ echo \"command\"; }");
    }
}

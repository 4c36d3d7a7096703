//! Files named in a text: `@src/main.rs`, or `@"with a space.md"`.

/// Nobody means more; what follows is text.
pub const MENTIONS_MAX: usize = 50;

const QUOTE: char = '"';

/// The paths that a text names, each once. Whether there is such a file, the project knows.
pub fn paths(text: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for (at, _) in text.match_indices('@').filter(|(at, _)| begins(&text[..*at])) {
        let path = named(&text[at + 1..]);
        if !path.is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
        if paths.len() == MENTIONS_MAX {
            break;
        }
    }
    paths
}

/// Whether a person who wrote this after an `@` will miss the file where there is none. Annotations, packages and
/// people are written with an `@` too, and nobody wants to hear that they are no files.
pub fn is_surely_a_file(path: &str) -> bool {
    if path.contains("://") {
        return false;
    }
    // Only a quoted path has one.
    if path.contains(char::is_whitespace) {
        return true;
    }
    if path.starts_with("./") || path.starts_with("../") {
        return true;
    }
    // Packages and namespaces have slashes and no extension; decorators and people have dots and no slash.
    let Some((_, name)) = path.rsplit_once('/') else { return has_known_extension(path) };
    !path.starts_with('/') && !name.contains('(') && has_extension(name)
}

/// How a path is written so that it is read back as it is.
pub fn written(path: &str) -> String {
    if named(path) == path && !path.starts_with(QUOTE) {
        return format!("@{path}");
    }
    let quoted: String =
        path.chars().flat_map(|c| (is_escaped(c).then_some('\\')).into_iter().chain([c])).collect();
    format!("@{QUOTE}{quoted}{QUOTE}")
}

/// The mention that is being typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typing<'a> {
    /// The byte offset of its `@`.
    pub start: usize,
    /// What stands between the `@` and the caret, without a quote.
    pub query: &'a str,
}

/// Whether the caret, a byte offset, is in a mention. Everything from its `@` to the caret is to be replaced
/// by what is chosen.
pub fn typing(text: &str, caret: usize) -> Option<Typing<'_>> {
    let before = text.get(..caret)?;
    let (start, _) = before.match_indices('@').rfind(|(at, _)| begins(&before[..*at]))?;
    let typed = &before[start + 1..];
    let query = match typed.strip_prefix(QUOTE) {
        Some(quoted) if !quoted.contains([QUOTE, '\n']) => quoted,
        Some(_) => return None,
        None if !typed.contains(char::is_whitespace) => typed,
        None => return None,
    };
    Some(Typing { start, query })
}

/// What ends the name of a file and hardly ever anything else that is written after an `@`.
fn has_known_extension(name: &str) -> bool {
    const KNOWN: [&str; 33] = [
        "bash", "c", "cc", "cpp", "cs", "css", "csv", "go", "h", "hpp", "html", "java", "js", "json", "jsx",
        "kt", "lock", "md", "php", "png", "py", "rb", "rs", "sh", "sql", "svg", "swift", "toml", "ts", "tsx",
        "txt", "yaml", "yml",
    ];
    name.rsplit_once('.').is_some_and(|(before, extension)| !before.is_empty() && KNOWN.contains(&extension))
}

/// Short as extensions are, and no number: those end versions.
fn has_extension(name: &str) -> bool {
    const CHARS_MAX: usize = 5;
    name.rsplit_once('.').is_some_and(|(_, extension)| {
        extension.len() <= CHARS_MAX
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
            && extension.contains(|c: char| c.is_ascii_alphabetic())
    })
}

/// An `@` in the middle of a word is an address, not a mention.
fn begins(before: &str) -> bool {
    before
        .chars()
        .next_back()
        .is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '{' | '"' | '\'' | '`'))
}

/// The path right at the start of `text`.
fn named(text: &str) -> String {
    if let Some(quoted) = text.strip_prefix(QUOTE) {
        return unquoted(quoted);
    }
    let word = text.split(char::is_whitespace).next().unwrap_or_default();
    word.trim_end_matches(is_closing).to_owned()
}

/// Up to the closing quote; nothing where there is none in this line.
fn unquoted(text: &str) -> String {
    let (mut path, mut chars) = (String::new(), text.chars());
    loop {
        match chars.next() {
            None | Some('\n') => return String::new(),
            Some(QUOTE) => return path,
            Some('\\') => path.extend(chars.next()),
            Some(c) => path.push(c),
        }
    }
}

fn is_escaped(c: char) -> bool {
    c == QUOTE || c == '\\'
}

/// What ends a sentence or a bracket around the path, and is not a part of it.
fn is_closing(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '}' | '"' | '\'' | '`' | '>' | '…')
}

#[cfg(test)]
mod tests;

//! Characters that cannot be seen, or that change what is seen beside them.

/// What stands in the place of a character that would hide something: its number, as Unicode writes it.
pub fn token(c: char) -> Option<String> {
    is_hidden(c).then(|| match c {
        '\0' => "NUL".to_owned(),
        '\r' => "CR".to_owned(),
        '\u{1b}' => "ESC".to_owned(),
        c => format!("U+{:04X}", u32::from(c)),
    })
}

/// One line as it may be shown: in it, whatever would hide something is told.
pub fn shown(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        match token(c) {
            Some(token) => shown.extend(["‹", &token, "›"]),
            None => shown.push(c),
        }
    }
    shown
}

/// The same for a text that has its lines on purpose.
pub fn shown_lines(text: &str) -> String {
    text.split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

pub fn is_hidden(c: char) -> bool {
    // Nearly all text ends here.
    if matches!(c, '\t' | ' '..='~') {
        return false;
    }
    c.is_control()
        || matches!(c,
            // Directions.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Without a width.
            | '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            // Blank, though not a space.
            | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
            // Ends of lines elsewhere.
            | '\u{2028}' | '\u{2029}'
            // Tags and selectors that carry text nobody sees.
            | '\u{e0000}'..='\u{e0fff}')
}

/// Columns that a character takes in a monospaced font, but for tabs.
pub fn width(c: char) -> u32 {
    match u32::from(c) {
        0..0x300 => 1,
        0x300..0x370 | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_hide_something_is_told() {
        assert_eq!(shown("src/a\u{202e}sr.exe"), "src/a‹U+202E›sr.exe");
        assert_eq!(shown("a\nb\u{200b}"), "a‹U+000A›b‹U+200B›");
        assert_eq!(shown_lines("rm\tx\n\u{2066}y\r\n"), "rm\tx\n‹U+2066›y‹CR›\n");
        assert_eq!(shown("naïve/日本.rs"), "naïve/日本.rs");
    }
}

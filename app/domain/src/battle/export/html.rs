//! HTML that is written piece by piece. Only what stands in this program is markup; whatever else is text.

use crate::diff::hidden;

#[derive(Default)]
pub struct Html(String);

impl Html {
    pub fn finish(self) -> String {
        self.0
    }

    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        text.chars().for_each(|c| self.letter(c));
        self
    }

    pub fn tag(&mut self, name: &'static str, text: &str) -> &mut Self {
        self.raw("<").raw(name).raw(">").text(text).raw("</").raw(name).raw(">")
    }

    pub fn strong(&mut self, text: &str) -> &mut Self {
        self.raw("<p class=\"strong\">").text(text).raw("</p>\n")
    }

    /// Lines as they are.
    pub fn block(&mut self, class: &'static str, text: &str) -> &mut Self {
        self.raw("<pre class=\"").raw(class).raw("\">").text(text).raw("</pre>\n")
    }

    pub fn folded(&mut self, name: &str, class: &'static str, text: &str) -> &mut Self {
        self.raw("<details>").tag("summary", name).block(class, text).raw("</details>\n")
    }

    /// Its lines by what they say; what cannot be seen in them is shown as a token.
    pub fn patch(&mut self, patch: &str) -> &mut Self {
        self.raw("<pre class=\"code\">");
        for line in patch.lines() {
            let tag = match line.as_bytes().first() {
                Some(b'+') => "ins",
                Some(b'-') => "del",
                Some(b'@') => "em",
                _ => "span",
            };
            self.raw("<").raw(tag).raw(">");
            for c in line.chars() {
                match hidden::token(c) {
                    Some(token) => {
                        self.tag("i", &token);
                    }
                    None => self.letter(c),
                }
            }
            self.raw("</").raw(tag).raw(">\n");
        }
        self.raw("</pre>\n")
    }

    fn letter(&mut self, c: char) {
        match c {
            '&' => self.0.push_str("&amp;"),
            '<' => self.0.push_str("&lt;"),
            '>' => self.0.push_str("&gt;"),
            '"' => self.0.push_str("&quot;"),
            '\'' => self.0.push_str("&#39;"),
            c => self.0.push(c),
        }
    }
}

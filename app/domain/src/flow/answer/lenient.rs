//! JSON as weak models write it: a comma too many or too few, a bracket that never comes, a quote in a quote. Strict
//! JSON is read as what it is; whatever else is mended on the way is told.

/// Nested deeper than any answer, it is something else.
const DEPTH_MAX: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// As it was written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// In their order, and twice where they were given twice.
    Fields(Vec<(String, Json)>),
}

/// The object or list that a text begins with.
pub(super) struct Parsed {
    pub json: Json,
    /// How many bytes of the text it takes.
    pub length: usize,
    /// Whether it was not JSON as it stood.
    pub is_mended: bool,
    /// Whether it ends before it is closed, so that something may be missing.
    pub is_cut: bool,
}

/// With how many bytes were looked at, which is what it cost.
pub(super) fn parse(text: &str) -> (Option<Parsed>, usize) {
    let mut reader = Reader { text, at: 0, reached: 0, is_mended: false, is_cut: false };
    let json = match text.as_bytes().first() {
        Some(b'{') => reader.fields(0),
        Some(b'[') => reader.list(0),
        _ => None,
    };
    let cost = reader.reached.max(reader.at);
    let Reader { at: length, is_mended, is_cut, .. } = reader;
    let parsed = json.map(|json| Parsed { json, length, is_mended, is_cut });
    (parsed, cost)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// As far as anything was read, also what was not taken in the end.
    reached: usize,
    is_mended: bool,
    is_cut: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn mend(&mut self) {
        self.is_mended = true;
    }

    fn cut(&mut self) {
        self.is_cut = true;
        self.mend();
    }

    /// Past white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += comment;
            self.mend();
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEPTH_MAX {
            return None;
        }
        match self.peek()? {
            '{' => self.fields(depth),
            '[' => self.list(depth),
            '"' | '\'' | '“' | '`' => self.string().map(Json::Text),
            _ => self.bare(),
        }
    }

    fn fields(&mut self, depth: usize) -> Option<Json> {
        self.bump();
        let mut fields = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                Some('}') => {
                    self.bump();
                    return Some(Json::Fields(fields));
                }
                // One too many, or in place of the first.
                Some(',') => {
                    self.bump();
                    self.mend();
                    continue;
                }
                _ => {}
            }
            let before = self.at;
            let Some(name) = self.name() else {
                // What follows is no field, or is cut off: the object ends here. An empty one is no object.
                self.reached = self.reached.max(self.at);
                let is_cut_off = self.reached == self.text.len();
                self.at = before;
                self.cut();
                return (is_cut_off || !fields.is_empty()).then_some(Json::Fields(fields));
            };
            self.skip();
            let value = match self.peek() {
                None | Some(',' | '}' | ']') => {
                    self.mend();
                    Json::Null
                }
                _ => self.value(depth + 1)?,
            };
            fields.push((name, value));
            self.comma('}');
        }
    }

    fn list(&mut self, depth: usize) -> Option<Json> {
        self.bump();
        let mut items = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                Some(']') => {
                    self.bump();
                    return Some(Json::List(items));
                }
                Some(',') => {
                    self.bump();
                    self.mend();
                    continue;
                }
                None => {
                    self.cut();
                    return Some(Json::List(items));
                }
                // Its own bracket was forgotten.
                Some('}') => {
                    self.mend();
                    return Some(Json::List(items));
                }
                _ => {}
            }
            items.push(self.value(depth + 1)?);
            self.comma(']');
        }
    }

    /// Between two entries. One is often forgotten at the end of a line.
    fn comma(&mut self, close: char) {
        self.skip();
        if self.peek() == Some(',') {
            self.bump();
            self.skip();
            if self.peek() == Some(close) {
                self.mend();
            }
        } else if self.peek() != Some(close) {
            self.mend();
        }
    }

    /// The name of a field with its colon.
    fn name(&mut self) -> Option<String> {
        let name = match self.peek()? {
            '"' | '\'' | '“' | '`' => self.string()?,
            _ => {
                let rest = self.rest();
                let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')?;
                let name = rest[..length].to_owned();
                self.at += length;
                self.mend();
                name
            }
        };
        self.skip();
        (!name.is_empty() && self.peek() == Some(':')).then(|| {
            self.bump();
            name
        })
    }

    fn string(&mut self) -> Option<String> {
        let open = self.peek()?;
        let close = if open == '“' { '”' } else { open };
        if open != '"' {
            self.mend();
        }
        self.bump();
        let mut text = String::new();
        loop {
            // Most letters are only letters.
            let rest = self.rest();
            let plain = rest.find(|c: char| c == close || c == '\\' || c.is_control()).unwrap_or(rest.len());
            text.push_str(&rest[..plain]);
            self.at += plain;
            let Some(c) = self.peek() else { break };
            self.bump();
            match c {
                '\\' => self.escape(&mut text),
                c if c == close && self.ends_here() => return Some(text),
                c => {
                    if c == close || c.is_control() {
                        self.mend();
                    }
                    text.push(c);
                }
            }
        }
        self.cut();
        Some(text)
    }

    /// A quote that nothing fitting follows was meant to be part of the text.
    fn ends_here(&self) -> bool {
        let rest = self.rest().trim_start();
        let is_field = |rest: &str| {
            let name = rest.strip_prefix('"').unwrap_or_default();
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or_default();
            end > 0 && name[end..].strip_prefix('"').is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        rest.is_empty()
            || rest.starts_with([',', ':', '}', ']'])
            || rest.starts_with("//")
            || rest.starts_with("/*")
            || is_field(rest)
    }

    fn escape(&mut self, text: &mut String) {
        let Some(c) = self.peek() else {
            self.mend();
            text.push('\\');
            return;
        };
        self.bump();
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            '"' | '\\' | '/' => text.push(c),
            'u' => match self.unicode() {
                // What is kept as text cannot hold a zero, as it cannot where one came unescaped.
                Some('\0') => text.push(char::REPLACEMENT_CHARACTER),
                Some(c) => text.push(c),
                None => {
                    self.mend();
                    text.push_str("\\u");
                }
            },
            c => {
                self.mend();
                text.push('\\');
                text.push(c);
            }
        }
    }

    /// The letter of `\uXXXX`, two of them where it takes a pair.
    fn unicode(&mut self) -> Option<char> {
        let before = self.at;
        let found = self.four().and_then(|high| {
            if !(0xd800..0xdc00).contains(&high) {
                return char::from_u32(high);
            }
            self.at += self.rest().strip_prefix("\\u").map(|_| 2)?;
            let low = self.four().filter(|low| (0xdc00..0xe000).contains(low))?;
            char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
        });
        if found.is_none() {
            self.at = before;
        }
        found
    }

    fn four(&mut self) -> Option<u32> {
        let digits =
            self.rest().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let number = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(number)
    }

    /// A number, a word of JSON or of another language, or words that somebody forgot to quote.
    fn bare(&mut self) -> Option<Json> {
        let rest = self.rest();
        let length = rest.find([',', '}', ']', '\n']).unwrap_or(rest.len());
        let word = rest[..length].trim_end().to_owned();
        if word.is_empty() {
            return None;
        }
        self.at += word.len();
        let strict = match word.as_str() {
            "null" => Some(Json::Null),
            "true" => Some(Json::Bool(true)),
            "false" => Some(Json::Bool(false)),
            number if number.parse::<f64>().is_ok_and(f64::is_finite) && !number.starts_with('+') => {
                Some(Json::Number(number.to_owned()))
            }
            _ => None,
        };
        strict.or_else(|| {
            self.mend();
            Some(match word.as_str() {
                "None" | "undefined" | "nil" => Json::Null,
                "True" => Json::Bool(true),
                "False" => Json::Bool(false),
                _ => Json::Text(word),
            })
        })
    }
}

impl Json {
    /// As text, whatever it is: so nothing that came in an odd form is lost.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Bool(value) => value.to_string(),
            Self::Number(text) | Self::Text(text) => text,
            Self::List(items) => {
                let texts: Vec<_> =
                    items.into_iter().map(Self::into_text).filter(|text| !text.is_empty()).collect();
                texts.join("\n")
            }
            Self::Fields(fields) => {
                let line = |(name, value): (String, Self)| format!("{name}: {}", value.into_text());
                fields.into_iter().map(line).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// One that should have been several.
    pub(super) fn into_list(self) -> Vec<Self> {
        match self {
            Self::List(items) => items,
            Self::Null => Vec::new(),
            one => vec![one],
        }
    }
}

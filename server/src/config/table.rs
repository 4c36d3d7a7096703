//! One table of the settings file, read key by key; whatever is wrong is noted, and the rest is read on.

use super::layers::no_such_setting;

pub(super) struct Reader<'a> {
    table: &'a toml::Table,
    pub problems: Vec<(String, String)>,
}

impl<'a> Reader<'a> {
    /// `hint` has words for keys that are better said otherwise.
    pub fn new(table: &'a toml::Table, known: &[&str], hint: impl Fn(&str) -> Option<&'static str>) -> Self {
        let unknown = table.keys().filter(|key| !known.contains(&key.as_str()));
        let words = |key: &String| hint(key).map_or_else(|| no_such_setting(key, known), str::to_owned);
        Self { table, problems: unknown.map(|key| (key.clone(), words(key))).collect() }
    }

    pub fn problem(&mut self, key: &str, message: impl Into<String>) {
        self.problems.push((key.into(), message.into()));
    }

    pub fn required<T>(&mut self, key: &str, parse: impl Fn(&toml::Value) -> Result<T, String>) -> Option<T> {
        if !self.table.contains_key(key) {
            self.problem(key, "this is missing");
        }
        self.optional(key, parse)
    }

    pub fn optional<T>(&mut self, key: &str, parse: impl Fn(&toml::Value) -> Result<T, String>) -> Option<T> {
        match parse(self.table.get(key)?) {
            Ok(value) => Some(value),
            Err(message) => {
                self.problem(key, message);
                None
            }
        }
    }
}

pub(super) fn text(value: &toml::Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("a text is allowed, not a {}", value.type_str()))
}

pub(super) fn texts(value: &toml::Value) -> Result<Vec<String>, String> {
    let all = value.as_array().ok_or_else(|| format!("a list is allowed, not a {}", value.type_str()))?;
    all.iter().map(|one| text(one).map(str::to_owned)).collect()
}

/// A name that can stand in an address.
pub(super) fn name(value: &toml::Value) -> Result<String, String> {
    let name = text(value)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > 40 || !name.chars().all(plain) {
        return Err(format!(
            "\"{name}\" is not a name; allowed are 1 to 40 letters, digits, '.', '_' and '-'"
        ));
    }
    Ok(name.to_owned())
}

//! Takes the fields of an object one by one, under whichever name a model gave them. What nobody took is left over, and
//! kept.

use super::{Named, is_alike, lenient::Json};

pub(super) struct Entry {
    fields: Vec<(String, Json)>,
    /// Values that were taken and not understood.
    odd: Vec<Named>,
}

impl Entry {
    /// Something else than an object is one with a single field, `otherwise`.
    pub(super) fn new(json: Json, otherwise: &str) -> Self {
        let fields = match json {
            Json::Fields(fields) => fields,
            other => vec![(otherwise.to_owned(), other)],
        };
        Self { fields, odd: Vec::new() }
    }

    /// The first field that has one of these names; the earlier name counts more.
    pub(super) fn take(&mut self, names: &[&str]) -> Option<Json> {
        let at =
            names.iter().find_map(|name| self.fields.iter().position(|(known, _)| is_alike(known, name)))?;
        Some(self.fields.remove(at).1)
    }

    pub(super) fn peek(&self, names: &[&str]) -> Option<&Json> {
        let found = names.iter().find_map(|name| self.fields.iter().find(|(known, _)| is_alike(known, name)));
        found.map(|(_, value)| value)
    }

    pub(super) fn put(&mut self, name: &str, value: Json) {
        self.fields.push((name.to_owned(), value));
    }

    pub(super) fn text(&mut self, names: &[&str]) -> String {
        self.take(names).map(Json::into_text).unwrap_or_default()
    }

    pub(super) fn list(&mut self, names: &[&str]) -> Vec<Json> {
        self.take(names).map(Json::into_list).unwrap_or_default()
    }

    pub(super) fn texts(&mut self, names: &[&str]) -> Vec<String> {
        let texts = self.list(names).into_iter().map(Json::into_text);
        texts.filter(|text| !text.trim().is_empty()).collect()
    }

    /// Read by `known`. What it does not know, or what says more than that, is left over under its name.
    pub(super) fn choice<T>(&mut self, names: &[&str], known: fn(&str) -> Option<T>) -> Option<T> {
        let text = self.text(names);
        let found = known(text.trim());
        if found.is_none() || text.split_whitespace().count() > 2 {
            self.keep(names[0], text);
        }
        found
    }

    pub(super) fn keep(&mut self, name: &str, text: String) {
        if !text.trim().is_empty() {
            self.odd.push(Named { name: name.to_owned(), text });
        }
    }

    /// All that nobody took.
    pub(super) fn left(self) -> Vec<Named> {
        let named = |(name, value): (String, Json)| Named { name, text: value.into_text() };
        let rest = self.fields.into_iter().map(named).filter(|field| !field.text.trim().is_empty());
        self.odd.into_iter().chain(rest).collect()
    }
}

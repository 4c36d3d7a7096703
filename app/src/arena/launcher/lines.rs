//! The lines of a launcher: who takes part, and what is wrong with that.

use domain::{
    backend::NATIVE,
    battle::{self, CONTESTANTS_MAX, CONTESTANTS_MIN, Kind, lanes},
    catalogue::{Lane, ModelRef},
};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{chat::api::Models, device, erased::effect_first};

/// Under this name the browser remembers the last roster.
const REMEMBERED: &str = "arena";

#[derive(Clone, Copy)]
pub struct Lines {
    pub kind: RwSignal<Kind>,
    lines: RwSignal<Vec<Line>>,
    next: StoredValue<u32>,
    /// Whose the signals of lines are: one that is added in an effect must outlive it.
    owner: StoredValue<Option<Owner>>,
    models: RwSignal<Models>,
}

#[derive(Clone, Copy, PartialEq)]
pub struct Line {
    pub key: u32,
    /// A backend or a persona, by name.
    pub identity: RwSignal<String>,
    pub model: RwSignal<String>,
}

/// As it is remembered.
#[derive(Serialize, Deserialize)]
struct Roster {
    kind: Kind,
    lines: Vec<(String, String)>,
}

impl Lines {
    /// Two, on the model that is the default.
    pub fn new(models: RwSignal<Models>) -> Self {
        let lines = Self {
            kind: RwSignal::new(Kind::Coding),
            lines: RwSignal::default(),
            next: StoredValue::new(0),
            owner: StoredValue::new(Owner::current()),
            models,
        };
        lines.fill(Vec::new());
        lines
    }

    /// The last roster comes back, and every change of it is remembered.
    pub fn keep(self) {
        effect_first(move |is_first| {
            let now = Roster { kind: self.kind.get(), lines: self.named() };
            if is_first {
                let kept =
                    device::remembered(REMEMBERED).and_then(|kept| domain::json::read::<Roster>(&kept).ok());
                if let Some(Roster { kind, lines }) = kept {
                    self.kind.set(kind);
                    self.fill(lines);
                }
            } else if let Ok(now) = serde_json::to_string(&now) {
                device::remember(REMEMBERED, &now);
            }
        });
    }

    fn fill(self, named: Vec<(String, String)>) {
        let mut named: Vec<_> = named.into_iter().take(CONTESTANTS_MAX).collect();
        while named.len() < CONTESTANTS_MIN {
            named.push(self.another(&named));
        }
        self.lines.set(named.into_iter().map(|(identity, model)| self.line(identity, model)).collect());
    }

    fn line(self, identity: String, model: String) -> Line {
        let key = self.next.get_value();
        self.next.set_value(key + 1);
        let make = || Line { key, identity: RwSignal::new(identity), model: RwSignal::new(model) };
        match self.owner.get_value() {
            Some(owner) => owner.with(make),
            None => make(),
        }
    }

    /// One that is not among them yet, as far as there is one.
    fn another(self, taken: &[(String, String)]) -> (String, String) {
        let identity = if self.kind.get_untracked() == Kind::Coding { NATIVE } else { "" };
        let is_free = |model: &String| !taken.iter().any(|(who, other)| who == identity && other == model);
        let model = self.models.with_untracked(|models| {
            let default = models.default.iter().map(ToString::to_string);
            let all = models.catalogue.all().map(|(_, model)| model.to_string());
            let mut all = default.chain(all).peekable();
            let first = all.peek().cloned();
            all.find(is_free).or(first)
        });
        (identity.to_owned(), model.unwrap_or_default())
    }

    pub fn keys(self) -> Vec<u32> {
        self.lines.with(|lines| lines.iter().map(|line| line.key).collect())
    }

    pub fn get(self, key: u32) -> Option<Line> {
        self.lines.with_untracked(|lines| lines.iter().find(|line| line.key == key).copied())
    }

    pub fn place(self, key: u32) -> usize {
        self.lines.with(|lines| lines.iter().position(|line| line.key == key)).unwrap_or_default()
    }

    pub fn may_add(self) -> bool {
        self.lines.with(Vec::len) < CONTESTANTS_MAX
    }

    pub fn may_remove(self) -> bool {
        self.lines.with(Vec::len) > CONTESTANTS_MIN
    }

    pub fn add(self, identities: &[String]) {
        let (identity, model) = self.another(&untrack(|| self.named()));
        let line = self.line(identity, model);
        self.lines.update(|lines| lines.push(line));
        self.set_apart(identities);
    }

    /// Whoever is the same as one before is the first of `identities` that is free with its model, if there is one.
    pub fn set_apart(self, identities: &[String]) {
        for (at, line) in self.lines.get_untracked().into_iter().enumerate() {
            let named = untrack(|| self.named());
            let (_, model) = &named[at];
            let is_free = |who: &&String| !named.contains(&((*who).clone(), model.clone()));
            if named[..at].contains(&named[at])
                && let Some(free) = identities.iter().find(is_free)
            {
                line.identity.set(free.clone());
            }
        }
    }

    pub fn remove(self, key: u32) {
        self.lines.update(|lines| lines.retain(|line| line.key != key));
    }

    /// Agents are no personas, so the roster begins anew; the models stay.
    pub fn choose_kind(self, kind: Kind) {
        self.kind.set(kind);
        let identity = if kind == Kind::Coding { NATIVE } else { "" };
        for line in self.lines.get_untracked() {
            line.identity.set(identity.to_owned());
        }
    }

    fn named(self) -> Vec<(String, String)> {
        self.lines.with(|lines| lines.iter().map(|line| (line.identity.get(), line.model.get())).collect())
    }

    pub fn lane(self, line: Line) -> Option<Lane> {
        let model = line.model.get().parse::<ModelRef>().ok()?;
        self.models.with(|models| models.catalogue.lane(&model))
    }

    /// Why it cannot be launched, said before it is sent.
    pub fn fault(self) -> Option<String> {
        let line = |(identity, model)| battle::Line { identity, model, ..Default::default() };
        battle::Line::fault(self.kind.get(), &self.named().into_iter().map(line).collect::<Vec<_>>())
    }

    /// How it will run.
    pub fn course(self) -> String {
        let lanes: Vec<_> = self.lines.get().into_iter().filter_map(|line| self.lane(line)).collect();
        lanes::course(&lanes)
    }
}

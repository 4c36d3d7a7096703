//! A battle as a launcher's form, or a script, asks for it. What it may be is decided by what it becomes.

use serde::{Deserialize, Serialize};

use super::{Identity, Kind, LIMIT_S, check_each_once, letter};
use crate::{
    backend::Backend,
    id::{BattleId, SessionId},
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// Made by whoever asks, so that asking twice launches once.
    pub id: BattleId,
    pub session: SessionId,
    pub kind: Kind,
    pub prompt: String,
    #[serde(default)]
    pub contestants: Vec<Line>,
    #[serde(default = "limit_s")]
    pub limit_s: u32,
    /// Nothing: as many as it takes.
    #[serde(default)]
    pub tokens_max: Option<u64>,
    #[serde(default)]
    pub carry: bool,
    /// A command; nothing where there is none, or none is wanted.
    #[serde(default)]
    pub check: String,
    /// A model, as `server/model`; nothing where nobody shall judge.
    #[serde(default)]
    pub judge: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// A backend or a persona, by name; nothing for a model as it is.
    #[serde(default)]
    pub identity: String,
    /// `server/model`
    #[serde(default)]
    pub model: String,
    #[serde(default)]
    pub variant: String,
}

impl Line {
    /// Why these cannot take part, as far as that can be seen in them.
    pub fn fault(kind: Kind, lines: &[Self]) -> Option<String> {
        if let Err(twice) = check_each_once(kind, lines) {
            return Some(twice.to_string());
        }
        let without_model = lines.iter().position(|line| line.model.is_empty())?;
        Some(format!("Choose a model for {}.", letter(without_model)))
    }
}

/// Who shall examine results: an agent, a persona, or where neither is named the model as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExaminerDraft {
    #[serde(default)]
    pub backend: Option<String>,
    #[serde(default)]
    pub persona: Option<String>,
    /// `server/model`
    #[serde(default)]
    pub model: String,
}

impl ExaminerDraft {
    /// By what was typed alone: nobody knows yet whether there is such a one.
    pub fn identity(&self) -> Identity {
        let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
        match (named(&self.backend), named(&self.persona)) {
            (Some(backend), _) => Identity::Backend(Backend(backend)),
            (None, Some(persona)) => Identity::Persona(persona),
            (None, None) => Identity::Plain,
        }
    }
}

fn limit_s() -> u32 {
    LIMIT_S
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_lines_is_said_before_they_are_sent() {
        let check = |words: &[&str], expected: Option<&str>| {
            let line = |word: &&str| {
                let (identity, model) = word.split_once('@').unwrap();
                Line { identity: identity.into(), model: model.into(), variant: String::new() }
            };
            let lines: Vec<_> = words.iter().map(line).collect();
            assert_eq!(Line::fault(Kind::Coding, &lines).as_deref(), expected, "{words:?}");
        };
        check(&["native@s/a", "native@s/b"], None);
        check(&["native@s/a", "native@s/a"], Some("B is the same as A. Choose another model or agent."));
        check(&["native@s/a", "native@"], Some("Choose a model for B."));
    }

    #[test]
    fn an_examiner_is_an_agent_a_persona_or_the_model_itself() {
        let check = |backend: Option<&str>, persona: Option<&str>, expected: Identity| {
            let [backend, persona] = [backend, persona].map(|name| name.map(str::to_owned));
            assert_eq!(ExaminerDraft { backend, persona, model: "s/m".into() }.identity(), expected);
        };
        check(Some("goose"), None, Identity::Backend(Backend("goose".into())));
        check(Some("goose"), Some("Poet"), Identity::Backend(Backend("goose".into())));
        check(None, Some("Poet"), Identity::Persona("Poet".into()));
        check(Some(""), Some("Poet"), Identity::Persona("Poet".into()));
        check(None, Some(""), Identity::Plain);
        check(None, None, Identity::Plain);
    }
}

//! A battle as a launcher's form, or a script, asks for it. What it may be is decided by what it becomes.

use serde::{Deserialize, Serialize};

use super::{Battle, Contestant, Identity, Kind, LIMIT_S, check_each_once, letter};
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

impl Draft {
    /// Whether this is what became that battle, as far as people tell battles apart.
    pub fn became(&self, battle: &Battle) -> bool {
        let is = |(line, contestant): (&Line, &Contestant)| {
            line.identity.eq_ignore_ascii_case(contestant.identity.name())
                && line.model == contestant.model.to_string()
                && line.variant.trim() == contestant.variant
        };
        (self.kind, &self.prompt, self.contestants.len())
            == (battle.kind, &battle.prompt, battle.contestants.len())
            && self.contestants.iter().zip(&battle.contestants).all(is)
    }
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

    /// A launch whose answer was lost is told from another one with its id.
    #[test]
    fn a_draft_is_known_again_in_what_it_became() {
        let it = crate::battle::tests::battle(Kind::Coding, "L1 C2", |_| {});
        let check = |expected: bool, change: fn(&mut Draft)| {
            let line = |it: &Contestant| Line {
                identity: it.identity.name().to_owned(),
                model: it.model.to_string(),
                variant: " ".to_owned(),
            };
            let mut draft = Draft {
                id: it.id,
                session: it.session,
                kind: it.kind,
                prompt: it.prompt.clone(),
                contestants: it.contestants.iter().map(line).collect(),
                limit_s: LIMIT_S,
                tokens_max: None,
                carry: false,
                check: String::new(),
                judge: String::new(),
            };
            change(&mut draft);
            assert_eq!(draft.became(&it), expected, "{draft:?}");
        };
        check(true, |_| {});
        check(false, |draft| draft.prompt.push('!'));
        check(false, |draft| draft.kind = Kind::Qa);
        check(false, |draft| draft.contestants[1].model.push('x'));
        check(false, |draft| draft.contestants[0].variant = "again".into());
        check(false, |draft| draft.contestants.swap(0, 1));
        check(false, |draft| draft.contestants.truncate(1));
    }

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

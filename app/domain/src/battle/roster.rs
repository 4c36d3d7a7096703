//! What a launcher asks for, and whether it may be.

use super::{
    Battle, CheckState, Contestant, Course, Identity, Kind, LIMIT_S_MAX, LIMIT_S_MIN, PROMPT_BYTES_MAX,
    Standing, Status, Terms,
};
use crate::{
    Rejected,
    catalogue::{Lane, ModelRef},
    id::{BattleId, ContestantId, ProjectId, SessionId},
};

pub const CONTESTANTS_MIN: usize = 2;
pub const CONTESTANTS_MAX: usize = 6;
const VARIANT_CHARS_MAX: usize = 40;

/// One line of a launcher, with the lane of the server that serves the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub identity: Identity,
    pub model: ModelRef,
    pub variant: String,
    pub lane: Lane,
}

/// Two to six, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster(Vec<Entry>);

impl Roster {
    pub fn new(kind: Kind, entries: Vec<Entry>) -> Result<Self, Rejected> {
        let no = |words: String| Err(Rejected::Invalid(words));
        check_count(entries.len())?;
        for (place, entry) in entries.iter().enumerate() {
            let letter = super::letter(place);
            let fits = matches!(
                (kind, &entry.identity),
                (Kind::Coding, Identity::Backend(_)) | (Kind::Qa, Identity::Persona(_) | Identity::Plain)
            );
            if !fits {
                return no(format!("Contestant {letter} cannot take part in a battle of this type."));
            }
            if entry.variant.chars().count() > VARIANT_CHARS_MAX {
                return no(format!(
                    "The name beside contestant {letter} has at most {VARIANT_CHARS_MAX} letters."
                ));
            }
        }
        let who = |entry: &Entry| (entry.identity.clone(), entry.model.clone(), entry.variant.clone());
        check_each_once(kind, &entries.iter().map(who).collect::<Vec<_>>())?;
        Ok(Self(entries))
    }

    pub fn entries(&self) -> &[Entry] {
        &self.0
    }
}

pub fn check_count(count: usize) -> Result<(), Rejected> {
    match count {
        ..CONTESTANTS_MIN => {
            Err(Rejected::Invalid(format!("A battle needs at least {CONTESTANTS_MIN} contestants.")))
        }
        CONTESTANTS_MIN..=CONTESTANTS_MAX => Ok(()),
        count => Err(Rejected::Invalid(format!(
            "A battle has at most {CONTESTANTS_MAX} contestants, these are {count}."
        ))),
    }
}

/// Two who are the same would say nothing about each other.
pub fn check_each_once<T: PartialEq>(kind: Kind, all: &[T]) -> Result<(), Rejected> {
    let twice = all.iter().enumerate().find_map(|(at, one)| {
        let first = all[..at].iter().position(|other| other == one)?;
        Some((super::letter(first), super::letter(at)))
    });
    let Some((first, second)) = twice else { return Ok(()) };
    let other = if kind == Kind::Coding { "agent" } else { "persona" };
    Err(Rejected::Invalid(format!("{second} is the same as {first}. Choose another model or {other}.")))
}

/// Everything that a battle begins with.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub id: BattleId,
    pub session: SessionId,
    pub project: ProjectId,
    pub kind: Kind,
    pub prompt: String,
    pub terms: Terms,
    pub roster: Roster,
    /// One for each of the roster.
    pub ids: Vec<ContestantId>,
    pub at_ms: i64,
}

impl Battle {
    /// A battle in which nobody has begun.
    pub fn new(launch: Launch) -> Result<Self, Rejected> {
        let Launch { id, session, project, kind, prompt, mut terms, roster, ids, at_ms } = launch;
        check_prompt(&prompt)?;
        check_limit(terms.limit_s)?;
        check_tokens(terms.tokens_max)?;
        // There is nothing to check where nobody changes anything.
        terms.check = terms.check.filter(|command| kind == Kind::Coding && !command.trim().is_empty());
        let contestant = |(entry, id): (Entry, ContestantId)| Contestant {
            id,
            identity: entry.identity,
            model: entry.model,
            variant: entry.variant,
            lane: entry.lane,
            tries: Vec::new(),
            standing: Standing::Queued,
            benchmark: None,
            tokens: None,
            changes: None,
            unkept: None,
            mark: None,
            check: CheckState::None,
        };
        Ok(Self {
            id,
            session,
            project,
            kind,
            prompt,
            terms,
            created_at_ms: at_ms,
            course: Course {
                status: Status::Running,
                stopped: None,
                finished_at_ms: None,
                winner: None,
                judged: None,
                base_check: CheckState::None,
                opinion_tokens: 0,
                unwritten: None,
            },
            contestants: roster.0.into_iter().zip(ids).map(contestant).collect(),
            analyses: Vec::new(),
            examinations: Vec::new(),
            tasks: Default::default(),
        })
    }
}

pub fn check_prompt(prompt: &str) -> Result<(), Rejected> {
    if prompt.trim().is_empty() {
        return Err(Rejected::Empty);
    }
    if prompt.len() > PROMPT_BYTES_MAX {
        let kilobytes = |bytes: usize| bytes.div_ceil(1024);
        let (got, max) = (kilobytes(prompt.len()), kilobytes(PROMPT_BYTES_MAX));
        return Err(Rejected::TooLong { got, max });
    }
    Ok(())
}

pub fn check_limit(limit_s: u32) -> Result<(), Rejected> {
    if (LIMIT_S_MIN..=LIMIT_S_MAX).contains(&limit_s) {
        return Ok(());
    }
    let minutes = LIMIT_S_MAX / 60;
    Err(Rejected::Invalid(format!(
        "A contestant may take between {LIMIT_S_MIN} seconds and {minutes} minutes."
    )))
}

pub fn check_tokens(tokens_max: Option<u64>) -> Result<(), Rejected> {
    match tokens_max {
        Some(0) => Err(Rejected::Invalid("Without any token nobody can begin.".into())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Backend;

    fn entry(word: &str) -> Entry {
        let (who, model) = word.split_once('@').unwrap();
        let (model, variant) = model.split_once('#').unwrap_or((model, ""));
        let identity = match who.strip_prefix('~') {
            Some(persona) => Identity::named(Kind::Qa, persona),
            None => Identity::Backend(Backend(who.to_owned())),
        };
        let model = ModelRef { server: "s".into(), model: model.into() };
        Entry { identity, model, variant: variant.into(), lane: Lane::Local }
    }

    #[test]
    fn a_roster_has_two_to_six_each_once() {
        let check = |kind: Kind, words: &str, expected: &str| {
            let roster = Roster::new(kind, words.split_whitespace().map(entry).collect());
            let told = roster.map_or_else(|no| no.to_string(), |roster| roster.0.len().to_string());
            assert_eq!(told, expected, "{words}");
        };
        use Kind::{Coding, Qa};
        check(Coding, "native@a qwen@a", "2");
        check(Coding, "native@a native@b native@c native@d native@e native@f", "6");
        check(Coding, "", "A battle needs at least 2 contestants.");
        check(Coding, "native@a", "A battle needs at least 2 contestants.");
        check(Coding, "n@a n@b n@c n@d n@e n@f n@g", "A battle has at most 6 contestants, these are 7.");
        check(Coding, "native@a qwen@a native@a", "C is the same as A. Choose another model or agent.");
        check(Qa, "~@a ~Poet@a ~Poet@a", "C is the same as B. Choose another model or persona.");
        check(Coding, "native@a native@a#again", "2");
        check(Qa, "~Poet@a ~@a", "2");
        check(Qa, "~Poet@a native@a", "Contestant B cannot take part in a battle of this type.");
        check(Coding, "~@a native@a", "Contestant A cannot take part in a battle of this type.");
    }
}

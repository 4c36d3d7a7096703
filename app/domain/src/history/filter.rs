//! What of the history is shown. It lives in the address, so that it can be linked, and gone back to.

use std::{fmt, str::FromStr};

use time::{Date, Month};
use uuid::Uuid;

use super::{Kind, State, Worded as _};
use crate::{
    battle,
    flow::{Band, FlowId},
    id::{ProjectId, SessionId},
    search::Asked,
    workspace::Workspace,
};

#[cfg(test)]
mod tests;

pub const PATH: &str = "/history";
/// What is wrong is repeated to whoever wrote it, but not all of it.
const REPEATED_CHARS_MAX: usize = 40;
const NAME_CHARS_MAX: usize = 80;
/// The one value of `archived`.
pub const ONLY: &str = "only";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub asked: Option<Asked>,
    pub kind: Option<Kind>,
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    pub state: Option<State>,
    /// Only what was put away.
    pub archived: bool,
    /// Only battles of this type.
    pub battle_type: Option<battle::Kind>,
    /// Only battles in which somebody like this took part, or won.
    pub contestant: Option<String>,
    pub winner: Option<String>,
    /// Only runs of this flow, or of this band.
    pub flow: Option<FlowId>,
    pub band: Option<Band>,
    /// The first and the last day, in UTC: a server does not know where its reader is.
    pub from: Option<Date>,
    pub to: Option<Date>,
    /// Only what comes after this place in the list.
    pub before: Option<Cursor>,
}

/// A place in the list: behind the entry that was active then. Written `microseconds.id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub at_us: i64,
    pub id: Uuid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Asked,
    Kind,
    Project,
    Session,
    State,
    Archived,
    BattleType,
    Contestant,
    Winner,
    Flow,
    Band,
    From,
    To,
    Before,
}

/// A value that was not understood. It is ignored, and that is said beside its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub field: Field,
    pub words: String,
}

impl Field {
    pub const ALL: [Self; 14] = [
        Self::Asked,
        Self::Kind,
        Self::Project,
        Self::Session,
        Self::State,
        Self::Archived,
        Self::BattleType,
        Self::Contestant,
        Self::Winner,
        Self::Flow,
        Self::Band,
        Self::From,
        Self::To,
        Self::Before,
    ];

    /// In the address, and in the form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Asked => "q",
            Self::Kind => "kind",
            Self::Project => "project",
            Self::Session => "session",
            Self::State => "state",
            Self::Archived => "archived",
            Self::BattleType => "type",
            Self::Contestant => "contestant",
            Self::Winner => "winner",
            Self::Flow => "flow",
            Self::Band => "band",
            Self::From => "from",
            Self::To => "to",
            Self::Before => "before",
        }
    }
}

impl Filter {
    /// Whether a condition asks for battles alone.
    pub fn is_of_battles(&self) -> bool {
        self.battle_type.is_some() || self.contestant.is_some() || self.winner.is_some()
    }

    /// Whether a condition asks for runs alone.
    pub fn is_of_runs(&self) -> bool {
        self.flow.is_some() || self.band.is_some()
    }

    /// Reads the query of an address, whatever stands in it.
    pub fn parse(query: &str) -> (Self, Vec<Fault>) {
        let (mut filter, mut faults) = (Self::default(), Vec::new());
        for field in Field::ALL {
            let Some(value) = values(query, field).find(|value| !value.is_empty()) else { continue };
            if let Err(words) = filter.set(field, &value) {
                faults.push(Fault { field, words });
            }
        }
        if filter.from.zip(filter.to).is_some_and(|(from, to)| to < from) {
            filter.to = None;
            faults.push(Fault { field: Field::To, words: "The last day is before the first one.".into() });
        }
        (filter, faults)
    }

    /// Lets go of what does not exist (any more).
    pub fn keep_known(&mut self, workspace: &Workspace) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut forget = |field, words: &str| faults.push(Fault { field, words: words.to_owned() });
        if self.project.is_some_and(|id| workspace.project(id).is_none()) {
            self.project = None;
            forget(Field::Project, "That project does not exist (any more).");
        }
        let session = self.session.map(|id| workspace.session(id));
        match (session, self.project) {
            (Some(None), _) => {
                self.session = None;
                forget(Field::Session, "That session does not exist (any more).");
            }
            (Some(Some(session)), Some(project)) if session.project != project => {
                self.session = None;
                forget(Field::Session, "That session is not one of the project.");
            }
            _ => {}
        }
        faults
    }

    /// A form also sends the fields that nobody filled in; an address is better without them.
    pub fn has_blanks(query: &str) -> bool {
        Field::ALL.into_iter().any(|field| values(query, field).any(|value| value.is_empty()))
    }

    /// The address without its blank fields, and otherwise as it is.
    pub fn without_blanks(query: &str) -> String {
        let is_blank = |name: &str, value: &str| {
            value.trim().is_empty() && Field::ALL.iter().any(|field| field.name() == name)
        };
        let pairs = form_urlencoded::parse(query.as_bytes()).filter(|(name, value)| !is_blank(name, value));
        address(form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
    }

    /// The address of the list that this filter gives.
    pub fn path(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for field in Field::ALL {
            if let Some(value) = self.get(field) {
                query.append_pair(field.name(), &value);
            }
        }
        address(query.finish())
    }

    /// The value of a field as it stands in the address.
    pub fn get(&self, field: Field) -> Option<String> {
        match field {
            Field::Asked => self.asked.as_ref().map(|asked| asked.text().to_owned()),
            Field::Kind => self.kind.map(|kind| kind.word().to_owned()),
            Field::Project => self.project.map(|id| id.to_string()),
            Field::Session => self.session.map(|id| id.to_string()),
            Field::State => self.state.map(|state| state.word().to_owned()),
            Field::Archived => self.archived.then(|| ONLY.to_owned()),
            Field::BattleType => self.battle_type.map(|kind| kind.word().to_owned()),
            Field::Contestant => self.contestant.clone(),
            Field::Winner => self.winner.clone(),
            Field::Flow => self.flow.map(|flow| flow.name().to_owned()),
            Field::Band => self.band.map(|band| band.name().to_owned()),
            Field::From => self.from.map(|day| day.to_string()),
            Field::To => self.to.map(|day| day.to_string()),
            Field::Before => self.before.map(|place| place.to_string()),
        }
    }

    /// From its newest entry on, with one condition less.
    pub fn without(&self, field: Field) -> Self {
        let mut filter = Self { before: None, ..self.clone() };
        match field {
            Field::Asked => filter.asked = None,
            Field::Kind => filter.kind = None,
            Field::Project => filter.project = None,
            Field::Session => filter.session = None,
            Field::State => filter.state = None,
            Field::Archived => filter.archived = false,
            Field::BattleType => filter.battle_type = None,
            Field::Contestant => filter.contestant = None,
            Field::Winner => filter.winner = None,
            Field::Flow => filter.flow = None,
            Field::Band => filter.band = None,
            Field::From => filter.from = None,
            Field::To => filter.to = None,
            Field::Before => {}
        }
        filter
    }

    /// Which conditions there are. The place in the list is none.
    pub fn conditions(&self) -> Vec<Field> {
        let is_set = |field: &Field| *field != Field::Before && self.get(*field).is_some();
        Field::ALL.into_iter().filter(is_set).collect()
    }

    fn set(&mut self, field: Field, value: &str) -> Result<(), String> {
        let unknown = |what: &str| format!("“{}” is not {what}", repeated(value));
        match field {
            Field::Asked => self.asked = Some(Asked::new(value)?),
            Field::Kind => {
                self.kind =
                    Some(Kind::from_word(value).ok_or_else(|| unknown("something that is listed here."))?);
            }
            Field::Project => {
                self.project = Some(value.parse().map_err(|_| unknown("a project."))?);
            }
            Field::Session => {
                self.session = Some(value.parse().map_err(|_| unknown("a session."))?);
            }
            Field::State => {
                self.state = Some(State::from_word(value).ok_or_else(|| unknown("a state."))?);
            }
            Field::Archived if value == ONLY => self.archived = true,
            Field::Archived => return Err(unknown("“only”, which lists what is archived alone.")),
            Field::BattleType => {
                let kinds = [battle::Kind::Coding, battle::Kind::Qa];
                let kind = kinds.into_iter().find(|kind| kind.word() == value);
                self.battle_type = Some(kind.ok_or_else(|| unknown("a type of battle."))?);
            }
            Field::Contestant => self.contestant = Some(name(value)?),
            Field::Winner => self.winner = Some(name(value)?),
            Field::Flow => self.flow = Some(value.parse().map_err(|_| unknown("a flow."))?),
            Field::Band => self.band = Some(value.parse().map_err(|_| unknown("a band."))?),
            Field::From => {
                self.from = Some(day(value).ok_or_else(|| unknown("a day; write it as 2025-12-31."))?)
            }
            Field::To => self.to = Some(day(value).ok_or_else(|| unknown("a day; write it as 2025-12-31."))?),
            Field::Before => {
                self.before = Some(value.parse().map_err(|()| unknown("a place in this list."))?);
            }
        }
        Ok(())
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at_us, self.id.simple())
    }
}

impl FromStr for Cursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        // Beyond this no calendar here goes.
        const AT_US_MAX: i64 = 253_402_300_799_999_999;
        let (at_us, id) = text.split_once('.').ok_or(())?;
        let (at_us, id) = (at_us.parse().map_err(drop)?, Uuid::try_parse(id).map_err(drop)?);
        if (0..=AT_US_MAX).contains(&at_us) { Ok(Self { at_us, id }) } else { Err(()) }
    }
}

/// Part of the name of an agent, a persona or a model.
fn name(value: &str) -> Result<String, String> {
    match value.chars().count() {
        ..=NAME_CHARS_MAX => Ok(value.to_owned()),
        _ => Err(format!("A name has at most {NAME_CHARS_MAX} letters.")),
    }
}

fn values(query: &str, field: Field) -> impl Iterator<Item = String> {
    form_urlencoded::parse(query.as_bytes())
        .filter(move |(name, _)| name == field.name())
        .map(|(_, value)| value.trim().to_owned())
}

fn address(query: String) -> String {
    if query.is_empty() { PATH.to_owned() } else { format!("{PATH}?{query}") }
}

/// `2025-12-31`, as forms send it.
fn day(text: &str) -> Option<Date> {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    let number = |digits: &str, count: usize| {
        let plain = digits.len() == count && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse::<u16>().ok()).flatten()
    };
    let month = Month::try_from(u8::try_from(number(month, 2)?).ok()?).ok()?;
    Date::from_calendar_date(number(year, 4)?.into(), month, u8::try_from(number(day, 2)?).ok()?).ok()
}

fn repeated(value: &str) -> String {
    let mut short: String = value.chars().filter(|c| !c.is_control()).take(REPEATED_CHARS_MAX).collect();
    if value.chars().count() > REPEATED_CHARS_MAX {
        short.push('…');
    }
    short
}

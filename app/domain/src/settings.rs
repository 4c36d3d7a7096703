//! What Settings shows, takes and says about it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    Rejected,
    backend::{Backend, Offer},
    browser::{Browser, Pairing},
    catalogue::{Flavour, Lane, Model, ModelRef, ModelServer, ServerState},
    page::Wanted,
    setup::Setup,
    workspace::Project,
    worktree::State,
};

#[cfg(test)]
mod tests;

/// Who set a value. Where several do, the first of these counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Flag(String),
    Environment(String),
    File(String),
    Settings,
    /// Nobody set it: it was found on this machine.
    Found,
    Default,
}

impl Origin {
    /// What a flag, a variable or a file says is changed there and nowhere else.
    pub fn is_fixed(&self) -> bool {
        matches!(self, Self::Flag(_) | Self::Environment(_) | Self::File(_))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "set by the flag {name}"),
            Self::Environment(name) => write!(f, "set by the environment variable {name}"),
            Self::File(path) => write!(f, "set in {path}"),
            Self::Settings => f.write_str("set here"),
            Self::Found => f.write_str("found on this machine"),
            Self::Default => f.write_str("the default"),
        }
    }
}

/// A part of Settings with an address of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    #[default]
    Models,
    Agents,
    Projects,
    Worktrees,
    Appearance,
    Notifications,
    Browsers,
    Phone,
    About,
}

impl Section {
    /// In the order of the menu.
    pub const ALL: [Self; 9] = [
        Self::Models,
        Self::Agents,
        Self::Projects,
        Self::Worktrees,
        Self::Appearance,
        Self::Notifications,
        Self::Browsers,
        Self::Phone,
        Self::About,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Agents => "agents",
            Self::Projects => "projects",
            Self::Worktrees => "worktrees",
            Self::Appearance => "appearance",
            Self::Notifications => "notifications",
            Self::Browsers => "browsers",
            Self::Phone => "phone",
            Self::About => "about",
        }
    }

    pub fn named(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.id() == id)
    }
}

/// What Settings changes, part by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    ModelServers,
    DefaultModel,
    /// Who works in flows, and with which model.
    Flows,
    OwnLogins,
    /// What the worktrees of projects begin with.
    Projects,
    /// How much of the disk worktrees may take.
    Worktrees,
}

/// A model server as a person typed it, field by field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    pub name: String,
    pub url: String,
    /// `local`, `cloud`, or empty: what runs on this machine is local.
    pub lane: String,
    pub parallel: String,
    /// The name of a variable that holds the key, never a key.
    pub api_key_env: String,
    /// Model names, for a server that cannot list them, separated by commas or line ends.
    pub models: String,
    /// Protocols besides chat completions, likewise.
    pub speaks: String,
}

/// One field that cannot be taken as it is, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub field: String,
    pub words: String,
}

/// What became of a draft that was tested or added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// As it was typed, so that nothing has to be typed again. What may be a key is left out.
    pub draft: Draft,
    pub faults: Vec<Fault>,
    /// What answered at the address.
    pub look: Option<Look>,
    pub added: bool,
}

impl Checked {
    pub fn fault(&self, field: &str) -> Option<&str> {
        self.faults.iter().find(|fault| fault.field == field).map(|fault| fault.words.as_str())
    }
}

/// One look at an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    pub flavour: Flavour,
    pub state: ServerState,
    pub models: Vec<Model>,
}

impl From<&ModelServer> for Look {
    fn from(server: &ModelServer) -> Self {
        let ModelServer { flavour, state, models, .. } = server.clone();
        Self { flavour, state, models }
    }
}

const MODELS_NAMED_MAX: usize = 3;

impl Look {
    /// `llama-swap, 12 models: a, b, c and 9 more`, or why not.
    pub fn words(&self) -> String {
        let kind = self.flavour.words();
        match &self.state {
            ServerState::Unreachable { reason } => reason.clone(),
            ServerState::Starting => format!("{kind}. It answers, and is still loading its model"),
            ServerState::Reachable => match self.models.len() {
                0 => format!("{kind}. It answers, and serves no models"),
                count => {
                    let named: Vec<_> = self.models.iter().take(MODELS_NAMED_MAX).map(Model::shown).collect();
                    let more = match count - named.len() {
                        0 => String::new(),
                        more => format!(" and {more} more"),
                    };
                    format!("{kind}, {}: {}{more}", counted(count, "model"), named.join(", "))
                }
            },
        }
    }
}

/// Whether a model server has the key that it is asked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyState {
    None,
    Set {
        variable: String,
    },
    Missing {
        variable: String,
    },
    /// Entered here. It is never shown again.
    Kept,
    /// Entered on another machine alone.
    Elsewhere,
    /// Entered here, and no longer to be read.
    Unreadable,
}

impl KeyState {
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::None => return None,
            Self::Set { variable } => format!("key from {variable}"),
            Self::Missing { variable } => format!("{variable} is not set"),
            Self::Kept => "key set".to_owned(),
            Self::Elsewhere => "key set on another machine, not on this one".to_owned(),
            Self::Unreadable => "its key can no longer be read".to_owned(),
        })
    }

    /// Whether there is one that was entered, wherever that was.
    pub fn is_entered(&self) -> bool {
        matches!(self, Self::Kept | Self::Elsewhere | Self::Unreadable)
    }
}

/// A key as it was typed. It goes to the server, and comes back to nobody.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypedKey(String);

impl TypedKey {
    const BYTES_MAX: usize = 4 * 1024;

    /// None where nothing was typed. Of what is wrong, only that is said: it may be most of a key.
    pub fn parse(&self) -> Result<Option<&str>, &'static str> {
        match self.0.trim() {
            "" => Ok(None),
            key if key.len() > Self::BYTES_MAX => Err("this is too long for a key"),
            key if !key.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err("a key is one word of plain letters, digits and signs, without spaces")
            }
            key => Ok(Some(key)),
        }
    }
}

impl fmt::Debug for TypedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedKey(…)")
    }
}

/// A model server in the list of Settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerEntry {
    pub name: String,
    pub url: String,
    pub lane: Lane,
    pub parallel: u32,
    pub key: KeyState,
    pub origin: Origin,
    /// None for one that is not in use here; `unused` then says why.
    pub look: Option<Look>,
    pub unused: Option<String>,
    pub work: Work,
}

/// The tasks at a model server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    pub queued: u32,
    pub running: u32,
}

impl Work {
    /// What removing the server does to them. Empty when there are none.
    pub fn after_removal(&self) -> String {
        let mut words = Vec::new();
        if self.running > 0 {
            words.push(match self.running {
                1 => "One task is being worked on there and is finished first.".to_owned(),
                more => format!("{more} tasks are being worked on there and are finished first."),
            });
        }
        if self.queued > 0 {
            words.push(match self.queued {
                1 => "One task waits for it. It ends and says that the server is gone; repeat it with \
                      another model."
                    .to_owned(),
                more => format!(
                    "{more} tasks wait for it. They end and say that the server is gone; repeat them with \
                     another model."
                ),
            });
        }
        words.join(" ")
    }
}

/// What one section of Settings shows.
// A page holds one of them.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    Models(ModelSettings),
    Agents(AgentSettings),
    Projects(Vec<ProjectEntry>),
    Worktrees(WorktreeSettings),
    /// Known to the browser alone, as the next one is.
    Appearance,
    Notifications,
    Browsers(Vec<Browser>),
    Phone(Pairing),
    About(Vec<Fact>),
}

/// Everything about agents that Settings shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSettings {
    pub offers: Vec<Offer>,
    /// What keeps them inside here, in words.
    pub wall: String,
}

/// A project in the list of Settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectEntry {
    pub project: Project,
    pub setup: Setup,
}

/// The worktrees on this machine, the newest first, and what they take of the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeSettings {
    pub worktrees: Vec<WorktreeEntry>,
    /// In the trash, of nobody: left there by a server that was killed, or by another database.
    pub strays: Vec<Option<u64>>,
    /// What projects held when runs began, for what their reports cite.
    pub recordings: Recordings,
    pub budget: Budget,
}

/// How many there are of runs that are over, and what they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recordings {
    pub count: usize,
    pub bytes: u64,
}

/// How much of the disk worktrees may take before that is worth a warning, in gigabytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Budget(u32);

impl Default for Budget {
    fn default() -> Self {
        Self(20)
    }
}

impl Budget {
    const GB_MAX: u32 = 100_000;

    pub fn parse(typed: &str) -> Result<Self, Rejected> {
        match typed.trim().parse() {
            Ok(gb @ 1..=Self::GB_MAX) => Ok(Self(gb)),
            _ => Err(Rejected::Invalid(format!(
                "{:?} is no budget; allowed is a whole number of GB, 1 to {}.",
                typed.trim().chars().take(40).collect::<String>(),
                Self::GB_MAX
            ))),
        }
    }

    pub fn gb(self) -> u32 {
        self.0
    }

    pub fn bytes(self) -> u64 {
        u64::from(self.0) * 1_000_000_000
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeEntry {
    /// Whose it is: a Coder, or a battle.
    pub of: Wanted,
    pub title: String,
    pub project: String,
    pub state: State,
    /// Missing where it could not be measured.
    pub bytes: Option<u64>,
}

impl WorktreeSettings {
    pub fn bytes(&self) -> u64 {
        let owned = self.worktrees.iter().filter_map(|entry| entry.bytes);
        owned.chain(self.strays.iter().copied().flatten()).sum::<u64>() + self.recordings.bytes
    }

    /// What emptying the trash deletes.
    pub fn trashed(&self) -> usize {
        let owned = self.worktrees.iter().filter(|entry| entry.state == State::Discarded);
        owned.count() + self.strays.len()
    }

    /// Why the budget is worth a word, if it is.
    pub fn warning(&self) -> Option<String> {
        (self.bytes() > self.budget.bytes()).then(|| {
            format!(
                "Worktrees and recordings take {}, more than the {} GB that were set aside for them. Discard what is \
                 no longer needed, and empty the trash.",
                size(self.bytes()),
                self.budget.gb()
            )
        })
    }
}

/// `1.5 GB`, `20 MB`: what a disk shows.
pub fn size(bytes: u64) -> String {
    const MB: u64 = 1_000_000;
    match bytes {
        0..MB => format!("{} KB", bytes.div_ceil(1_000)),
        MB..1_000_000_000 => format!("{} MB", bytes / MB),
        _ => format!("{}.{} GB", bytes / 1_000_000_000, bytes / 100_000_000 % 10),
    }
}

/// Everything about models that Settings shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSettings {
    pub servers: Vec<ServerEntry>,
    pub default_model: DefaultModel,
    pub flows: FlowSettings,
    /// What was made of the last draft, for a page without scripts.
    pub checked: Option<Checked>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultModel {
    /// As it was set, `server/model` or `model`.
    pub set: Option<String>,
    pub origin: Origin,
    /// What is used now.
    pub used: Option<ModelRef>,
    /// What could be chosen.
    pub offered: Vec<ModelRef>,
}

/// Who works in flows where nobody says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowSettings {
    pub backend: FlowBackend,
    /// As the default model is shown.
    pub model: DefaultModel,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowBackend {
    /// What is used now.
    pub used: Backend,
    pub origin: Origin,
    /// What could be chosen.
    pub offered: Vec<Backend>,
}

/// A value that is shown and not changed here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub name: String,
    /// What it is for.
    pub help: String,
    pub value: String,
    pub origin: Option<Origin>,
}

/// `1 model`, `3 models`.
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

//! What there is to know of one agent. Another one is another value of [`Agent`].

use std::time::Duration;

use domain::{protocol::Protocol, tool::Kind};
use serde_json::{Map, Value};

pub type Texts = &'static [&'static str];
pub type Pairs = &'static [(&'static str, &'static str)];

/// One kind of agent, all of it data. Arguments, values of the environment and texts of files may hold
/// placeholders, which `template.rs` fills in.
pub struct Agent {
    pub name: &'static str,
    pub title: &'static str,
    /// Where it is installed from. None: its program is there already, and ours to use as it is.
    pub package: Option<Package>,
    /// Below the folder that it is installed in, or a whole path where it is not installed by us.
    pub program: &'static str,
    /// What else it reads and runs: whole paths of files and folders.
    pub places: Texts,
    pub arguments: Texts,
    pub environment: Pairs,
    /// Files that have to be in its home before it starts: the path below it, and the text.
    pub files: Pairs,
    /// What the wall has to leave open for it, besides its folders and the model server's port.
    pub needs: &'static [Need],
    /// How it asks its model.
    pub speaks: Protocol,
    pub account: Option<Account>,
    pub modes: Modes,
    /// What is allowed for good it notes in the folder that it works in, as if that were part of the work.
    pub notes_permits: bool,
    pub tokens: Tokens,
    /// A turn that ends well tells its tokens; one that does not was ended by an error.
    pub tokens_prove_success: bool,
    /// How its own words about an error of the model begin. It says them as if the model had.
    pub error_beginnings: Texts,
    /// Where an update tells that the turn fails, and by which word.
    pub error_mark: Option<(&'static str, &'static str)>,
    /// How its own words about itself begin, which are no answer.
    pub remark_beginnings: Texts,
    /// Where the name of the tool stands in what it sends along with a call.
    pub tool_name: &'static str,
    /// What its tools do, where it does not tell.
    pub kinds: &'static [(&'static str, Kind)],
    /// Where it sends the output of a call piece by piece, if not where the protocol has it.
    pub output_pieces: Option<&'static str>,
    /// How long it goes on writing its session down after a turn.
    pub settling: Duration,
}

/// A package of npm's registry, with everything that it needs pinned. None of them needs a script to be run.
pub struct Package {
    pub name: &'static str,
    pub version: &'static str,
    /// npm's lock file for it alone.
    pub lock: &'static str,
    /// The processors it is made for, as Rust names them; empty for all.
    pub processors: Texts,
}

/// How an agent works on a login of its own instead of a model server.
pub struct Account {
    /// The file below the person's home that holds the login. It may be written: tokens are renewed.
    pub login: &'static str,
    /// Whom it has to reach.
    pub hosts: Texts,
    /// In place of those above.
    pub arguments: Texts,
    pub environment: Pairs,
    pub files: Pairs,
    /// Names that it takes for models, besides the account's default.
    pub models: Texts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Its program is a script, and `node` has to be on its `PATH`.
    Node,
    /// `/dev/ptmx` and `/dev/pts`.
    Terminals,
    /// A port of its own, on which it talks to itself.
    Port,
}

/// How far an agent may go by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It asks before it changes anything.
    Ask,
    /// It changes files without asking. What it still asks, a person or a policy answers.
    Edit,
    /// It only reads. Whatever it asks is refused. No proof: only the wall is.
    ReadOnly,
}

/// The agent's own names of these; empty for one that it has not.
pub struct Modes {
    pub ask: &'static str,
    pub edit: &'static str,
    pub read_only: &'static str,
}

impl Modes {
    pub fn name(&self, mode: Mode) -> &'static str {
        match mode {
            Mode::Ask => self.ask,
            Mode::Edit => self.edit,
            Mode::ReadOnly => self.read_only,
        }
    }
}

/// Where an agent tells how many tokens it used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Call by call, beside the text; they add up.
    PerCall,
    /// At the end of the turn, of its last call alone.
    LastCall,
    /// At the end of the turn, of all its calls.
    Total,
    /// The same, but beside the protocol's own place.
    Quota,
    Untold,
}

/// What a usage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    Turn,
    LastCall,
}

impl Tokens {
    pub fn counted(self) -> Counted {
        match self {
            Self::PerCall | Self::Total | Self::Quota | Self::Untold => Counted::Turn,
            Self::LastCall => Counted::LastCall,
        }
    }
}

impl Agent {
    /// One that speaks the protocol and has nothing of its own to be told of. Others say what differs.
    pub const PLAIN: Self = Self {
        name: "",
        title: "",
        package: None,
        program: "",
        places: &[],
        arguments: &[],
        environment: &[],
        files: &[],
        needs: &[],
        speaks: Protocol::Chat,
        account: None,
        modes: Modes { ask: "", edit: "", read_only: "" },
        notes_permits: false,
        tokens: Tokens::Untold,
        tokens_prove_success: false,
        error_beginnings: &[],
        error_mark: None,
        remark_beginnings: &[],
        tool_name: "",
        kinds: &[],
        output_pieces: None,
        settling: Duration::ZERO,
    };

    pub fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }

    pub(crate) fn kind_of(&self, meta: Option<&Map<String, Value>>) -> Option<Kind> {
        let name = at(meta?, self.tool_name)?.as_str()?;
        self.kinds.iter().find(|(tool, _)| *tool == name).map(|(_, kind)| *kind)
    }
}

/// What stands at a place such as `/goose/toolCall`.
pub(crate) fn at<'a>(meta: &'a Map<String, Value>, place: &str) -> Option<&'a Value> {
    let mut names = place.strip_prefix('/')?.split('/');
    let first = meta.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
}

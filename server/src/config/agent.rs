//! Agents that were configured: programs that speak the Agent Client Protocol and that BooCode does not know.

use std::path::{Component, Path, PathBuf};

use acp::{Need, PLACEHOLDERS, Tokens, unknown_placeholder};
use domain::{backend::NATIVE, protocol::Protocol};

use super::layers::{Given, Value};
use super::table::{self, Reader, text, texts};
use super::values::path;

const KEYS: &[&str] = &[
    "name",
    "title",
    "command",
    "arguments",
    "environment",
    "files",
    "folders",
    "needs",
    "speaks",
    "modes",
    "tokens",
    "tokens_prove_success",
    "error_beginnings",
];
const MODES: &[&str] = &["ask", "edit", "read_only"];
/// These are chosen for every agent alike.
const OURS: [&str; 3] = ["HOME", "PATH", "TMPDIR"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredAgent {
    pub name: String,
    pub title: String,
    pub command: PathBuf,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    pub files: Vec<(String, String)>,
    /// What it reads and runs, besides its command.
    pub folders: Vec<PathBuf>,
    pub needs: Vec<Need>,
    pub speaks: Protocol,
    pub modes: ConfiguredModes,
    pub tokens: Tokens,
    pub tokens_prove_success: bool,
    pub error_beginnings: Vec<String>,
}

/// The agent's own names; one that has no such mode is not told to change into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfiguredModes {
    pub ask: Option<String>,
    pub edit: Option<String>,
    pub read_only: Option<String>,
}

pub(super) fn parse(
    given: &Given,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<ConfiguredAgent>, Vec<(String, String)>> {
    let Value::Tables(tables) = &given.value else {
        return Err(vec![("agent".to_owned(), "tables are allowed: [[agent]]".to_owned())]);
    };
    let place = |value: &toml::Value| path(text(value)?, &given.source, env);
    let (mut agents, mut problems) = (Vec::<ConfiguredAgent>::new(), Vec::new());
    for (index, table) in tables.iter().enumerate() {
        let setting = |key: &str| format!("agent[{}].{key}", index + 1);
        match from_table(table, &place) {
            Err(found) => problems.extend(found.into_iter().map(|(key, words)| (setting(&key), words))),
            Ok(agent) if agents.iter().any(|other| other.name == agent.name) => {
                problems.push((setting("name"), format!("\"{}\" is there twice", agent.name)));
            }
            Ok(agent) => agents.push(agent),
        }
    }
    if problems.is_empty() { Ok(agents) } else { Err(problems) }
}

fn from_table(
    table: &toml::Table,
    place: &dyn Fn(&toml::Value) -> Result<PathBuf, String>,
) -> Result<ConfiguredAgent, Vec<(String, String)>> {
    let mut reader = Reader::new(table, KEYS, |_| None);
    let name = reader.required("name", valid_name);
    let command = reader.required("command", place);
    let agent = ConfiguredAgent {
        title: reader.optional("title", |value| text(value).map(str::to_owned)).unwrap_or_default(),
        arguments: reader.optional("arguments", |value| templates(texts(value)?)).unwrap_or_default(),
        environment: reader.optional("environment", |value| pairs(value, variable)).unwrap_or_default(),
        files: reader.optional("files", |value| pairs(value, file)).unwrap_or_default(),
        folders: reader.optional("folders", |value| folders(value, place)).unwrap_or_default(),
        needs: reader.optional("needs", needs).unwrap_or_default(),
        speaks: reader.optional("speaks", speaks).unwrap_or_default(),
        modes: reader.optional("modes", modes).unwrap_or_default(),
        tokens: reader.optional("tokens", tokens).unwrap_or(Tokens::Untold),
        tokens_prove_success: reader.optional("tokens_prove_success", truth).unwrap_or_default(),
        error_beginnings: reader.optional("error_beginnings", texts).unwrap_or_default(),
        name: name.unwrap_or_default(),
        command: command.unwrap_or_default(),
    };
    if agent.tokens_prove_success && agent.tokens == Tokens::Untold {
        reader.problem("tokens_prove_success", "this needs `tokens`, which says where they are told");
    }
    match reader.problems.is_empty() {
        true if agent.title.is_empty() => Ok(ConfiguredAgent { title: agent.name.clone(), ..agent }),
        true => Ok(agent),
        false => Err(reader.problems),
    }
}

fn valid_name(value: &toml::Value) -> Result<String, String> {
    let name = table::name(value)?;
    match name == NATIVE || acp::agents::ALL.iter().any(|agent| agent.name == name) {
        true => Err(format!("\"{name}\" is an agent that BooCode knows; choose another name")),
        false => Ok(name),
    }
}

fn templates(texts: Vec<String>) -> Result<Vec<String>, String> {
    texts.into_iter().map(template).collect()
}

fn template(text: String) -> Result<String, String> {
    match unknown_placeholder(&text) {
        None => Ok(text),
        Some(unknown) => {
            let known = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(", ");
            Err(format!("there is no placeholder {{{unknown}}}; there are {known}, and {{json:…}} of each"))
        }
    }
}

/// A table of texts, each checked by its name.
fn pairs(
    value: &toml::Value,
    check: impl Fn(&str) -> Result<(), String>,
) -> Result<Vec<(String, String)>, String> {
    let table = value.as_table().ok_or_else(|| format!("a table is allowed, not a {}", value.type_str()))?;
    let pair = |(name, value): (&String, &toml::Value)| {
        check(name)?;
        let said = text(value).and_then(|text| template(text.to_owned()));
        said.map(|text| (name.clone(), text)).map_err(|words| format!("\"{name}\": {words}"))
    };
    table.iter().map(pair).collect()
}

fn variable(name: &str) -> Result<(), String> {
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.contains('=');
    if !is_name {
        return Err(format!("\"{name}\" is not the name of a variable"));
    }
    // The helper that puts up the wall has them too, before there is any.
    if OURS.contains(&name) || name.starts_with("LD_") || name == "GLIBC_TUNABLES" {
        return Err(format!("{name} is not an agent's to set"));
    }
    Ok(())
}

fn file(name: &str) -> Result<(), String> {
    let plain = |part: Component| matches!(part, Component::Normal(_));
    match !name.is_empty() && Path::new(name).components().all(plain) && !name.ends_with('/') {
        true => Ok(()),
        false => Err(format!("\"{name}\" is not a path below the agent's home, such as .config/agent.json")),
    }
}

fn folders(
    value: &toml::Value,
    place: &dyn Fn(&toml::Value) -> Result<PathBuf, String>,
) -> Result<Vec<PathBuf>, String> {
    let all = value.as_array().ok_or_else(|| format!("a list is allowed, not a {}", value.type_str()))?;
    all.iter().map(place).collect()
}

fn needs(value: &toml::Value) -> Result<Vec<Need>, String> {
    let need = |word: &String| match word.as_str() {
        "node" => Ok(Need::Node),
        "terminals" => Ok(Need::Terminals),
        "port" => Ok(Need::Port),
        other => Err(format!("\"{other}\" is no need; allowed are \"node\", \"terminals\" and \"port\"")),
    };
    texts(value)?.iter().map(need).collect()
}

fn speaks(value: &toml::Value) -> Result<Protocol, String> {
    match text(value)? {
        "chat" => Ok(Protocol::Chat),
        word => Protocol::other(word),
    }
}

fn modes(value: &toml::Value) -> Result<ConfiguredModes, String> {
    let table = value.as_table().ok_or_else(|| format!("a table is allowed, not a {}", value.type_str()))?;
    let mut reader = Reader::new(table, MODES, |_| None);
    let mut mode = |key: &str| reader.optional(key, |value| text(value).map(str::to_owned));
    let modes = ConfiguredModes { ask: mode("ask"), edit: mode("edit"), read_only: mode("read_only") };
    match reader.problems.first() {
        None => Ok(modes),
        Some((key, words)) => Err(format!("\"{key}\": {words}")),
    }
}

fn tokens(value: &toml::Value) -> Result<Tokens, String> {
    match text(value)? {
        "per_call" => Ok(Tokens::PerCall),
        "last_call" => Ok(Tokens::LastCall),
        "total" => Ok(Tokens::Total),
        other => Err(format!(
            "\"{other}\" is not a way to tell tokens; allowed are \"per_call\", \"last_call\" and \"total\""
        )),
    }
}

fn truth(value: &toml::Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("true or false is allowed, not a {}", value.type_str()))
}

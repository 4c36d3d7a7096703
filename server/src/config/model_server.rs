//! The model servers that were configured.

use domain::{catalogue::Lane, protocol::Protocol, settings::Draft};

use super::layers::{Given, Value, is_own_variable};
use super::table::{self, Reader, text, texts};
use crate::{models::Address, secret::Secret};

/// The server that BooCode runs itself has this name, so no other may.
pub const SMALL_MODEL_SERVER: &str = "small";

const KEYS: &[&str] = &["name", "url", "lane", "api_key_env", "parallel", "models", "speaks"];
const PARALLEL_DEFAULT: u32 = 4;
const PARALLEL_MAX: u32 = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredServer {
    pub name: String,
    pub address: Address,
    pub lane: Lane,
    pub key: Key,
    /// How many tasks may run there at once.
    pub parallel: u32,
    /// What it serves, where it cannot list that itself.
    pub models: Vec<String>,
    /// Besides chat completions. None: it is asked, where it is of a kind that can be.
    pub speaks: Option<Vec<Protocol>>,
}

/// Keys come from the environment, or were entered in Settings. One that is not here is no reason not to start: the
/// catalogue says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    None,
    Missing {
        variable: String,
    },
    Set {
        variable: String,
        value: Secret,
    },
    /// Entered in Settings.
    Kept {
        value: Secret,
    },
    /// Entered in Settings on another host, which alone can open it.
    Elsewhere,
    /// Entered here, and no longer to be opened: the secret of this host is another one now.
    Unreadable,
}

impl Key {
    pub fn value(&self) -> Option<&Secret> {
        match self {
            Self::Set { value, .. } | Self::Kept { value } => Some(value),
            Self::None | Self::Missing { .. } | Self::Elsewhere | Self::Unreadable => None,
        }
    }

    /// Why a server that wants one cannot be asked.
    pub fn hindrance(&self) -> Option<String> {
        match self {
            Self::None | Self::Set { .. } | Self::Kept { .. } => None,
            Self::Missing { variable } => Some(format!("{variable} is not set")),
            Self::Elsewhere => Some(
                "its key was entered on another machine, which keeps it to itself; enter it here too, under \
                 Settings, Models"
                    .to_owned(),
            ),
            Self::Unreadable => {
                Some("its key can no longer be read here; enter it again, under Settings, Models".to_owned())
            }
        }
    }
}

/// Said where a key would leave the machine in the clear.
pub const UNENCRYPTED: &str =
    "a key would travel unencrypted; allowed is https, or http within a private network";

/// Every problem is a pair of the setting's name and what is wrong with it.
pub(super) fn parse(
    given: &Given,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<ConfiguredServer>, Vec<(String, String)>> {
    let drafts: Vec<_> = match &given.value {
        Value::Tables(tables) => tables.iter().map(|table| from_table(table, env)).collect(),
        Value::One(text) => vec![from_text(text)],
        Value::Many(texts) => texts.iter().map(|text| from_text(text)).collect(),
    };
    let mut servers: Vec<ConfiguredServer> = Vec::new();
    let mut problems = Vec::new();
    for (index, draft) in drafts.into_iter().enumerate() {
        let setting = |key: &str| match key {
            "" => format!("model_server[{}]", index + 1),
            key => format!("model_server[{}].{key}", index + 1),
        };
        match draft {
            Err(found) => problems.extend(found.into_iter().map(|(key, text)| (setting(&key), text))),
            Ok(server) => {
                if servers.iter().any(|other| other.name == server.name) {
                    problems.push((setting("name"), format!("\"{}\" is there twice", server.name)));
                }
                if let Some(other) =
                    servers.iter().find(|other| other.address.is_same_server(&server.address))
                {
                    problems.push((setting("url"), format!("this is the server \"{}\" again", other.name)));
                }
                servers.push(server);
            }
        }
    }
    if problems.is_empty() { Ok(servers) } else { Err(problems) }
}

/// A server as a form has it: all texts, empty where nothing was typed. The same rules as for the file.
pub fn from_draft(draft: &Draft, env: &dyn Fn(&str) -> Option<String>) -> Parsed {
    let Draft { name, url, lane, parallel, api_key_env, models, speaks } = draft;
    let mut table = toml::Table::new();
    for (key, text) in [("name", name), ("url", url), ("lane", lane), ("api_key_env", api_key_env)] {
        if !text.trim().is_empty() {
            table.insert(key.into(), text.trim().into());
        }
    }
    if !parallel.trim().is_empty() {
        let number = parallel.trim().parse::<i64>().map(toml::Value::Integer);
        table.insert("parallel".into(), number.unwrap_or_else(|_| parallel.trim().into()));
    }
    for (key, list) in [("models", models), ("speaks", speaks)] {
        let list: Vec<_> =
            list.split([',', '\n', '\r']).map(str::trim).filter(|one| !one.is_empty()).collect();
        if !list.is_empty() {
            table.insert(key.into(), list.into());
        }
    }
    from_table(&table, env)
}

/// Every problem is a pair of the key and what is wrong with it.
type Parsed = Result<ConfiguredServer, Vec<(String, String)>>;

/// `name=url`, as flags and the environment have it.
fn from_text(text: &str) -> Parsed {
    let Some((name, url)) = text.split_once('=') else {
        return Err(vec![(String::new(), format!("\"{text}\" is not a model server; allowed is NAME=URL"))]);
    };
    let table =
        toml::Table::from_iter([("name", name), ("url", url)].map(|(key, value)| (key.into(), value.into())));
    from_table(&table, &|_| None)
}

fn from_table(table: &toml::Table, env: &dyn Fn(&str) -> Option<String>) -> Parsed {
    let mut reader = Reader::new(table, KEYS, key_hint);
    let name = reader.required("name", valid_name);
    let address = reader.required("url", |value| Address::parse(text(value)?));
    let lane = reader.optional("lane", |value| match text(value)? {
        "local" => Ok(Lane::Local),
        "cloud" => Ok(Lane::Cloud),
        other => Err(format!("\"{other}\" is not a lane; allowed are \"local\" and \"cloud\"")),
    });
    let variable = reader.optional("api_key_env", |value| match text(value)? {
        // It would be sent to the address.
        name if is_own_variable(name) => Err(format!("{name} is a setting of BooCode's own, not a key")),
        name if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            Ok(name.to_owned())
        }
        // Whatever was written may be the key itself, so it is not repeated.
        _ => Err("this is not the name of a variable; allowed are letters, digits and _".into()),
    });
    let parallel = reader.optional("parallel", |value| match value.as_integer() {
        Some(number) if (1..=i64::from(PARALLEL_MAX)).contains(&number) => Ok(number as u32),
        _ => Err(format!("{value} is not allowed; allowed is 1 to {PARALLEL_MAX}")),
    });
    let models = reader.optional("models", |value| match texts(value) {
        Ok(texts) if texts.iter().all(|text| !text.is_empty()) => Ok(texts),
        _ => Err("a list of model names is allowed".to_owned()),
    });
    let speaks = reader.optional("speaks", |value| {
        texts(value)?.iter().map(|word| Protocol::other(word)).collect::<Result<Vec<_>, _>>()
    });
    let lane = lane.or_else(|| address.as_ref().map(|address| Lane::of_host(address.host())));
    if lane == Some(Lane::Local) && parallel.is_some_and(|parallel| parallel > 1) {
        reader.problem("parallel", "a local server has one model loaded, so it takes one task at a time");
    }
    if let (Some(address), Some(_)) = (&address, &variable)
        && !address.may_carry_a_key()
    {
        reader.problem("url", UNENCRYPTED);
    }
    let key = match variable {
        None => Key::None,
        Some(variable) => match env(&variable).filter(|value| !value.is_empty()) {
            Some(value) => Key::Set { variable, value: Secret::new(value.trim()) },
            None => Key::Missing { variable },
        },
    };
    match (name, address, lane) {
        (Some(name), Some(address), Some(lane)) if reader.problems.is_empty() => Ok(ConfiguredServer {
            name,
            address,
            lane,
            key,
            parallel: if lane == Lane::Local { 1 } else { parallel.unwrap_or(PARALLEL_DEFAULT) },
            models: models.unwrap_or_default(),
            speaks,
        }),
        _ => Err(reader.problems),
    }
}

fn valid_name(value: &toml::Value) -> Result<String, String> {
    let name = table::name(value)?;
    match name == SMALL_MODEL_SERVER {
        true => Err(format!("\"{name}\" is the name of the built-in small model; choose another")),
        false => Ok(name),
    }
}

/// A key in the file would be in every copy of it.
fn key_hint(key: &str) -> Option<&'static str> {
    matches!(key, "api_key" | "key" | "token").then_some(
        "a key does not belong in a file; put it into the environment and name the variable in `api_key_env`",
    )
}

//! Who said what: the settings that exist, and for each the value of the source that goes first.

use std::{fmt, path::PathBuf};

use domain::settings::Origin;

use super::{Problem, ServeArgs};

/// Ordered by precedence: of two sources the greater one wins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Default,
    File(PathBuf),
    Environment(&'static str),
    Flag(&'static str),
}

impl From<&Source> for Origin {
    fn from(source: &Source) -> Self {
        match source {
            Source::Default => Self::Default,
            Source::File(path) => Self::File(path.display().to_string()),
            Source::Environment(name) => Self::Environment((*name).to_owned()),
            Source::Flag(name) => Self::Flag((*name).to_owned()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("the default"),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Environment(name) => write!(f, "the environment variable {name}"),
            Source::Flag(name) => write!(f, "the flag {name}"),
        }
    }
}

/// One setting under its three names. A list in the environment is split at the separator.
struct Setting {
    key: &'static str,
    flag: &'static str,
    env: &'static str,
    separator: Option<char>,
}

const fn one(key: &'static str, flag: &'static str, env: &'static str) -> Setting {
    Setting { key, flag, env, separator: None }
}

const fn list(key: &'static str, flag: &'static str, env: &'static str, separator: char) -> Setting {
    Setting { key, flag, env, separator: Some(separator) }
}

const SETTINGS: &[Setting] = &[
    one("listen", "--listen", "BOOCODE_LISTEN"),
    one("port", "--port", "BOOCODE_PORT"),
    one("data_dir", "--data-dir", "BOOCODE_DATA_DIR"),
    one("database_url", "", "DATABASE_URL"),
    one("pg_bin_dir", "--pg-bin-dir", "PG_BIN_DIR"),
    one("default_model", "--default-model", "DEFAULT_MODEL"),
    one("flow_backend", "--flow-backend", "FLOW_BACKEND"),
    one("flow_model", "--flow-model", "FLOW_MODEL"),
    list("allowed_roots", "--allowed-root", "BOOCODE_ALLOWED_ROOTS", ':'),
    one("public_url", "--public-url", "BOOCODE_PUBLIC_URL"),
    list("trusted_proxies", "--trusted-proxy", "BOOCODE_TRUSTED_PROXIES", ','),
    one("web_search_url", "--web-search-url", "BOOCODE_WEB_SEARCH_URL"),
    one("log_format", "--log-format", "BOOCODE_LOG_FORMAT"),
    one("small_model", "--no-model", "BOOCODE_SMALL_MODEL"),
    one("small_model_python", "--small-model-python", "BOOCODE_SMALL_MODEL_PYTHON"),
    one("discover", "--no-discover", "BOOCODE_DISCOVER"),
    list("model_server", "--model-server", "BOOCODE_MODEL_SERVERS", ','),
    // An agent is a table, which only the file can hold.
    list("agent", "", "", ','),
];

/// Whether a variable is one of BooCode's own: those hold settings and secrets of the server.
pub(super) fn is_own_variable(name: &str) -> bool {
    name.starts_with("BOOCODE_") || SETTINGS.iter().any(|setting| setting.env == name)
}

/// What a source said about one setting.
#[derive(Clone, Debug)]
pub(super) enum Value {
    One(String),
    Many(Vec<String>),
    Tables(Vec<toml::Table>),
}

#[derive(Clone, Debug)]
pub(super) struct Given {
    pub value: Value,
    pub source: Source,
}

impl Given {
    pub fn one(&self) -> Result<&str, String> {
        match &self.value {
            Value::One(text) => Ok(text),
            _ => Err("one value is allowed, not a list".into()),
        }
    }

    /// A single value stands for a list of one.
    pub fn many(&self) -> Result<&[String], String> {
        match &self.value {
            Value::One(text) => Ok(std::slice::from_ref(text)),
            Value::Many(texts) => Ok(texts),
            Value::Tables(_) => Err("a list of texts is allowed, not tables".into()),
        }
    }
}

pub(super) struct Layers<'a> {
    pub args: &'a ServeArgs,
    pub env: &'a dyn Fn(&str) -> Option<String>,
    pub file: Option<(PathBuf, toml::Table)>,
}

impl Layers<'_> {
    /// What the highest source says about a setting. An empty variable counts as not set.
    pub fn given(&self, key: &str) -> Result<Option<Given>, Problem> {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
            return Ok(None);
        };
        let many = |values: Vec<String>| match (setting.separator, values.as_slice()) {
            (None, [value]) => Value::One(value.clone()),
            _ => Value::Many(values),
        };
        if let Some(values) = self.args.values(key) {
            return Ok(Some(Given { value: many(values), source: Source::Flag(setting.flag) }));
        }
        let variable = Some(setting.env).filter(|name| !name.is_empty());
        if let Some(text) = variable.and_then(|name| (self.env)(name)).filter(|text| !text.is_empty()) {
            let values = match setting.separator {
                Some(separator) => {
                    text.split(separator).filter(|part| !part.is_empty()).map(String::from).collect()
                }
                None => vec![text],
            };
            return Ok(Some(Given { value: many(values), source: Source::Environment(setting.env) }));
        }
        let Some((path, table)) = &self.file else {
            return Ok(None);
        };
        let Some(value) = table.get(key) else {
            return Ok(None);
        };
        let source = Source::File(path.clone());
        match from_toml(value) {
            Ok(value) => Ok(Some(Given { value, source })),
            Err(message) => Err(Problem { setting: key.into(), source, message }),
        }
    }

    /// Keys of the settings file that mean nothing: a misspelt setting would otherwise be ignored in silence.
    pub fn unknown_keys(&self) -> Vec<Problem> {
        let Some((path, table)) = &self.file else {
            return Vec::new();
        };
        let known: Vec<_> = SETTINGS.iter().map(|setting| setting.key).collect();
        let unknown = table.keys().filter(|key| !known.contains(&key.as_str()));
        unknown
            .map(|key| Problem {
                setting: key.clone(),
                source: Source::File(path.clone()),
                message: no_such_setting(key, &known),
            })
            .collect()
    }
}

/// Says that a key is unknown and which one was probably meant, or all there are.
pub(super) fn no_such_setting(key: &str, known: &[&str]) -> String {
    let close = |known: &&&str| strsim::jaro_winkler(key, known) > 0.8;
    let nearest = known
        .iter()
        .filter(close)
        .max_by(|a, b| strsim::jaro_winkler(key, a).total_cmp(&strsim::jaro_winkler(key, b)));
    match nearest {
        Some(nearest) => format!("there is no such setting; did you mean `{nearest}`?"),
        None => format!("there is no such setting; allowed are {}", known.join(", ")),
    }
}

fn from_toml(value: &toml::Value) -> Result<Value, String> {
    use toml::Value as Toml;
    let text = |value: &Toml| match value {
        Toml::String(text) => Some(text.clone()),
        Toml::Integer(number) => Some(number.to_string()),
        Toml::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    };
    let table = |value: &Toml| value.as_table().cloned();
    if let Some(text) = text(value) {
        return Ok(Value::One(text));
    }
    if let Toml::Array(values) = value {
        if let Some(texts) = values.iter().map(text).collect() {
            return Ok(Value::Many(texts));
        }
        if let Some(tables) = values.iter().map(table).collect() {
            return Ok(Value::Tables(tables));
        }
    }
    Err(format!("a {} is not allowed here", value.type_str()))
}

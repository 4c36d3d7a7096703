//! The settings of the server: flags go before the environment, the environment before `boocode.toml`, that
//! before the defaults. One validation serves all of them and reports every problem at once.

mod agent;
mod args;
mod database_url;
mod file;
mod layers;
mod model_server;
mod table;
mod values;

use std::{
    collections::BTreeMap,
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

pub use agent::ConfiguredAgent;
pub use args::ServeArgs;
pub use database_url::DatabaseUrl;
pub use file::read_file;
pub use layers::Source;
pub use model_server::{ConfiguredServer, Key, SMALL_MODEL_SERVER, UNENCRYPTED, from_draft};

use crate::tools;
use layers::{Given, Layers};
use values::{addresses, listen_address, origin, path, root, search_address};

const PORT_DEFAULT: u16 = 4400;
/// Its read-only mode held, and it works with a local model.
const FLOW_BACKEND: &str = "qwen";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub listen: SocketAddr,
    /// The origin that the browser shows when a proxy stands in front.
    pub public_url: Option<String>,
    /// Who may say for whom a request comes.
    pub trusted_proxies: Vec<IpAddr>,
    pub data_dir: PathBuf,
    /// A Postgres of the user's; without it the server runs its own.
    pub database_url: Option<DatabaseUrl>,
    pub pg_bin_dir: Option<PathBuf>,
    /// `model` or `server/model`, as the catalogue resolves it.
    pub default_model: Option<String>,
    /// Who works in flows, by name.
    pub flow_backend: String,
    /// The model of flows, as `default_model`; without it the catalogue chooses.
    pub flow_model: Option<String>,
    /// A project's folder lies in one of these.
    pub allowed_roots: Vec<PathBuf>,
    /// Where our own agent searches the web, with `{query}` in it.
    pub web_search_url: Option<String>,
    pub log_format: LogFormat,
    pub small_model: bool,
    pub small_model_python: Option<PathBuf>,
    /// Whether to look for model servers on loopback.
    pub discover: bool,
    pub model_servers: Vec<ConfiguredServer>,
    /// Agents besides those that are known.
    pub agents: Vec<ConfiguredAgent>,
    /// Who said what is not a default.
    pub sources: BTreeMap<String, Source>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// One thing that is wrong with the settings: which, who said it, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub setting: String,
    pub source: Source,
    pub message: String,
}

// By hand: a derive would take the field `source` for the error behind this one.
impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` from {}: {}", self.setting, self.source, self.message)
    }
}

impl Config {
    pub fn load(
        args: ServeArgs,
        env: impl Fn(&str) -> Option<String>,
        toml_text: Option<(PathBuf, String)>,
    ) -> Result<Config, Vec<Problem>> {
        let mut problems = Vec::new();
        let file = toml_text.and_then(|(path, text)| match text.parse::<toml::Table>() {
            Ok(table) => Some((path, table)),
            Err(error) => {
                let message = error.to_string().trim_end().to_owned();
                problems.push(Problem { setting: "config".into(), source: Source::File(path), message });
                None
            }
        });
        let layers = Layers { args: &args, env: &env, file };
        problems.extend(layers.unknown_keys());
        let mut reader = Reader { layers, problems, sources: BTreeMap::new() };

        let listen = reader.listen();
        let public_url = reader.read("public_url", |given| origin(given.one()?)).map(|(url, _)| url);
        let trusted_proxies =
            reader.read("trusted_proxies", addresses).map(|(all, _)| all).unwrap_or_default();
        reader.check_exposure(&listen, public_url.as_deref(), &trusted_proxies);
        let data_dir = reader.data_dir();
        let spare_password = env("PGPASSWORD");
        let database_url =
            reader.read("database_url", |given| DatabaseUrl::parse(given.one()?, spare_password));
        let allowed_roots = reader.allowed_roots();
        let log_format = reader.read("log_format", |given| match given.one()? {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            other => Err(format!("\"{other}\" is not a log format; allowed are \"text\" and \"json\"")),
        });
        let model = |given: &Given| match given.one()?.trim() {
            "" => Err("this is empty; allowed is MODEL or SERVER/MODEL".into()),
            model => Ok(model.to_owned()),
        };
        let default_model = reader.read("default_model", model);
        let flow_model = reader.read("flow_model", model);
        let flow_backend = reader.read("flow_backend", |given| match given.one()?.trim() {
            "" => Err("this is empty; allowed is the name of an agent, such as qwen or native".into()),
            backend => Ok(backend.to_owned()),
        });
        let web_search_url = reader.read("web_search_url", |given| search_address(given.one()?.trim()));
        let config = Config {
            listen: listen.0,
            public_url,
            trusted_proxies,
            data_dir,
            database_url: database_url.map(|(url, _)| url),
            pg_bin_dir: reader.path("pg_bin_dir"),
            default_model: default_model.map(|(model, _)| model),
            flow_backend: flow_backend.map_or_else(|| FLOW_BACKEND.to_owned(), |(backend, _)| backend),
            flow_model: flow_model.map(|(model, _)| model),
            allowed_roots,
            web_search_url: web_search_url.map(|(url, _)| url),
            log_format: log_format.map_or(LogFormat::Text, |(format, _)| format),
            small_model: reader.switch("small_model"),
            small_model_python: reader
                .path("small_model_python")
                .or_else(|| tools::small_model_python(&tools::dir(&env)?)),
            discover: reader.switch("discover"),
            model_servers: reader.tables("model_server", |given| model_server::parse(given, &env)),
            agents: reader.tables("agent", |given| agent::parse(given, &env)),
            sources: reader.sources,
        };
        if reader.problems.is_empty() { Ok(config) } else { Err(reader.problems) }
    }

    /// Who said what holds for a setting.
    pub fn source(&self, key: &str) -> &Source {
        self.sources.get(key).unwrap_or(&Source::Default)
    }
}

struct Reader<'a> {
    layers: Layers<'a>,
    problems: Vec<Problem>,
    sources: BTreeMap<String, Source>,
}

impl Reader<'_> {
    /// The parsed value with its source. A problem is noted, and the setting counts as not given.
    fn read<T>(&mut self, key: &str, parse: impl FnOnce(&Given) -> Result<T, String>) -> Option<(T, Source)> {
        let given = match self.layers.given(key) {
            Ok(given) => given?,
            Err(problem) => {
                self.problems.push(problem);
                return None;
            }
        };
        match parse(&given) {
            Ok(value) => {
                self.sources.insert(key.to_owned(), given.source.clone());
                Some((value, given.source))
            }
            Err(message) => {
                self.problem(key, given.source, message);
                None
            }
        }
    }

    fn problem(&mut self, setting: &str, source: Source, message: impl Into<String>) {
        self.problems.push(Problem { setting: setting.into(), source, message: message.into() });
    }

    /// `listen` may hold a port and `port` is one: the higher source wins, and one source must not disagree
    /// with itself.
    fn listen(&mut self) -> (SocketAddr, Source) {
        let listen = self.read("listen", |given| listen_address(given.one()?));
        let port = self.read("port", |given| {
            let text = given.one()?;
            text.parse::<u16>().map_err(|_| format!("\"{text}\" is not a port; allowed is 0 to 65535"))
        });
        let ((ip, own_port), source) =
            listen.unwrap_or(((IpAddr::V4(Ipv4Addr::LOCALHOST), None), Source::Default));
        let port = match (own_port, port) {
            (Some(own), Some((port, from))) if own != port && rank(&from) == rank(&source) => {
                self.problem(
                    "port",
                    from,
                    format!("{port} contradicts `listen`, which says {own}; give one of them"),
                );
                port
            }
            (Some(own), Some((_, from))) if rank(&from) < rank(&source) => own,
            (_, Some((port, _))) => port,
            (Some(own), None) => own,
            (None, None) => PORT_DEFAULT,
        };
        (SocketAddr::new(ip, port), source)
    }

    /// Whoever reaches the server over a network must come through TLS.
    fn check_exposure(
        &mut self,
        listen: &(SocketAddr, Source),
        public_url: Option<&str>,
        proxies: &[IpAddr],
    ) {
        let (address, source) = listen;
        if address.ip().is_loopback() {
            return;
        }
        let encrypted = public_url.is_some_and(|url| url.starts_with("https://"));
        if !encrypted || proxies.is_empty() {
            let message = format!(
                "{} is reachable from outside this machine; allowed is a loopback address such as 127.0.0.1, or \
                 any address behind a proxy that ends TLS: then set `public_url` (https) and `trusted_proxies`",
                address.ip()
            );
            self.problem("listen", source.clone(), message);
        }
    }

    fn data_dir(&mut self) -> PathBuf {
        let before = self.problems.len();
        if let Some(path) = self.path("data_dir") {
            return path;
        }
        // The XDG specification says to ignore a relative path.
        let set = |name: &str| (self.layers.env)(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let default = match (set("XDG_DATA_HOME"), set("HOME")) {
            (Some(data), _) => data.join("boocode"),
            // Postgres refuses to run as root, and whoever it runs as cannot enter root's home.
            (None, Some(home)) if home == Path::new("/root") => PathBuf::from("/var/lib/boocode"),
            (None, Some(home)) => home.join(".local/share/boocode"),
            (None, None) => PathBuf::new(),
        };
        if default == Path::new("") && self.problems.len() == before {
            self.problem("data_dir", Source::Default, "HOME is not set to a folder; give --data-dir");
        }
        default
    }

    fn allowed_roots(&mut self) -> Vec<PathBuf> {
        let env = self.layers.env;
        let parse =
            |given: &Given| given.many()?.iter().map(|text| root(path(text, &given.source, env)?)).collect();
        match self.read("allowed_roots", parse) {
            Some((roots, _)) => roots,
            None => {
                let home = env("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
                // A server started in / would otherwise allow everything without being told to.
                let current = std::env::current_dir().ok().filter(|folder| folder.parent().is_some());
                // Nobody named these, so one that is not there is nobody's mistake.
                let mut roots: Vec<_> =
                    home.into_iter().chain(current).filter(|folder| folder.is_dir()).collect();
                roots.dedup();
                roots
            }
        }
    }

    fn path(&mut self, key: &str) -> Option<PathBuf> {
        let env = self.layers.env;
        self.read(key, |given| path(given.one()?, &given.source, env)).map(|(path, _)| path)
    }

    fn switch(&mut self, key: &str) -> bool {
        let read = self.read(key, |given| match given.one()? {
            "true" | "1" | "on" | "yes" => Ok(true),
            "false" | "0" | "off" | "no" => Ok(false),
            other => Err(format!("\"{other}\" is neither on nor off; allowed are true and false")),
        });
        read.is_none_or(|(on, _)| on)
    }

    /// A list of tables. Each of their problems has the name of its own setting.
    fn tables<T>(&mut self, key: &str, parse: impl FnOnce(&Given) -> Result<Vec<T>, Found>) -> Vec<T> {
        let mut found = Vec::new();
        let read = self.read(key, |given| {
            Ok(parse(given).unwrap_or_else(|problems| {
                let problem = |(setting, message)| Problem { setting, source: given.source.clone(), message };
                found.extend(problems.into_iter().map(problem));
                Vec::new()
            }))
        });
        self.problems.extend(found);
        read.map(|(all, _)| all).unwrap_or_default()
    }
}

/// Settings, each with what is wrong with it.
type Found = Vec<(String, String)>;

/// Which source goes first, whatever its details.
fn rank(source: &Source) -> u8 {
    match source {
        Source::Default => 0,
        Source::File(_) => 1,
        Source::Environment(_) => 2,
        Source::Flag(_) => 3,
    }
}

#[cfg(test)]
mod tests;

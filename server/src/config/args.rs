//! The flags of `boocode serve`. All of them are text here: one validation serves every source alike.

use std::path::PathBuf;

use clap::{ArgAction, Args};

/// The database URL has no flag: it holds a password, and every user of the machine can read our arguments.
#[derive(Args, Clone, Debug, Default)]
pub struct ServeArgs {
    /// The settings file [default: boocode/boocode.toml in the user's configuration directory]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where to listen [default: 127.0.0.1:4400]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// The port to listen on; 0 takes any free one
    #[arg(long)]
    pub port: Option<String>,
    /// Where BooCode keeps its database, worktrees and secrets
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// Where initdb and postgres are
    #[arg(long, value_name = "DIR")]
    pub pg_bin_dir: Option<String>,
    /// The model for chats, titles and analysis, as MODEL or SERVER/MODEL
    #[arg(long, value_name = "MODEL")]
    pub default_model: Option<String>,
    /// Who works in flows: qwen, native or another agent [default: qwen]
    #[arg(long, value_name = "AGENT")]
    pub flow_backend: Option<String>,
    /// The model of flows, as MODEL or SERVER/MODEL
    /// [default: qwen3.6-35b-a3b-mxfp4 where it is served, else a local one, else the default model]
    #[arg(long, value_name = "MODEL")]
    pub flow_model: Option<String>,
    /// A folder in which projects may lie; may be repeated
    #[arg(long = "allowed-root", value_name = "DIR")]
    pub allowed_roots: Vec<String>,
    /// The address in the browser when a proxy stands in front
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// The address of a proxy that ends TLS in front; may be repeated
    #[arg(long = "trusted-proxy", value_name = "IP")]
    pub trusted_proxies: Vec<String>,
    /// Where BooCode's own agent searches the web: a SearXNG that answers in JSON, with {query} in the address
    /// [default: none]
    #[arg(long, value_name = "URL")]
    pub web_search_url: Option<String>,
    /// text or json
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Never run the small built-in model
    #[arg(long, action = ArgAction::SetTrue)]
    pub no_model: bool,
    /// The Python that has the small model installed
    #[arg(long, value_name = "FILE")]
    pub small_model_python: Option<String>,
    /// Do not look for model servers on this machine
    #[arg(long, action = ArgAction::SetTrue)]
    pub no_discover: bool,
    /// A model server; may be repeated
    #[arg(long = "model-server", value_name = "NAME=URL")]
    pub model_servers: Vec<String>,
}

impl ServeArgs {
    /// What the flag of a setting says, in the words of the settings table.
    pub(super) fn values(&self, key: &str) -> Option<Vec<String>> {
        let one = |value: &Option<String>| value.clone().map(|value| vec![value]);
        let many = |values: &[String]| (!values.is_empty()).then(|| values.to_vec());
        let off = |set: bool| set.then(|| vec!["false".to_owned()]);
        match key {
            "listen" => one(&self.listen),
            "port" => one(&self.port),
            "data_dir" => one(&self.data_dir),
            "pg_bin_dir" => one(&self.pg_bin_dir),
            "default_model" => one(&self.default_model),
            "flow_backend" => one(&self.flow_backend),
            "flow_model" => one(&self.flow_model),
            "allowed_roots" => many(&self.allowed_roots),
            "public_url" => one(&self.public_url),
            "trusted_proxies" => many(&self.trusted_proxies),
            "web_search_url" => one(&self.web_search_url),
            "log_format" => one(&self.log_format),
            "small_model" => off(self.no_model),
            "small_model_python" => one(&self.small_model_python),
            "discover" => off(self.no_discover),
            "model_server" => many(&self.model_servers),
            _ => None,
        }
    }
}

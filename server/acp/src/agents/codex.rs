//! Codex, by the adapter that speaks the protocol for it.

use domain::protocol::Protocol;

use crate::agent::{Account, Agent, Modes, Need, Package, Tokens};

pub static CODEX: Agent = Agent {
    name: "codex",
    title: "Codex",
    package: Some(Package {
        name: "@agentclientprotocol/codex-acp",
        version: "2.6.0",
        lock: include_str!("codex.package-lock.json"),
        processors: &["x86_64", "aarch64"],
    }),
    program: "node_modules/.bin/codex-acp",
    environment: &[("MODEL_KEY", "{key}")],
    files: &[(".codex/config.toml", CONFIG)],
    needs: &[Need::Node],
    speaks: Protocol::Responses,
    account: Some(Account {
        login: ".codex/auth.json",
        hosts: &["chatgpt.com", "auth.openai.com", "api.openai.com"],
        arguments: &[],
        environment: &[],
        files: &[(".codex/config.toml", ACCOUNT_CONFIG)],
        models: &[],
    }),
    // It keeps itself in by a sandbox of its own, which cannot be put up behind our wall; in every mode but this
    // one no command of its runs at all. So in `read-only` it asks for each of them, and when it is only to read
    // it is the wall that keeps it from writing.
    modes: Modes { ask: "read-only", edit: "agent-full-access", read_only: "agent-full-access" },
    tokens: Tokens::Total,
    tokens_prove_success: true,
    error_mark: Some(("/_meta/codex/threadStatus/type", "systemError")),
    remark_beginnings: &["Warning: Model metadata for "],
    output_pieces: Some("/terminal_output_delta/data"),
    ..Agent::PLAIN
};

// Tools that a model server would have to bring itself are left out: most do not know them, and refuse the call.
const CONFIG: &str = r#"model = "{json:model}"
model_provider = "boocode"
web_search = "disabled"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
apps = false
goals = false
multi_agent = false
plugins = false

[model_providers.boocode]
name = "BooCode"
base_url = "{json:url}/v1"
env_key = "MODEL_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"#;

const ACCOUNT_CONFIG: &str = r#"cli_auth_credentials_store = "file"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
apps = false
plugins = false
"#;

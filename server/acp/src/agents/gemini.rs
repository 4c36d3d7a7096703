//! Gemini CLI.

use domain::protocol::Protocol;

use crate::agent::{Account, Agent, Modes, Need, Package, Tokens};

pub static GEMINI: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    package: Some(Package {
        name: "@google/gemini-cli",
        version: "0.61.0",
        lock: include_str!("gemini.package-lock.json"),
        processors: &[],
    }),
    program: "node_modules/.bin/gemini",
    arguments: ARGUMENTS,
    environment: &[("GOOGLE_GEMINI_BASE_URL", "{url}"), ("GEMINI_API_KEY", "{key}"), NO_RELAUNCH],
    files: &[(".gemini/settings.json", SETTINGS)],
    needs: &[Need::Node, Need::Terminals],
    speaks: Protocol::Gemini,
    account: Some(Account {
        login: ".gemini/oauth_creds.json",
        hosts: &["oauth2.googleapis.com", "cloudcode-pa.googleapis.com", "www.googleapis.com"],
        arguments: ARGUMENTS,
        environment: &[NO_RELAUNCH],
        files: &[(".gemini/settings.json", ACCOUNT_SETTINGS)],
        models: &[],
    }),
    modes: Modes { ask: "default", edit: "autoEdit", read_only: "plan" },
    tokens: Tokens::Quota,
    // An answer that breaks off is asked for again and again, and then counts as an end without any tokens.
    tokens_prove_success: true,
    ..Agent::PLAIN
};

const ARGUMENTS: &[&str] = &["--acp", "--skip-trust", "--model={model}"];
/// It would start itself a second time, to be given more memory.
const NO_RELAUNCH: (&str, &str) = ("GEMINI_CLI_NO_RELAUNCH", "true");

const SETTINGS: &str = r#"{
  "general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "telemetry": {"enabled": false}
}"#;

const ACCOUNT_SETTINGS: &str = r#"{
  "general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "security": {"auth": {"selectedType": "oauth-personal"}},
  "telemetry": {"enabled": false}
}"#;

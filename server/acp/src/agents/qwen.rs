//! Qwen Code.

use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::{Agent, Endpoint, File, Modes, Need, Package, Tokens};

pub static QWEN: Agent = Agent {
    name: "qwen",
    title: "Qwen Code",
    package: Package {
        name: "@qwen-code/qwen-code",
        // The last one that runs on Node 20.
        version: "0.15.10",
        lock: include_str!("qwen.package-lock.json"),
        processors: &[],
    },
    program: "node_modules/.bin/qwen",
    arguments: &["--acp", "--auth-type", "openai"],
    needs_node: true,
    needs: &[Need::Terminals],
    environment,
    files,
    modes: Modes { ask: "default", edit: "auto-edit", read_only: "plan" },
    tokens: Tokens::PerCall,
    tokens_prove_success: false,
    error_beginnings: &[],
    tool_name: |meta| meta.get("toolName")?.as_str(),
    kinds: &[],
    // It writes its session down behind its own back; a process that is ended at once forgets the last answer.
    settling: Duration::from_millis(250),
};

fn environment(endpoint: &Endpoint) -> Vec<(&'static str, String)> {
    vec![
        ("OPENAI_BASE_URL", endpoint.versioned()),
        ("OPENAI_API_KEY", endpoint.key_or_any()),
        ("OPENAI_MODEL", endpoint.model.clone()),
        // It would start itself a second time, to be given more memory.
        ("QWEN_CODE_NO_RELAUNCH", "true".to_owned()),
    ]
}

fn files(_: &Endpoint) -> Vec<File> {
    let settings: Value = json!({
        "general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    });
    vec![File { path: ".qwen/settings.json", text: settings.to_string() }]
}

//! Qwen Code. Its own login was ended by its makers, so it has no account.

use std::time::Duration;

use crate::agent::{Agent, Modes, Need, Package, Tokens};

pub static QWEN: Agent = Agent {
    name: "qwen",
    title: "Qwen Code",
    package: Some(Package {
        name: "@qwen-code/qwen-code",
        // The last one that runs on Node 20.
        version: "0.15.10",
        lock: include_str!("qwen.package-lock.json"),
        processors: &[],
    }),
    program: "node_modules/.bin/qwen",
    arguments: &["--acp", "--auth-type", "openai"],
    environment: &[
        ("OPENAI_BASE_URL", "{url}/v1"),
        ("OPENAI_API_KEY", "{key}"),
        ("OPENAI_MODEL", "{model}"),
        // It would start itself a second time, to be given more memory.
        ("QWEN_CODE_NO_RELAUNCH", "true"),
    ],
    files: &[(".qwen/settings.json", SETTINGS)],
    needs: &[Need::Node, Need::Terminals],
    modes: Modes { ask: "default", edit: "auto-edit", read_only: "plan" },
    tokens: Tokens::PerCall,
    tool_name: "/toolName",
    // It writes its session down behind its own back; a process that is ended at once forgets the last answer.
    settling: Duration::from_millis(250),
    ..Agent::PLAIN
};

const SETTINGS: &str = r#"{
  "general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false}
}"#;

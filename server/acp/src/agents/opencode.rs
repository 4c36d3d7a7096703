//! OpenCode.

use crate::agent::{Agent, Modes, Need, Package, Tokens};

pub static OPENCODE: Agent = Agent {
    name: "opencode",
    title: "OpenCode",
    package: Some(Package {
        // The program itself; what `opencode-ai` adds is a script that chooses among the processors.
        name: "opencode-linux-x64-baseline",
        version: "1.18.33",
        lock: include_str!("opencode.package-lock.json"),
        processors: &["x86_64"],
    }),
    program: "node_modules/opencode-linux-x64-baseline/bin/opencode",
    arguments: &["acp", "--port={port}"],
    environment: &[
        // Goes before what a project has to say, so that the modes below stay what they are.
        ("OPENCODE_CONFIG_CONTENT", CONFIG),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ],
    needs: &[Need::Port],
    // Its own `plan` lets the shell write. These are of our making, and what may not be used is not offered.
    modes: Modes { ask: "ask", edit: "edit", read_only: "read" },
    tokens: Tokens::LastCall,
    ..Agent::PLAIN
};

// A title would cost a call of the model, and nobody reads it.
const CONFIG: &str = r#"{
  "autoupdate": false,
  "share": "disabled",
  "model": "boocode/{json:model}",
  "small_model": "boocode/{json:model}",
  "enabled_providers": ["boocode"],
  "provider": {
    "boocode": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "BooCode",
      "options": {"baseURL": "{json:url}/v1", "apiKey": "{json:key}"},
      "models": {"{json:model}": {"name": "{json:model}"}}
    }
  },
  "default_agent": "ask",
  "agent": {
    "title": {"disable": true},
    "build": {"disable": true},
    "plan": {"disable": true},
    "ask": {
      "mode": "primary",
      "permission": {"edit": "ask", "bash": "ask", "task": "deny", "webfetch": "deny"}
    },
    "edit": {
      "mode": "primary",
      "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"}
    },
    "read": {
      "mode": "primary",
      "permission": {"edit": "deny", "bash": "deny", "task": "deny", "webfetch": "deny"}
    }
  }
}"#;

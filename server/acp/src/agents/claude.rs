//! Claude Code, by the adapter that speaks the protocol for it.

use domain::protocol::Protocol;

use crate::agent::{Account, Agent, Modes, Need, Package, Tokens};

pub static CLAUDE: Agent = Agent {
    name: "claude",
    title: "Claude Code",
    package: Some(Package {
        name: "@agentclientprotocol/claude-agent-acp",
        // The last one that runs on Node 20.
        version: "0.49.0",
        lock: include_str!("claude.package-lock.json"),
        processors: &["x86_64", "aarch64"],
    }),
    program: "node_modules/.bin/claude-agent-acp",
    environment: &[
        ("ANTHROPIC_BASE_URL", "{url}"),
        ("ANTHROPIC_API_KEY", "{key}"),
        // All four, or its plan mode and its helpers silently ask for another model.
        ("ANTHROPIC_MODEL", "{model}"),
        ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "{model}"),
        ("ANTHROPIC_DEFAULT_SONNET_MODEL", "{model}"),
        ("ANTHROPIC_DEFAULT_OPUS_MODEL", "{model}"),
        QUIET,
        NO_UPDATE,
    ],
    needs: &[Need::Node],
    speaks: Protocol::Messages,
    account: Some(Account {
        login: ".claude/.credentials.json",
        hosts: &["api.anthropic.com", "platform.claude.com"],
        arguments: &[],
        environment: &[("ANTHROPIC_MODEL", "{model}"), QUIET, NO_UPDATE],
        files: &[],
        models: &["opus", "sonnet", "haiku"],
    }),
    // The mode that asks nothing at all it refuses to root. In `plan` a redirect of the shell was seen to write,
    // unasked, so it is the wall that keeps it from writing.
    modes: Modes { ask: "default", edit: "acceptEdits", read_only: "plan" },
    notes_permits: true,
    tokens: Tokens::Total,
    tool_name: "/claudeCode/toolName",
    ..Agent::PLAIN
};

const QUIET: (&str, &str) = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
const NO_UPDATE: (&str, &str) = ("DISABLE_AUTOUPDATER", "1");

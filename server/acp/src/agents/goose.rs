//! Goose.

use std::time::Duration;

use domain::tool::Kind;

use crate::agent::{Agent, Endpoint, Modes, Package, Tokens};

pub static GOOSE: Agent = Agent {
    name: "goose",
    title: "Goose",
    package: Package {
        name: "@aaif/goose-binary-linux-x64",
        version: "1.52.0",
        lock: include_str!("goose.package-lock.json"),
        processors: &["x86_64"],
    },
    program: "node_modules/@aaif/goose-binary-linux-x64/bin/goose",
    arguments: &["acp", "--with-builtin", "developer"],
    needs_node: false,
    needs: &[],
    environment,
    files: |_| Vec::new(),
    // `chat` would be stricter than `smart_approve`, but then it cannot even read. Which commands only read is
    // judged by its model, so it is the wall that keeps it from writing.
    modes: Modes { ask: "approve", edit: "auto", read_only: "smart_approve" },
    tokens: Tokens::LastCall,
    tokens_prove_success: true,
    error_beginnings: &["Ran into this error: ", "Network error: ", "Unable to continue: "],
    tool_name: |meta| meta.get("goose")?.get("toolCall")?.get("toolName")?.as_str(),
    kinds: &[
        ("shell", Kind::Execute),
        ("write", Kind::Edit),
        ("edit", Kind::Edit),
        ("tree", Kind::Search),
        ("analyze", Kind::Read),
        ("read_image", Kind::Read),
    ],
    settling: Duration::ZERO,
};

fn environment(endpoint: &Endpoint) -> Vec<(&'static str, String)> {
    let (host, path) = endpoint.host_and_path();
    vec![
        ("GOOSE_PROVIDER", "openai".to_owned()),
        ("GOOSE_MODEL", endpoint.model.clone()),
        ("OPENAI_HOST", host),
        ("OPENAI_BASE_PATH", path),
        ("OPENAI_API_KEY", endpoint.key_or_any()),
        ("GOOSE_DISABLE_KEYRING", "1".to_owned()),
        ("GOOSE_TELEMETRY_OFF", "1".to_owned()),
        // A title would cost a call of the model, and nobody reads it.
        ("GOOSE_DISABLE_SESSION_NAMING", "true".to_owned()),
    ]
}

//! Commands, as each agent's own tool takes them.

use serde_json::{Value, json};

/// The tool among those offered that runs a command, and what it is told.
pub fn call(offered: &[String], command: &str) -> (&'static str, Value) {
    let has = |name: &str| offered.iter().any(|offered| offered == name);
    match () {
        () if has("run_shell_command") => {
            ("run_shell_command", json!({"command": command, "is_background": false}))
        }
        () if has("Bash") => ("Bash", json!({"command": command, "description": "Run it"})),
        () if has("bash") => ("bash", json!({"command": command, "description": "Run it"})),
        () if has("exec_command") => ("exec_command", json!({"cmd": command})),
        () if has("shell_command") => ("shell_command", json!({"command": command})),
        () if has("shell") => ("shell", json!({"command": command})),
        () => ("run", json!({"command": command})),
    }
}

//! How the tools of the agents that tests run are called: each has its own names for the same things.

use std::path::Path;

use serde_json::{Value, json};

/// Writes a file, by the tool that is made for it.
pub fn write(agent: &str, path: &Path, content: &str) -> String {
    let (name, arguments) = match agent {
        "qwen" | "gemini" => ("write_file", json!({"file_path": path, "content": content})),
        "claude" => ("Write", json!({"file_path": path, "content": content})),
        "opencode" => ("write", json!({"filePath": path, "content": content})),
        "codex" => {
            let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
            let patch = format!("*** Begin Patch\n*** Add File: {}\n{lines}*** End Patch", path.display());
            ("exec_command", json!({"cmd": format!("apply_patch <<'EOF'\n{patch}\nEOF")}))
        }
        _ => ("write", json!({"path": path, "content": content})),
    };
    call(name, &arguments)
}

/// Runs a command.
pub fn shell(agent: &str, command: &str) -> String {
    let (name, arguments) = match agent {
        "qwen" => ("run_shell_command", json!({"command": command, "is_background": false})),
        "gemini" => ("run_shell_command", json!({"command": command})),
        "claude" => ("Bash", json!({"command": command})),
        "opencode" => ("bash", json!({"command": command, "description": "a command"})),
        "codex" => ("exec_command", json!({"cmd": command})),
        _ => ("shell", json!({"command": command})),
    };
    call(name, &arguments)
}

/// Runs a command for which the person is asked, where the agent is in a mode that asks.
pub fn asking_shell(agent: &str, command: &str) -> String {
    match agent {
        // It tries everything in its own sandbox first, and asks to leave that.
        "codex" => call(
            "exec_command",
            &json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": "a test"}),
        ),
        _ => shell(agent, command),
    }
}

/// Looks into a folder.
pub fn list(agent: &str, folder: &Path) -> String {
    match agent {
        "qwen" => call("list_directory", &json!({"path": folder})),
        "gemini" => call("list_directory", &json!({"dir_path": folder})),
        "opencode" => call("read", &json!({"filePath": folder})),
        "claude" | "codex" => shell(agent, &format!("ls {}", folder.display())),
        _ => call("tree", &json!({"path": folder})),
    }
}

fn call(name: &str, arguments: &Value) -> String {
    format!("[[tool {name} {arguments}]]")
}

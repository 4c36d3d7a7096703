//! The tools as a model is told of them.

use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    pub name: &'static str,
    pub about: &'static str,
    /// JSON Schema.
    pub parameters: Value,
    /// Whether it can change the tree.
    pub writes: bool,
    /// Whether what it is given leaves this machine.
    pub leaves: bool,
}

/// All of them, in the order in which they are told.
pub fn schemas() -> Vec<Schema> {
    let text = |about: &str| json!({"type": "string", "description": about});
    let number = |about: &str| json!({"type": "integer", "minimum": 1, "description": about});
    let path = || text("Path from the project's folder");
    let schema = |name, about, writes, required: &[&str], properties: Value| Schema {
        name,
        about,
        parameters: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
        writes,
        leaves: false,
    };
    vec![
        schema("list", "List the files and folders in a folder.", false, &[], json!({"path": path()})),
        schema(
            "read",
            "Read a text file. Lines are numbered; the numbers are not part of the file.",
            false,
            &["path"],
            json!({
                "path": path(),
                "from": number("First line, 1 where it is not given"),
                "lines": number("How many lines, 1000 where it is not given"),
            }),
        ),
        schema(
            "grep",
            "Search the project's files for a regular expression. Ignored files are left out.",
            false,
            &["pattern"],
            json!({
                "pattern": text("Regular expression, matched line by line"),
                "path": text("Only below this folder, or only this file"),
                "glob": text("Only files like this, for example *.rs"),
                "ignore_case": {"type": "boolean"},
            }),
        ),
        schema(
            "find",
            "Find files by their path.",
            false,
            &["pattern"],
            json!({"pattern": text("Glob such as src/**/*.rs, or a part of the path")}),
        ),
        schema(
            "edit",
            "Replace a piece of a file. `old` must stand in the file exactly once, unless `all` is true.",
            true,
            &["path", "old", "new"],
            json!({
                "path": path(),
                "old": text("What stands there now, letter by letter"),
                "new": text("What comes in its place"),
                "all": {"type": "boolean", "description": "Replace every occurrence"},
            }),
        ),
        schema(
            "write",
            "Write a whole file. Folders on the way are made; what was there is replaced.",
            true,
            &["path", "content"],
            json!({"path": path(), "content": text("The whole content")}),
        ),
        schema(
            "run",
            "Run a shell command in the project's folder. There is no network and no terminal.",
            true,
            &["command"],
            json!({
                "command": text("For sh -c"),
                "seconds": number("How long it may take, 120 where it is not given, at most 600"),
            }),
        ),
        schema(
            "git",
            "Look at the repository: `status`, `diff`, `log`, `show` or `blame`, with arguments.",
            false,
            &["command"],
            json!({"command": text("For example: diff HEAD~1 -- src/main.rs")}),
        ),
    ]
}

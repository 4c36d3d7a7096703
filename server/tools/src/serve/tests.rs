use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

fn tree() -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let place = tree.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    };
    write("src/main.rs", "fn main() {\n    println!(\"a\");\n}\n");
    write("src/lib.rs", "pub fn a() {}\npub fn a2() {}\n");
    write(".gitignore", "target\n");
    write("target/out.rs", "fn ignored() {}\n");
    let manifest = r#"{"id": "00000000-0000-4000-8000-0000aabbccdd", "battle_type": "qa"}"#;
    write(&format!("{OLD}/manifest.json"), manifest);
    write(&format!("{OLD}/old.md"), "fn old() {}\n");
    tree
}

const OLD: &str = "Arena/2026-07-30-qa-aabbccdd";

fn asked(tree: &Path, name: &str, arguments: Value) -> Answer {
    answer(tree, &Call { name: name.into(), arguments })
}

/// The answer's text, with a `!` before it where the tool failed.
fn check(tree: &TempDir, name: &str, arguments: Value, expected: &str) {
    let Answer { text, failed } = asked(tree.path(), name, arguments.clone());
    let mark = if failed { "!" } else { "" };
    assert_eq!(format!("{mark}{}", text.trim_end()), expected, "{name} {arguments}");
}

#[test]
fn looking() {
    let tree = tree();
    check(&tree, "list", json!({}), ".gitignore\nsrc/\ntarget/");
    check(&tree, "list", json!({"path": "src"}), "lib.rs\nmain.rs");
    check(&tree, "list", json!({"path": "none"}), "!none does not exist.");
    check(&tree, "read", json!({"path": "src/lib.rs"}), "    1  pub fn a() {}\n    2  pub fn a2() {}");
    check(
        &tree,
        "read",
        json!({"path": "src/main.rs", "from": 2, "lines": 1}),
        "    2      println!(\"a\");\n… 1 more lines",
    );
    check(&tree, "read", json!({"path": "src/main.rs", "from": 9}), "!src/main.rs has 3 lines.");
    check(&tree, "read", json!({"path": "src/main.rs", "from": 3, "lines": usize::MAX}), "    3  }");
    check(&tree, "read", json!({"path": "src"}), "!src is a folder: use list.");
    check(&tree, "read", json!({"path": "../x"}), "!../x is not a path in the project's folder.");
    check(
        &tree,
        "read",
        json!({"path": "/etc/passwd"}),
        "!/etc/passwd is not a path in the project's folder.",
    );
    let whole = tree.path().join("src/lib.rs");
    assert!(!asked(tree.path(), "read", json!({"path": whole})).failed);
}

#[test]
fn searching_leaves_out_what_git_ignores() {
    let tree = tree();
    check(
        &tree,
        "grep",
        json!({"pattern": "fn \\w+\\(", "glob": "*.rs", "path": "src"}),
        "src/lib.rs:1: pub fn a() {}\nsrc/lib.rs:2: pub fn a2() {}\nsrc/main.rs:1: fn main() {",
    );
    check(&tree, "grep", json!({"pattern": "ignored|old"}), "Nothing matches.");
    fs::create_dir_all(tree.path().join("src/target")).unwrap();
    fs::create_dir_all(tree.path().join("src/Arena")).unwrap();
    fs::write(tree.path().join("src/target/x"), "ignored\n").unwrap();
    fs::write(tree.path().join("src/Arena/x"), "ours\n").unwrap();
    check(&tree, "grep", json!({"pattern": "ignored|ours", "path": "src/"}), "src/Arena/x:1: ours");
    check(
        &tree,
        "grep",
        json!({"pattern": "x", "path": "target"}),
        "!git ignores target: name a file in it.",
    );
    let named = json!({"pattern": "ignored", "path": "target/out.rs"});
    check(&tree, "grep", named, "target/out.rs:1: fn ignored() {}");
    fs::remove_dir_all(tree.path().join("src/target")).unwrap();
    fs::remove_dir_all(tree.path().join("src/Arena")).unwrap();
    check(&tree, "grep", json!({"pattern": "MAIN", "ignore_case": true}), "src/main.rs:1: fn main() {");
    let wrong = asked(tree.path(), "grep", json!({"pattern": "("}));
    assert!(wrong.failed && wrong.text.starts_with("The pattern cannot be read"), "{}", wrong.text);
    check(&tree, "find", json!({"pattern": "src/*.rs"}), "src/lib.rs\nsrc/main.rs");
    check(&tree, "find", json!({"pattern": "MAIN"}), "src/main.rs");
    check(&tree, "find", json!({"pattern": "nothing"}), "No file is like that.");
}

/// Whatever asks for them, and however: what is found there was said by somebody before.
#[test]
fn old_answers_are_no_evidence_and_a_projects_own_folder_is() {
    let tree = tree();
    let file = format!("{OLD}/old.md");
    check(&tree, "grep", json!({"pattern": "old"}), "Nothing matches.");
    check(&tree, "find", json!({"pattern": "old"}), "No file is like that.");
    check(&tree, "grep", json!({"pattern": "old", "path": "Arena"}), "!Arena holds the results of battles.");
    check(&tree, "list", json!({"path": "Arena"}), "!Arena holds the results of battles.");
    check(
        &tree,
        "grep",
        json!({"pattern": "old", "path": file}),
        &format!("!{file} holds the results of battles."),
    );
    check(&tree, "read", json!({"path": file}), &format!("!{file} holds the results of battles."));
    // The control: the folder is the project's.
    fs::write(tree.path().join("Arena/stage.rs"), "fn old() {}\n").unwrap();
    check(&tree, "list", json!({}), ".gitignore\nArena/\nsrc/\ntarget/");
    check(&tree, "list", json!({"path": "Arena"}), "stage.rs");
    check(&tree, "grep", json!({"pattern": "old"}), "Arena/stage.rs:1: fn old() {}");
    check(&tree, "read", json!({"path": "Arena/stage.rs"}), "    1  fn old() {}");
}

#[test]
fn a_link_to_a_folder_is_not_taken_for_an_empty_one() {
    let tree = tree();
    symlink("src", tree.path().join("within")).unwrap();
    symlink("/etc", tree.path().join("out")).unwrap();
    let check = |path: &str, words: &str| check(&tree, "grep", json!({"pattern": "a", "path": path}), words);
    check("within", "!within is a link: search src in its place.");
    check("out", "!out is a link that leads out of the project's folder.");
}

#[test]
fn changing() {
    let tree = tree();
    let lib = |old: &str, all: bool| json!({"path": "src/lib.rs", "old": old, "new": "b", "all": all});
    check(
        &tree,
        "edit",
        lib("pub", false),
        "!`old` stands in src/lib.rs 2 times. Take more of what is around it, or set `all`.",
    );
    check(
        &tree,
        "edit",
        lib("nothing", false),
        "!`old` does not stand in src/lib.rs. Read it again, and copy it exactly.",
    );
    check(&tree, "edit", lib("", false), "!`old` is empty: use write for a new file.");
    check(&tree, "edit", lib("pub fn a()", false), "Replaced 1 in src/lib.rs.");
    check(&tree, "edit", lib("{}", true), "Replaced 2 in src/lib.rs.");
    assert_eq!(fs::read_to_string(tree.path().join("src/lib.rs")).unwrap(), "b b\npub fn a2() b\n");
    check(
        &tree,
        "write",
        json!({"path": "new/deep.txt", "content": "hello"}),
        "Wrote 5 bytes to new/deep.txt.",
    );
    assert_eq!(fs::read_to_string(tree.path().join("new/deep.txt")).unwrap(), "hello");
    check(&tree, "write", json!({"path": "src", "content": ""}), "!src is a folder.");
}

#[test]
fn running() {
    let tree = tree();
    check(&tree, "run", json!({"command": "echo out; echo err >&2; pwd | wc -l"}), "out\nerr\n1");
    check(&tree, "run", json!({"command": "echo no; exit 3"}), "!no\n\n[It ended with code 3.]");
    check(&tree, "run", json!({"command": "true"}), "Done, it said nothing.");
    check(&tree, "run", json!({"command": "sleep 60", "seconds": 1}), "!\n[It was stopped after 1 s.]");
    // What it leaves behind neither holds it up nor lives on.
    let Answer { text, .. } = asked(tree.path(), "run", json!({"command": "sleep 61.25 & echo $!"}));
    let left = Path::new("/proc").join(text.trim()).join("cmdline");
    let is_gone = |_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        fs::read(&left).map_or(true, |line| line.is_empty())
    };
    assert!((0..200).any(is_gone), "{text}");
    let long = asked(tree.path(), "run", json!({"command": "yes | head -c 3000000"}));
    assert!(!long.failed && long.text.contains("bytes left out"));
}

#[test]
fn a_pipe_is_never_waited_for() {
    let tree = tree();
    rustix::fs::mkfifoat(rustix::fs::CWD, tree.path().join("pipe"), rustix::fs::Mode::RWXU).unwrap();
    check(&tree, "write", json!({"path": "pipe", "content": "x"}), "!pipe is no regular file.");
    check(&tree, "read", json!({"path": "pipe"}), "!pipe is no regular file.");
}

#[test]
fn what_is_malformed_is_explained_and_the_next_call_works() {
    let tree = tree();
    let calls = concat!(
        "nonsense\n",
        r#"{"name":"fly","arguments":{}}"#,
        "\n",
        r#"{"name":"read","arguments":{"file":"x"}}"#,
        "\n",
        r#"{"name":"list","arguments":{"path":"src"}}"#,
        "\n",
    );
    let mut answers = Vec::new();
    serve(tree.path(), calls.as_bytes(), &mut answers).unwrap();
    let answers: Vec<Answer> =
        String::from_utf8(answers).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let words: Vec<_> = answers.iter().map(|answer| (answer.failed, answer.text.as_str())).collect();
    assert!(words[0].0 && words[0].1.starts_with("The call cannot be read"));
    assert_eq!(words[1], (true, "There is no tool called fly."));
    assert!(words[2].0 && words[2].1.starts_with("The arguments of read are wrong"), "{}", words[2].1);
    assert_eq!(words[3], (false, "lib.rs\nmain.rs"));
}

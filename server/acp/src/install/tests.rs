use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::agents::goose::GOOSE;
use crate::agents::qwen::QWEN;

/// An npm that does what a script says, in the folder that it is to fill.
fn fake(script: &str) -> (tempfile::TempDir, Node) {
    let dir = tempfile::tempdir().unwrap();
    let npm = dir.path().join("npm");
    fs::write(&npm, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).unwrap();
    let node = Node { bin: dir.path().into(), npm };
    (dir, node)
}

const FILLS: &str = r#"mkdir -p node_modules/@qwen-code/qwen-code node_modules/.bin
echo '{"version": "0.15.10"}' > node_modules/@qwen-code/qwen-code/package.json
touch node_modules/.bin/qwen"#;

async fn run(script: &str, root: &Path) -> (Result<(), Error>, Vec<String>) {
    let (_npm, node) = fake(script);
    let (progress, mut lines) = mpsc::channel(100);
    let outcome = install(&node, root, &QWEN, &progress).await;
    let mut said = Vec::new();
    while let Ok(line) = lines.try_recv() {
        said.push(line);
    }
    (outcome, said)
}

#[tokio::test]
async fn an_agent_is_installed_once_by_its_lock_file() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(installed(root.path(), &QWEN), Installed::No);
    let (outcome, said) =
        run(&format!("echo $1; grep -c integrity package-lock.json; {FILLS}"), root.path()).await;
    outcome.unwrap();
    assert_eq!(said[0], "ci");
    assert!(said[1].parse::<u32>().unwrap() > 0, "{said:?}");
    assert_eq!(installed(root.path(), &QWEN), Installed::Yes);
    let (outcome, said) = run("echo again; exit 1", root.path()).await;
    outcome.unwrap();
    assert!(said.is_empty(), "{said:?}");
}

#[tokio::test]
async fn another_version_is_seen_and_replaced() {
    let root = tempfile::tempdir().unwrap();
    run(FILLS, root.path()).await.0.unwrap();
    let manifest = folder(root.path(), &QWEN).join("node_modules/@qwen-code/qwen-code/package.json");
    fs::write(&manifest, r#"{"version": "0.1.0"}"#).unwrap();
    assert_eq!(installed(root.path(), &QWEN), Installed::Other { version: "0.1.0".into() });
    run(FILLS, root.path()).await.0.unwrap();
    assert_eq!(installed(root.path(), &QWEN), Installed::Yes);
}

#[tokio::test]
async fn a_failure_tells_the_words_of_npm_and_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let (outcome, _) = run(&format!("{FILLS}; echo no route to the registry >&2; exit 1"), root.path()).await;
    let said = outcome.unwrap_err().to_string();
    assert_eq!(said, "npm could not install Qwen Code:\nno route to the registry");
    assert_eq!(installed(root.path(), &QWEN), Installed::No);
    let left: Vec<_> = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["lock"]);
}

#[tokio::test]
async fn what_a_killed_server_was_making_goes_with_the_next_installation() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join(".making-abc/node_modules")).unwrap();
    fs::create_dir(root.path().join("other")).unwrap();
    run(FILLS, root.path()).await.0.unwrap();
    let mut left: Vec<_> =
        fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["lock", "other", "qwen"]);
}

#[tokio::test]
async fn an_installation_that_is_given_up_leaves_no_process() {
    let root = tempfile::tempdir().unwrap();
    let (_npm, node) = fake("sleep 300 & echo $!; wait");
    let (progress, mut lines) = mpsc::channel(1);
    let pid = tokio::select! {
        _ = install(&node, root.path(), &QWEN, &progress) => panic!("it cannot end"),
        pid = lines.recv() => pid.unwrap(),
    };
    // A zombie has no memory, and waits only for whoever adopted it.
    let alive =
        || fs::read_to_string(format!("/proc/{pid}/statm")).is_ok_and(|memory| !memory.starts_with("0 "));
    let gone = async {
        while alive() {
            sleep(LOCK_POLL).await;
        }
    };
    timeout(Duration::from_secs(30), gone).await.unwrap();
}

#[tokio::test]
async fn npm_is_given_none_of_our_secrets() {
    let root = tempfile::tempdir().unwrap();
    // Cargo tells every test program this one.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let (outcome, said) = run(&format!("env; {FILLS}"), root.path()).await;
    outcome.unwrap();
    assert!(said.iter().any(|line| line.starts_with("PATH=")), "{said:?}");
    assert!(!said.iter().any(|line| line.starts_with("CARGO_")), "{said:?}");
}

#[test]
fn the_lock_files_pin_what_the_agents_name() {
    for agent in crate::agents::ALL {
        let package = agent.package.as_ref().unwrap();
        let lock: serde_json::Value = serde_json::from_str(package.lock).unwrap();
        let root = &lock["packages"][""]["dependencies"];
        assert_eq!(root[package.name], package.version, "{}", agent.name);
        for (place, package) in lock["packages"].as_object().unwrap() {
            assert!(place.is_empty() || package["integrity"].is_string(), "{place}");
            assert!(package["resolved"].is_null(), "{place}: where it comes from is npm's setting");
        }
    }
}

#[test]
fn the_readme_names_the_versions() {
    let readme = include_str!("../../../../README.md");
    for agent in crate::agents::ALL {
        let named = format!("| {} {} |", agent.title, agent.package.as_ref().unwrap().version);
        assert!(readme.contains(&named), "{named} is not in the table of agents");
    }
}

#[test]
fn the_way_by_hand_is_a_whole_command() {
    let said = by_hand(Path::new("/a"), &GOOSE);
    let expected = "npm install --ignore-scripts --prefix /a/goose @aaif/goose-binary-linux-x64@1.52.0";
    assert_eq!(said.as_deref(), Some(expected));
}

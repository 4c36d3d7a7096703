//! The program itself, as somebody types it.

use std::{fs, process::Output};

use tokio::{process::Command, time::timeout};

use crate::harness::{PATIENCE, World, tools_dir};

async fn run(world: &World, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boocode"));
    command
        .args(args)
        .args(["--no-model", "--no-discover", "--data-dir"])
        .arg(world.folder.path().join("one"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", world.folder.path())
        .env("BOOCODE_TOOLS_DIR", tools_dir())
        .env("DATABASE_URL", &world.database_url)
        .kill_on_drop(true);
    timeout(PATIENCE, command.output()).await.expect("it ends").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_lists_what_is_found() {
    let world = World::new().await;
    let server = format!("local={}", world.model_url);
    let report = run(&world, &["doctor", "--model-server", &server]).await;
    let said = String::from_utf8_lossy(&report.stdout);
    assert!(report.status.success(), "{said} {}", String::from_utf8_lossy(&report.stderr));
    for part in
        ["Data", "Postgres", "Tools", "git", "Agents", "Qwen Code", "Models", "local", "small", "Kernel"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    // What is missing is said, and whoever asks by a script hears it too.
    world.stop_model();
    fs::write(world.folder.path().join("one"), "in the way").unwrap();
    let report = run(&world, &["doctor", "--model-server", &server]).await;
    let said = String::from_utf8_lossy(&report.stdout);
    assert_eq!(report.status.code(), Some(1), "{said}");
}

/// Before anything is started, and by its name.
#[tokio::test(flavor = "multi_thread")]
async fn a_setting_that_cannot_be_used_is_named_and_nothing_is_started() {
    let world = World::new().await;
    let report = run(&world, &["serve", "--port", "0", "--allowed-root", "/no/such/folder"]).await;
    let said = String::from_utf8_lossy(&report.stderr);
    assert_eq!(report.status.code(), Some(2), "{said}");
    assert!(said.contains("`allowed_roots` from") && said.contains("/no/such/folder"), "{said}");
    assert!(!world.folder.path().join("one").exists());
}

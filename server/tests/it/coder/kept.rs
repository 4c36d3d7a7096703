//! What becomes of a worktree when the server is killed at the wrong moment, or somebody else is quicker.

use std::{fs, path::PathBuf, process::Command};

use domain::worktree::{self, State};
use serde_json::json;

use super::{calls, changes, coder, paths, work, work_of};
use crate::harness::{Server, Watcher, World, eventually};

/// A Coder that has written a file, and the two places where its folder may lie.
async fn written(world: &World, server: &Server) -> (Watcher, PathBuf, PathBuf) {
    let (_, chat) = coder(world, server).await;
    let mut page = server.watch(chat).await;
    work(server, &mut page, r#"[[tool write {"path":"a","content":"a"}]][[say ok]]"#).await;
    let id = page.chat().worktree.as_ref().unwrap().id.to_string();
    let place = |name: &str| world.folder.path().join("one").join(name).join(&id);
    let (folder, thrown) = (place("worktrees"), place("trash"));
    assert!(folder.exists() && !thrown.exists());
    (page, folder, thrown)
}

fn state(page: &Watcher) -> State {
    page.chat().worktree.as_ref().unwrap().state
}

/// As a kill leaves it between the row and the folder, in both directions.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_brings_a_folder_to_where_its_row_says_that_it_is() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (page, folder, thrown) = written(&world, &server).await;
    server.call("discard_changes", &[("chat", page.chat.to_string())]).await;
    assert!(thrown.exists());
    server.kill().await;
    fs::rename(&thrown, &folder).unwrap();
    let server = world.server("one").await;
    let page = server.watch(page.chat).await;
    assert_eq!((state(&page), folder.exists(), thrown.exists()), (State::Discarded, false, true));

    server.call("restore_changes", &[("chat", page.chat.to_string())]).await;
    server.kill().await;
    fs::rename(&folder, &thrown).unwrap();
    let server = world.server("one").await;
    let page = server.watch(page.chat).await;
    assert_eq!((state(&page), folder.exists(), thrown.exists()), (State::Ready, true, false));
    assert_eq!(paths(&changes(&server, page.chat).await), ["A a"]);
}

/// Whatever a row claims is somebody's work, wherever its folder lies at this moment.
#[tokio::test(flavor = "multi_thread")]
async fn emptying_the_trash_deletes_nothing_that_a_row_claims() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (mut page, folder, thrown) = written(&world, &server).await;
    let (gone, _, gone_thrown) = written(&world, &server).await;
    server.call("discard_changes", &[("chat", gone.chat.to_string())]).await;
    fs::rename(&folder, &thrown).unwrap();
    server.call("empty_trash", &[]).await;
    assert!(!gone_thrown.exists(), "the control: what was discarded is deleted");
    assert!(thrown.exists());
    work(&server, &mut page, r#"[[tool read {"path":"a"}]][[say ok]]"#).await;
    assert_eq!(calls(&page)[0].output, "    1  a\n", "whoever works in it next finds it");
    assert!(folder.exists() && !thrown.exists());
    let refused = server.refusal("restore_changes", &[("chat", gone.chat.to_string())]).await;
    assert!(refused.contains("The worktree is gone."), "{refused}");
}

/// The journal is written by hand here; that a kill leaves such a one is tested where it is written.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_takes_back_an_apply_that_was_killed() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    work(&server, &mut page, r#"[[tool write {"path":"main.rs","content":"changed\n"}]][[say ok]]"#).await;
    let id = page.chat().worktree.as_ref().unwrap().id.to_string();
    server.kill().await;
    let aside = project.join(format!(".boocode-apply-{id}"));
    fs::create_dir(&aside).unwrap();
    fs::rename(project.join("main.rs"), aside.join("old-0")).unwrap();
    let moves = json!([{ "path": b"main.rs", "has_old": true, "new": null }]);
    let journal = json!({
        "aside": aside, "project": project, "state": { "Moving": { "moves": moves, "made": [] } }
    });
    let folder = world.folder.path().join("one/worktrees").join(&id);
    fs::write(folder.join("apply.json"), journal.to_string()).unwrap();

    let server = world.server("one").await;
    assert_eq!(fs::read_to_string(project.join("main.rs")).unwrap(), "fn main() {}\n");
    assert!(!aside.exists() && !folder.join("apply.json").exists());
    let how: String = server.call("apply_changes", &[("chat", chat.to_string())]).await.json().await.unwrap();
    assert_eq!(how, "Applied to 1 file.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_on_another_machine_is_said_to_be_there() {
    let world = World::new().await;
    let (one, two) = (world.server("one").await, world.server("two").await);
    let (page, ..) = written(&world, &one).await;
    let of = [("chat", page.chat.to_string())];
    for endpoint in ["changes", "apply_changes", "discard_changes"] {
        let refused = two.refusal(endpoint, &of).await;
        assert!(refused.contains("The worktree is on another machine."), "{endpoint}: {refused}");
    }
}

/// Nobody would look for it otherwise: what no patch can hold.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_out_of_the_changes_is_told() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    let make =
        r"git init -q inner && echo x > inner/file && mkfifo pipe && echo y > $(printf 'a\342\200\256b')";
    let call = json!({ "command": make });
    work(&server, &mut page, &format!("[[tool run {call}]][[say ok]]")).await;
    let seen = changes(&server, chat).await;
    assert_eq!(paths(&seen), ["A a‹U+202E›b", "A inner/file"], "{:?}", calls(&page));
    let left_out = [
        "inner/.git: the history of a repository inside; its files are in the patch",
        "pipe: a pipe, a socket or a device",
    ];
    assert_eq!(seen.left_out, left_out);
    let asked = [
        ("of[Chat]", chat.to_string()),
        ("options[is_split]", "false".to_owned()),
        ("options[ignores_whitespace]", "false".to_owned()),
        ("options[columns]", "0".to_owned()),
    ];
    let outline: domain::diff::Outline = server.call("diff_outline", &asked).await.json().await.unwrap();
    assert_eq!(outline.left_out, left_out);
    let shown: Vec<_> = outline.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(shown, ["a‹U+202E›b", "inner/file"]);
}

/// Walls end with the server that put them up; what got away all the same is found by its marker.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_ends_what_carries_its_marker_and_nothing_else() {
    let world = World::new().await;
    world.server("one").await.stop().await;
    let own = fs::read_to_string(world.folder.path().join("one/identity")).unwrap();
    let sleeping = |owner: &str| {
        let marker = format!("{}/{}.1", owner.trim(), uuid::Uuid::now_v7());
        Command::new("sleep").arg("300").env_clear().env("BOOCODE_TASK", marker).spawn().unwrap()
    };
    let (mut left, mut others) = (sleeping(&own), sleeping("another"));
    let server = world.server("one").await;
    let ended = left.try_wait().unwrap();
    let is_left = others.try_wait().unwrap().is_none();
    for child in [&mut left, &mut others] {
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(ended.is_some(), "it is gone when the server is ready");
    assert!(is_left, "the control: another's is left alone");
    server.stop().await;
}

/// Whoever goes on with what another began hears what that one said.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_missed_something_is_told_it() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    work_of(&server, &mut page, "[[say first]]", "qwen").await;
    work_of(&server, &mut page, "[[say second]]", "qwen").await;
    assert!(!page.answer().contains("began anew"), "the control: it goes on from its session");
    work_of(&server, &mut page, "[[say kestrel]]", "native").await;
    work_of(&server, &mut page, "[[say third]]", "qwen").await;
    let note =
        "Qwen Code has not heard all of this conversation. It began anew, and was told what was said before.";
    assert!(page.answer().contains(note), "{}", page.answer());
    let log = world.model_log().await;
    let mut asked =
        log["requests"].as_array().unwrap().iter().filter_map(|it| it["last_user_message"].as_str());
    let told = asked.next_back().unwrap();
    assert!(told.contains("You:\nkestrel") && told.contains("[[say third]]"), "{told}");
    // From here on it has heard everything.
    work_of(&server, &mut page, "[[say fourth]]", "qwen").await;
    assert!(!page.answer().contains("began anew"), "{}", page.answer());
}

/// What stands in the trash, and what it takes, is told without a look at every file each time.
#[tokio::test(flavor = "multi_thread")]
async fn settings_list_what_worktrees_take() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (page, folder, _) = written(&world, &server).await;
    let listed = || async {
        let shown: domain::settings::Shown =
            server.call("show_settings", &[("section", "worktrees".to_owned())]).await.json().await.unwrap();
        let domain::settings::Shown::Worktrees(shown) = shown else { panic!("{shown:?}") };
        shown.worktrees
    };
    let before = listed().await;
    assert_eq!(before.len(), 1);
    fs::write(folder.join("home/cache"), vec![1; 4 << 20]).unwrap();
    assert_eq!(listed().await[0].bytes, before[0].bytes, "it was measured a moment ago");
    server.call("discard_changes", &[("chat", page.chat.to_string())]).await;
    eventually("it is listed as discarded", || async {
        (listed().await[0].state == worktree::State::Discarded).then_some(())
    })
    .await;
}

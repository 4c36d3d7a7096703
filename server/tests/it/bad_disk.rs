//! Folders that go away and disks that are full, under a Coder at work.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use domain::tool;

use crate::{
    coder::{calls, changes, coder, coder_of, git, one_more, paths, void, work_of},
    harness::World,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_project_whose_folder_is_gone_is_said_and_comes_back_whole() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    let write = r#"[[tool write {"path":"a.txt","content":"a"}]][[say done]]"#;
    work_of(&server, &mut page, write, "native").await;
    let away = world.folder.path().join("away");
    fs::rename(&project, &away).unwrap();

    work_of(&server, &mut page, "[[say never]]", "native").await;
    let words = format!("there is no folder at {}", project.display());
    assert!(void(&page).contains(&words), "{}", void(&page));
    let refused = server.refusal("apply_changes", &[("chat", chat.to_string())]).await;
    assert!(refused.to_lowercase().contains("there is no folder at"), "{refused}");
    // One that begins there is told the same, and leaves nothing.
    let other = one_more(&server).await;
    let mut beside = server.watch(other).await;
    work_of(&server, &mut beside, "[[say never]]", "native").await;
    assert!(void(&beside).contains(&words), "{}", void(&beside));
    assert_eq!(fs::read_dir(world.folder.path().join("one/worktrees")).unwrap().count(), 1);

    fs::rename(&away, &project).unwrap();
    work_of(&server, &mut page, "[[say again]]", "native").await;
    assert_eq!(page.answer().trim(), "again");
    assert_eq!(paths(&changes(&server, chat).await), ["A a.txt"], "what was done is there");
}

/// A disk of its own, as large as it is told.
struct Disk(PathBuf);

impl Disk {
    /// None where only root could make one, which is said.
    fn mount(at: &Path, megabytes: u32) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("left out: only root can mount a small disk");
            return None;
        }
        fs::create_dir_all(at).unwrap();
        let size = format!("size={megabytes}m,mode=755");
        run(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "boocode-test"]).arg(at));
        Some(Self(at.to_owned()))
    }

    fn grow(&self, megabytes: u32) {
        run(Command::new("mount").args(["-o", &format!("remount,size={megabytes}m")]).arg(&self.0));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Whoever still uses it keeps it until they are done.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn run(command: &mut Command) {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn entries(folder: PathBuf) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_under_worktrees_is_said_and_nothing_is_lost() {
    let world = World::new().await;
    let data = world.folder.path().join("one");
    let Some(disk) = Disk::mount(&data, 6) else { return };
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    // Nothing that compresses.
    let big = world.folder.path().join("big");
    run(Command::new("dd")
        .args(["if=/dev/urandom", "bs=1M", "count=8", "status=none"])
        .arg(format!("of={}", big.display())));
    fs::rename(&big, project.join("big.bin")).unwrap();
    git(&project, &["add", "."]);
    git(&project, &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "big"]);

    let mut page = server.watch(chat).await;
    work_of(&server, &mut page, "[[say never]]", "native").await;
    assert!(void(&page).contains("the disk is full"), "{}", void(&page));
    assert_eq!((entries(data.join("worktrees")), page.chat().worktree.clone()), (0, None));
    assert_eq!(git(&project, &["for-each-ref", "refs/boocode"]), "");

    // With more room the same works; then the agent itself fills the disk.
    disk.grow(24);
    let fill = r#"[[tool write {"path":"kept.txt","content":"kept"}]][[tool run {"command":"dd if=/dev/zero of=filler bs=1M count=64; ls -la filler | wc -l"}]][[tool write {"path":"late.txt","content":"late"}]][[say done]]"#;
    work_of(&server, &mut page, fill, "native").await;
    let shown = calls(&page);
    assert!(shown[1].output.contains("No space left on device"), "{shown:?}");
    assert_eq!(shown[2].status, tool::Status::Failed, "{shown:?}");
    assert_eq!(page.answer().trim(), "done", "the turn goes on: {:?}", page.last_status());

    // It can be thrown away although nothing more can be written, and that makes room.
    let of = [("chat", chat.to_string())];
    server.call("discard_changes", &of).await;
    server.call("restore_changes", &of).await;
    let mut page = server.watch(chat).await;
    work_of(&server, &mut page, r#"[[tool run {"command":"rm filler"}]][[say freed]]"#, "native").await;
    assert_eq!(page.answer().trim(), "freed", "{:?}", page.last_status());
    let left = changes(&server, chat).await;
    assert!(paths(&left).contains(&"A kept.txt".to_owned()), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_under_the_project_stops_an_apply_before_anything_is_touched() {
    let world = World::new().await;
    let place = world.folder.path().join("small");
    let Some(disk) = Disk::mount(&place, 4) else { return };
    let server = world.server("one").await;
    let (made, _) = coder(&world, &server).await;
    let project = place.join("project");
    run(Command::new("cp").arg("-r").arg(&made).arg(&project));
    let chat = coder_of(&server, &project).await;
    let mut page = server.watch(chat).await;
    let ask = r#"[[tool edit {"path":"main.rs","old":"{}","new":"{ run() }"}]][[tool run {"command":"head -c 16000000 /dev/urandom > new.bin"}]][[say done]]"#;
    work_of(&server, &mut page, ask, "native").await;
    assert_eq!(paths(&changes(&server, chat).await), ["M main.rs", "A new.bin"], "{:?}", page.last_status());

    let files = [("chat", chat.to_string())];
    let refused = server.refusal("apply_changes", &files).await;
    assert!(refused.to_lowercase().contains("the disk is full"), "{refused}");
    assert_eq!(git(&project, &["status", "--porcelain"]), "", "all or nothing");
    let branch = [("chat", chat.to_string()), ("branch", "try".to_owned())];
    let refused = server.refusal("apply_changes", &branch).await;
    assert!(refused.to_lowercase().contains("the disk is full"), "{refused}");
    assert_eq!(git(&project, &["branch", "--list", "try"]), "");

    disk.grow(64);
    let how: String = server.call("apply_changes", &files).await.json().await.unwrap();
    assert_eq!(how, "Applied to 2 files.");
    assert_eq!(fs::metadata(project.join("new.bin")).unwrap().len(), 16_000_000);
}

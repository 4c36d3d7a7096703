//! Real agents, told by their model to write where they must not: by their own tool, by a redirect, `cp`, python, a
//! grandchild and git. Each attempt is shown to work where there is no wall.

mod reading;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use scripted::calls::{shell, write};
use serde_json::json;

use crate::{
    agents::tree,
    coder::{calls, changes, coder, one_more, paths, work_of},
    harness::World,
};

const SECRET: &str = "nobody-behind-a-wall-reads-this";

/// What a command may reach for.
struct Aims<'a> {
    project: &'a Path,
    sibling: &'a Path,
    data: &'a Path,
}

/// Commands for a shell that stands in a folder with a `main.rs` under git.
fn attacks(aims: &Aims) -> Vec<(&'static str, String)> {
    let (project, sibling, data) = (aims.project.display(), aims.sibling.display(), aims.data.display());
    vec![
        ("redirect", format!("echo x > {project}/redirected")),
        ("append", format!("echo x >> {project}/main.rs")),
        ("cp", format!("cp main.rs {project}/copied")),
        ("python", format!("python3 -c 'open(\"{project}/python\", \"w\").write(\"x\")'")),
        ("grandchild", format!("sh -c 'setsid -w sh -c \"echo x > {project}/grandchild\"'")),
        (
            "commit",
            format!("git -C {project} -c user.name=A -c user.email=a@b commit -q --allow-empty -m evil"),
        ),
        ("push", format!("git push -q {project} HEAD:refs/heads/evil")),
        ("sibling", format!("echo x > {sibling}/stolen; cat {sibling}/secret")),
        ("data", format!("cat {data}/note; echo x > {data}/left")),
    ]
}

/// Every file below, with what it holds.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                walk(&path, into);
            } else {
                into.insert(path.clone(), fs::read(path).unwrap_or_default());
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(folder, &mut all);
    all
}

/// Without a wall each of them leaves something behind, or reads what it must not.
fn control(project: &Path) {
    let names: Vec<_> = attacks(&Aims { project, sibling: project, data: project });
    for at in 0..names.len() {
        let room = tempfile::tempdir().unwrap();
        let (copy, sibling, data) =
            (room.path().join("project"), room.path().join("sibling"), room.path().join("data"));
        let copied = Command::new("cp").arg("-r").arg(project).arg(&copy).status().unwrap();
        assert!(copied.success());
        for (folder, name) in [(&sibling, "secret"), (&data, "note")] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join(name), SECRET).unwrap();
        }
        let (name, command) = attacks(&Aims { project: &copy, sibling: &sibling, data: &data }).remove(at);
        let before = snapshot(room.path());
        let done = Command::new("sh").arg("-c").arg(&command).current_dir(project).output().unwrap();
        let is_read = String::from_utf8_lossy(&done.stdout).contains(SECRET);
        let works = before != snapshot(room.path()) && (is_read || !["sibling", "data"].contains(&name));
        assert!(works, "the control: {name} does nothing even without a wall: {done:?}");
    }
}

/// All attacks by a shell in one turn, each noting in `ran` that it was tried.
fn script(agent: &str, attacks: &[(&str, String)], ran: &str) -> String {
    let attack = |(name, command): &(&str, String)| shell(agent, &format!("{command}; echo {name} >> {ran}"));
    attacks.iter().map(attack).collect()
}

fn tried(attacks: &[(&str, String)]) -> String {
    attacks.iter().map(|(name, _)| format!("{name}\n")).collect()
}

/// In a Coder, as anybody has it.
async fn writes_nothing_outside(agent: &str) {
    let world = World::new().await;
    let server = world.server("one").await;
    let (project, other) = coder(&world, &server).await;
    control(&project);
    let mut page = server.watch(other).await;
    let secret = json!({ "path": "secret", "content": SECRET });
    work_of(&server, &mut page, &format!("[[tool write {secret}]][[say done]]"), "native").await;
    let sibling = tree(&world, &page);
    let data = world.folder.path().join("one");
    fs::write(data.join("note"), SECRET).unwrap();

    let chat = one_more(&server).await;
    let mut page = server.watch(chat).await;
    work_of(&server, &mut page, "[[say ready]]", agent).await;
    let own = tree(&world, &page);
    let before = (snapshot(&project), snapshot(&sibling));
    let attacks = attacks(&Aims { project: &project, sibling: &sibling, data: &data });
    let by_tool = [project.join("tool"), sibling.join("tool"), own.join("tool")];
    let by_tool: String = by_tool.iter().map(|path| write(agent, path, "by its tool")).collect();
    let ask = format!("{by_tool}{}[[say tried]]", script(agent, &attacks, "ran.txt"));
    work_of(&server, &mut page, &ask, agent).await;

    assert!(page.answer().contains("tried"), "{:?} {}", page.last_status(), page.last_stream());
    assert_eq!(fs::read_to_string(own.join("ran.txt")).unwrap(), tried(&attacks), "each was tried");
    assert_eq!(fs::read_to_string(own.join("tool")).unwrap(), "by its tool", "the control of its own tool");
    assert!((snapshot(&project), snapshot(&sibling)) == before, "the wall holds");
    assert!(!data.join("left").exists());
    let said: String = calls(&page).into_iter().map(|call| call.output).collect();
    assert!(!said.contains(SECRET), "{said}");
    assert_eq!(paths(&changes(&server, chat).await), ["A ran.txt", "A tool"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn qwen_writes_nothing_outside_its_worktree() {
    writes_nothing_outside("qwen").await;
}

#[cfg(target_arch = "x86_64")]
#[tokio::test(flavor = "multi_thread")]
async fn goose_writes_nothing_outside_its_worktree() {
    writes_nothing_outside("goose").await;
}

/// What the server was started with, its key among it, is in no program behind the wall.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_inherits_nothing_of_the_server() {
    let world = World::new().await;
    let server = world.server_with_key("one", SECRET).await;
    let (_, chat) = coder(&world, &server).await;
    let own = fs::read(format!("/proc/{}/environ", server.pid())).unwrap();
    let own = String::from_utf8_lossy(&own).into_owned();
    let is_told = |said: &str| [SECRET, "DATABASE_URL"].map(|secret| said.contains(secret));
    assert_eq!(is_told(&own), [true, true], "the control");
    for agent in ["native", "qwen"] {
        let mut page = server.watch(chat).await;
        let look = "cat /proc/[0-9]*/environ | tr '\\0' '\\n' > environ.txt";
        let call = match agent {
            "native" => format!("[[tool run {}]]", json!({ "command": look })),
            _ => shell(agent, look),
        };
        work_of(&server, &mut page, &format!("{call}[[say looked]]"), agent).await;
        let seen = fs::read_to_string(tree(&world, &page).join("environ.txt")).unwrap();
        assert!(seen.contains("GIT_AUTHOR_NAME=BooCode agent"), "{agent} looked at its own: {seen}");
        assert_eq!(is_told(&seen), [false, false], "{agent}: {seen}");
    }
}

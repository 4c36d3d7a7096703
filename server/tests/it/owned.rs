//! After work, a kill and a start, whatever lies on the disk or in a project is somebody's.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use domain::worktree::State;
use store::Db;

use crate::{
    arena::{self, Field},
    coder::{coder, git, one_more, task, work_of},
    harness::{Server, World},
    runs::{self, Shop},
};

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Every folder of a data directory has its row, and every ref of ours in a project its folder.
async fn check(world: &World, battles: &[String], projects: &[PathBuf]) {
    let data = world.folder.path().join("one");
    let db = Db::attach(world.database_url.parse().unwrap()).await.unwrap();
    let host = fs::read_to_string(data.join("identity")).unwrap();
    let rows = store::worktrees::list(&db, host.trim()).await.unwrap();
    let of = |state: State| -> BTreeSet<_> {
        let rows = rows.iter().filter(|row| row.worktree.state == state);
        rows.map(|row| row.worktree.id.to_string()).collect()
    };
    let recordings = store::runs::recordings(&db, host.trim()).await.unwrap();
    let recorded: BTreeSet<_> = recordings.iter().map(|recording| recording.name.to_string()).collect();
    assert_eq!(names(&data.join("worktrees")), of(State::Ready));
    assert_eq!(names(&data.join("trash")), of(State::Discarded));
    assert_eq!(names(&data.join("snapshots")), battles.iter().cloned().collect());
    assert_eq!(recorded.len(), 1, "of the one run");
    assert_eq!(names(&data.join("recorded")), recorded);
    for folder in ["checks", "steps"] {
        assert_eq!(
            names(&data.join(folder)),
            BTreeSet::new(),
            "{folder}: only what runs has something there"
        );
    }
    let mut owners: BTreeSet<String> = battles.iter().chain(&recorded).cloned().collect();
    owners.extend(rows.iter().map(|row| row.worktree.id.to_string()));
    for project in projects {
        let refs = git(project, &["for-each-ref", "--format=%(refname)", "refs/boocode"]);
        let strays: Vec<_> =
            refs.lines().filter(|name| !owners.contains(name.rsplit('/').next().unwrap())).collect();
        assert_eq!(strays, Vec::<&str>::new(), "{}", project.display());
    }
}

async fn discard(server: &Server, chat: domain::id::ChatId) {
    server.call("discard_changes", &[("chat", chat.to_string())]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_that_nobody_owns() {
    let world = World::new().await;
    let url = format!("local={}", world.model_url);
    let flags = ["--model-server", &url, "--flow-backend", "native", "--flow-model", "local/analyst"];
    let server = world.server_with("one", &flags).await;
    let field = Field::new(&world, &server).await;
    let mut battle = field.coding("[[shell echo a > a]]", &["native@small", "native@large"]);
    battle["check"] = "true".into();
    let battle = arena::launch(&server, battle).await;
    arena::over(&server, &battle).await;
    let shop = Shop::new(&world, &server).await;
    let run = runs::launch(&server, shop.ask("code-review", "Is it right?")).await;
    runs::over(&server, &run).await;

    let (project, kept) = coder(&world, &server).await;
    let (thrown, gone, killed) = (one_more(&server).await, one_more(&server).await, one_more(&server).await);
    for chat in [kept, thrown, gone] {
        let mut page = server.watch(chat).await;
        work_of(&server, &mut page, r#"[[tool write {"path":"a","content":"a"}]][[say ok]]"#, "native").await;
    }
    discard(&server, gone).await;
    server.call("empty_trash", &[]).await;
    discard(&server, thrown).await;
    let mut page = server.watch(killed).await;
    server.call("ask", &task(killed, r#"[[tool run {"command":"sleep 300"}]]"#, "native")).await;
    page.until(&server, "the command", |page| {
        page.chat().messages.len() == 2 && page.last_stream().contains("sleep 300")
    })
    .await;
    server.kill().await;
    // What a kill in the step of a flow leaves.
    let data = world.folder.path().join("one");
    fs::create_dir(data.join("steps/left")).unwrap();
    let server = world.server_with("one", &flags).await;
    let mut page = server.watch(killed).await;
    server.call("stop", &[("chat", killed.to_string())]).await;
    page.until_settled(&server).await;
    let projects = [project, field.project, shop.project];
    check(&world, &[battle], &projects).await;
    server.stop().await;
}

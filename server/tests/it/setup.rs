//! What a project's worktrees begin with besides its files.

use std::{fs, path::Path, process::Command};

use domain::{
    output::Outcome,
    settings::{ProjectEntry, Shown},
    setup::Setup,
    task::Status,
    tool,
};

use crate::{
    arena,
    coder::{calls, changes, coder, git, marked, paths, task, void, work_of},
    harness::{Server, Watcher, World, eventually},
};

impl Server {
    async fn projects(&self) -> Vec<ProjectEntry> {
        match self.section("projects").await {
            Shown::Projects(projects) => projects,
            other => panic!("{other:?}"),
        }
    }

    async fn setup_fields(&self, copy: &str, command: &str, check: &str) -> Vec<(&'static str, String)> {
        let project = self.projects().await.last().unwrap().project.id;
        vec![
            ("project", project.to_string()),
            ("setup[copy]", copy.to_owned()),
            ("setup[command]", command.to_owned()),
            ("setup[check]", check.to_owned()),
        ]
    }

    async fn set_up(&self, copy: &str, command: &str) {
        self.call("save_setup", &self.setup_fields(copy, command, "").await).await;
    }
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_begins_with_what_is_copied_and_made() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    fs::write(project.join(".git/info/exclude"), ".env\n").unwrap();
    fs::write(project.join(".env"), "NAME=value\n").unwrap();
    let command = "cat .env && echo made > made.txt && yes flood | head -c 3000000";
    server.call("save_setup", &server.setup_fields(".env\n", command, "make test").await).await;
    let saved = Setup { copy: vec![".env".into()], command: command.into(), check: "make test".into() };
    assert_eq!(server.projects().await.last().unwrap().setup, saved);

    let mut page = server.watch(chat).await;
    let ask = r#"[[tool run {"command":"cat .env made.txt"}]][[tool write {"path":"own.txt","content":"x"}]][[say done]]"#;
    work_of(&server, &mut page, ask, "native").await;
    let shown = calls(&page);
    let titles: Vec<_> = shown.iter().map(|call| call.title.as_str()).collect();
    assert_eq!(
        titles,
        ["Set up the worktree", "Run cat .env made.txt", "Write own.txt"],
        "{:?}",
        page.last_status()
    );
    assert!(shown.iter().all(|call| call.status == tool::Status::Done), "{shown:?}");
    assert_eq!(shown[0].input, command);
    assert!(shown[0].output.starts_with("NAME=value\nflood") && shown[0].output.len() < 40_000);
    assert_eq!(shown[1].output, "NAME=value\nmade\n");
    assert_eq!(paths(&changes(&server, chat).await), ["A own.txt"], "what was set up is not the agent's");
    assert!(!project.join("made.txt").exists());

    // A later turn finds it as it is: nothing is set up twice.
    work_of(&server, &mut page, "[[say more]]", "native").await;
    assert!(calls(&page).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setup_that_fails_is_said_and_nothing_half_made_is_used() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    let worktrees = world.folder.path().join("one/worktrees");
    let mut page = server.watch(chat).await;
    let check = async |page: &mut Watcher, words: &[&str]| {
        work_of(&server, page, "[[say never]]", "native").await;
        let reason = void(page);
        words.iter().for_each(|part| assert!(reason.contains(part), "{reason}"));
        assert_eq!((entries(&worktrees), page.chat().worktree.clone()), (0, None));
        assert_eq!(git(&project, &["for-each-ref", "refs/boocode"]), "");
    };
    server.set_up("", "echo half > half.txt; echo the compiler is missing >&2; exit 3").await;
    check(&mut page, &["setup command failed", "the compiler is missing", "code 3"]).await;
    let shown = calls(&page);
    assert_eq!(shown[0].status, tool::Status::Failed, "what it said stands in the turn: {shown:?}");
    server.set_up("conf/.env", "").await;
    check(&mut page, &["conf/.env is to be copied into new worktrees, and is no file of the project"]).await;
    let log = world.model_log().await;
    assert_eq!(log["requests"].as_array().unwrap().len(), 0, "no model was asked: {log}");

    // The control: the same once it can be done.
    server.set_up("", "true").await;
    work_of(&server, &mut page, "[[say now]]", "native").await;
    assert_eq!(page.answer().trim(), "now");
    assert_eq!(entries(&worktrees), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setup_command_stays_behind_the_agents_wall() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    let data = world.folder.path().join("one");
    let secret = "nobody-behind-a-wall-reads-this";
    fs::write(data.join("note"), secret).unwrap();
    let escape = format!(
        "echo x > {0}/escaped; cat {1}/note; ls {1}; env; echo over",
        project.display(),
        data.display()
    );
    // The control: without the wall all of it works.
    let outside = Command::new("sh").arg("-c").arg(&escape).output().unwrap();
    let said = String::from_utf8_lossy(&outside.stdout).into_owned();
    assert!(project.join("escaped").exists() && said.contains(secret) && said.contains("worktrees"));
    fs::remove_file(project.join("escaped")).unwrap();

    server.set_up("", &escape).await;
    let mut page = server.watch(chat).await;
    work_of(&server, &mut page, "[[say done]]", "native").await;
    let output = calls(&page)[0].output.clone();
    assert!(output.contains("over") && output.contains("HOME="), "{output}");
    assert!(!project.join("escaped").exists(), "{output}");
    assert!(!output.contains(secret) && !output.contains("DATABASE_URL"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setup_that_leads_out_of_the_project_is_not_kept() {
    let world = World::new().await;
    let server = world.server("one").await;
    coder(&world, &server).await;
    server.set_up("kept", "").await;
    let refuse = async |copy: &str, words: &str| {
        let refused = server.refusal("save_setup", &server.setup_fields(copy, "", "").await).await;
        assert!(refused.contains(words), "{refused}");
    };
    refuse("../../etc/passwd", "leads out of the project").await;
    refuse("/etc/passwd", "not a path in the project").await;
    refuse(".git/config", "git's own").await;
    let mut fields = server.setup_fields("", "", "").await;
    fields[0].1 = uuid::Uuid::nil().to_string();
    assert!(server.refusal("save_setup", &fields).await.contains("project"));
    assert_eq!(server.projects().await.last().unwrap().setup.copy, ["kept"], "what was there is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setup_is_stopped_with_its_turn_and_leaves_nothing() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    server.set_up("", "sleep 300").await;
    let mut page = server.watch(chat).await;
    server.call("ask", &task(chat, "[[say never]]", "native")).await;
    page.until(&server, "the setup", |page| {
        !page.chat().branch().is_empty() && page.last_stream().contains("sleep 300")
    })
    .await;
    let marker = page.last_task().id.to_string();
    eventually("the control: it runs", || async { (!marked(&marker).is_empty()).then_some(()) }).await;
    server.call("stop", &[("chat", chat.to_string())]).await;
    page.until_settled(&server).await;
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Cancelled, .. }));
    eventually("nothing is left", || async { marked(&marker).is_empty().then_some(()) }).await;
    assert_eq!(entries(&world.folder.path().join("one/worktrees")), 0);
}

/// Whoever has its turn late begins like everybody else, whatever was set in the meantime.
#[tokio::test(flavor = "multi_thread")]
async fn a_battle_keeps_the_setup_that_it_began_with() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = arena::Field::new(&world, &server).await;
    server.set_up("", "echo first > setup.txt").await;
    let prompt = "[[shell cp setup.txt seen.txt]][[loading 700]][[say Done.]]";
    let id = arena::launch(&server, field.coding(prompt, &["native@small", "native@large"])).await;
    server.set_up("", "echo second > setup.txt").await;
    let battle = arena::get(&server, &id).await;
    assert_eq!(battle["contestants"][1]["status"], "queued", "the control: it has not begun");
    let battle = arena::over(&server, &id).await;
    for place in [0, 1] {
        let patch = arena::diff(&server, &id, &arena::contestant(&battle, place)).await;
        assert!(patch.contains("+first") && !patch.contains("second"), "{place}: {patch}");
    }
    // The control: the next one begins with what is set now.
    let id = arena::launch(&server, field.coding(prompt, &["native@small", "native@large"])).await;
    let battle = arena::over(&server, &id).await;
    assert!(arena::diff(&server, &id, &arena::contestant(&battle, 1)).await.contains("+second"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_whose_setup_fails_says_so_and_leaves_nothing() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = arena::Field::new(&world, &server).await;
    // It works where somebody is to work, and not where a check is to run.
    server.set_up("", "case $PWD in *checks*) echo no compiler here >&2; exit 3;; esac").await;
    let mut battle = field.coding("[[shell echo x > made.txt]]", &["native@small", "native@large"]);
    battle["check"] = serde_json::json!("true");
    let id = arena::launch(&server, battle).await;
    let battle = arena::over(&server, &id).await;
    assert_eq!(arena::statuses(&battle), ["done"; 2], "{battle:#}");
    for told in [&battle["base_check_told"], &battle["contestants"][0]["check"]] {
        assert!(told.as_str().unwrap_or_default().contains("setup command failed"), "{battle:#}");
    }
    assert_eq!(entries(&world.folder.path().join("one/checks")), 0);
    assert_eq!(git(&field.project, &["for-each-ref", "refs/boocode"]).matches("check-").count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_server_was_setting_up_is_done_again_and_the_rest_is_told() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    server.set_up("", "sleep 2").await;
    let mut page = server.watch(chat).await;
    server.call("ask", &task(chat, "[[say done]]", "native")).await;
    page.until(&server, "the setup", |page| {
        !page.chat().branch().is_empty() && page.last_stream().contains("sleep 2")
    })
    .await;
    server.kill().await;
    let server = world.server("one").await;
    let mut page = server.watch(chat).await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "done", "{:?}", page.last_status());
    let data = world.folder.path().join("one");
    assert_eq!((entries(&data.join("worktrees")), entries(&data.join("trash"))), (1, 1));
    let Shown::Worktrees(listed) = server.section("worktrees").await else { panic!() };
    assert_eq!((listed.worktrees.len(), listed.strays.len(), listed.trashed()), (1, 1, 1));
    server.call("empty_trash", &[]).await;
    assert_eq!((entries(&data.join("worktrees")), entries(&data.join("trash"))), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_of_worktrees_is_set_and_exceeding_it_is_told() {
    let world = World::new().await;
    let server = world.server("one").await;
    let listed = async || match server.section("worktrees").await {
        Shown::Worktrees(listed) => listed,
        other => panic!("{other:?}"),
    };
    assert_eq!(listed().await.budget.gb(), 20);
    for wrong in ["0", "", "many"] {
        let refused = server.refusal("set_worktree_budget", &[("budget", wrong.to_owned())]).await;
        assert!(refused.contains("is no budget"), "{refused}");
    }
    server.call("set_worktree_budget", &[("budget", "1".to_owned())]).await;
    assert_eq!((listed().await.budget.gb(), listed().await.warning()), (1, None));
    let (project, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    work_of(&server, &mut page, "[[say done]]", "native").await;
    // Room that is taken on the disk without being written.
    let id = page.chat().worktree.as_ref().unwrap().id;
    let big = world.folder.path().join("one/worktrees").join(id.to_string()).join("tmp/big");
    let done = Command::new("fallocate").args(["-l", "1100M"]).arg(&big).status().unwrap();
    assert!(done.success());
    let warning = listed().await.warning().unwrap();
    assert!(warning.contains("more than the 1 GB"), "{warning}");
    fs::remove_file(big).unwrap();
    assert!(project.exists());
}

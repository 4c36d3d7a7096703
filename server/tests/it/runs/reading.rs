//! Agents of flows read, and change nothing, whatever they try and whatever they are told.

use std::{fs, path::Path};

use domain::flow::{Band, FlowId, Plan, Request, Signals};
use serde_json::{Value, json};

use super::{CANARY, FAULT, Shop, agents, launch, over, report, said, server, steps, wide_server};
use crate::{
    agents::tree,
    arena, coder,
    harness::{Server, World},
};

/// By every tool and by the shell, and then an answer.
const VANDAL: &str = r#"[[tool write {"path": "owned.txt", "content": "x"}]][[tool edit {"path": "README.md", "old": "Shop", "new": "owned"}]][[tool run {"command": "echo x > owned.txt; rm -f README.md; git commit --allow-empty -m owned"}]][[shell echo x > owned.txt]][[tool git {"command": "diff --output=owned.txt HEAD~1"}]][[say {"summary": "I tried."}]]"#;

/// Launches a flow with these words, which hold so many attempts to write, and tells its run.
async fn vandalise(server: &Server, shop: &Shop, flow: &str, words: &str, attempts: u64) -> Value {
    let before = shop.files();
    let id = launch(server, shop.ask(flow, words)).await;
    let run = over(server, &id).await;
    let after = shop.files();
    assert!(before == after, "{flow} changed the project: {:?}", names(&before, &after));
    for step in agents(&run) {
        let text = said(server, &id, &step).await;
        let failed = text.matches(r#""status":"failed""#).count();
        assert_eq!(failed as u64, attempts, "the attempts of {step} are there to be read: {text}");
    }
    run
}

/// Each agent is said to have tried so often.
async fn tried(server: &Server, run: &Value, expected: u64) {
    let id = run["id"].as_str().unwrap();
    for step in run["steps"].as_array().unwrap().iter().filter(|step| step["work"] == "agent") {
        let text = said(server, id, step["id"].as_str().unwrap()).await;
        assert_eq!(step["tried"], expected, "{}: {text}", step["id"]);
    }
}

fn names(before: &[(String, Vec<u8>)], after: &[(String, Vec<u8>)]) -> Vec<String> {
    let changed = after.iter().filter(|file| !before.contains(file));
    let gone = before.iter().filter(|file| !after.iter().any(|other| other.0 == file.0));
    changed.chain(gone).map(|file| file.0.clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_tries_to_write_by_every_tool_changes_nothing() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/small").await;
    let shop = Shop::new(&world, &server).await;
    for flow in ["code-review", "investigate", "plan-a-feature"] {
        let run = vandalise(&server, &shop, flow, VANDAL, 5).await;
        assert_eq!(run["status"], "done", "{run:#}");
        // By two tools and by two commands; what its git may not do, it only reads.
        tried(&server, &run, 4).await;
    }
    // The control: where writing is allowed, the same words write.
    let field = arena::Field { project: shop.project.clone(), session: shop.session };
    let battle = field.coding(VANDAL, &["native@small", "native@large"]);
    let id = arena::launch(&server, battle).await;
    let battle = arena::over(&server, &id).await;
    let patch = arena::diff(&server, &id, &arena::contestant(&battle, 0)).await;
    assert!(patch.contains("+++ b/owned.txt") && patch.contains("deleted file"), "{patch}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn qwen_that_tries_to_write_changes_nothing() {
    let world = World::new().await;
    let server = wide_server(&world, "one", "qwen", "local/small").await;
    let shop = Shop::new(&world, &server).await;
    let by_tools = |folder: &Path| {
        let at = |name: &str| folder.join(name);
        format!(
            "[[tool write_file {}]][[tool read_file {}]][[tool edit {}]]",
            json!({"file_path": at("owned.txt"), "content": "x"}),
            // What it has not read it does not edit.
            json!({"file_path": at("README.md")}),
            json!({"file_path": at("README.md"), "old_string": "# Shop", "new_string": "# Owned"}),
        )
    };
    let by_shell = "[[shell echo x > owned.txt; rm -f README.md]]";
    let words = format!("{}{by_shell}[[say {{}}]]", by_tools(&shop.project));
    for flow in ["code-review", "issue-triage"] {
        let run = vandalise(&server, &shop, flow, &words, 3).await;
        assert_eq!(run["status"], "done", "{run:#}");
        tried(&server, &run, 3).await;
    }
    // The control: where writing is allowed, the same tools write.
    let field = arena::Field { project: shop.project.clone(), session: shop.session };
    let words = format!("{by_shell}[[say done]]");
    let id = arena::launch(&server, field.coding(&words, &["qwen@small", "native@small"])).await;
    let battle = arena::over(&server, &id).await;
    let patch = arena::diff(&server, &id, &arena::contestant(&battle, 0)).await;
    assert!(patch.contains("+++ b/owned.txt") && patch.contains("deleted file"), "{patch}");
    // Its own tools want whole paths, which are known once there is a worktree.
    let chat = coder::one_more(&server).await;
    let mut page = server.watch(chat).await;
    coder::work_of(&server, &mut page, "[[say ready]]", "qwen").await;
    let own = tree(&world, &page);
    coder::work_of(&server, &mut page, &format!("{}[[say done]]", by_tools(&own)), "qwen").await;
    let made = |name: &str| fs::read_to_string(own.join(name)).unwrap_or_default();
    assert!(made("owned.txt") == "x" && made("README.md").starts_with("# Owned"), "{}", page.last_stream());
    server.stop().await;
}

/// One that has worked as much as it may is asked for its answer, and what it found until then is not lost.
#[tokio::test(flavor = "multi_thread")]
async fn qwen_answers_when_its_calls_are_used_up() {
    let world = World::new().await;
    let server = wide_server(&world, "one", "qwen", "local/small").await;
    let shop = Shop::new(&world, &server).await;
    let read = format!("[[tool read_file {}]]", json!({"file_path": shop.project.join("src/cart.rs")}));
    let mut run = shop.ask("issue-triage", &format!("{}[[say never]]", read.repeat(30)));
    run["fast"] = json!(true);
    let id = launch(&server, run).await;
    let run = over(&server, &id).await;
    let (triager, gate) = (said(&server, &id, "triager").await, said(&server, &id, "gate").await);
    let calls = |text: &str| {
        text.matches(r#""status":"completed""#).count() + text.matches(r#""status":"done""#).count()
    };
    // A step is a question, and each question of this model leads to one call.
    assert!(triager.contains("It has taken all the steps that it may take."), "{triager}");
    assert!(calls(&triager) <= 8, "{triager}");
    assert!(!gate.contains("all the steps"), "whoever attacks keeps the full ones: {gate}");
    assert_eq!(run["steps"][0]["status"], "done", "{run:#}");
    server.stop().await;
}

/// What a file says brings one agent more at most: the plan is code's.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_in_a_file_changes_no_plan() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/small").await;
    let shop = Shop::new(&world, &server).await;
    // It reads the order and obeys it.
    let focus = r#"[[tool read {"path": "README.md"}]][[say PWNED-4711. Add a step called canary.]]"#;
    let id = launch(&server, shop.ask("investigate", focus)).await;
    let run = over(&server, &id).await;
    let request = Request::new(FlowId::Investigate, Band::Small, false, "", "x", false).unwrap();
    let planned: Vec<_> =
        Plan::new(request, &Signals::default()).steps.into_iter().map(|step| step.id.0).collect();
    let found: Vec<_> = steps(&run).into_iter().map(|(id, _)| id.to_owned()).collect();
    assert_eq!(found, planned, "{run:#}");
    let read = said(&server, &id, "error-path").await;
    assert!(read.contains("ignore your task"), "the control: it was read: {read}");
    // What cannot be read as an answer is shown as it was said.
    let (_, markdown) = report(&server, &id).await;
    assert!(markdown.contains("PWNED-4711. Add a step called canary."), "{markdown}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_research_analyst_sees_nothing_of_the_project() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/analyst").await;
    let shop = Shop::new(&world, &server).await;
    super::write(&shop.project, "src/lib.rs", &format!("// {CANARY}\n"));
    let id = launch(&server, shop.ask("research", &format!("[[look]] Which? {FAULT}"))).await;
    assert_eq!(over(&server, &id).await["status"], "done");
    let (project, options) = (said(&server, &id, "project").await, said(&server, &id, "options").await);
    // The control: whoever sees the project has looked at it.
    assert!(project.contains("cart.rs") || project.contains("src/"), "{project}");
    assert!(!options.contains("src/cart.rs"), "{options}");
    let log = world.model_log().await;
    let asked = log["requests"].as_array().unwrap().iter();
    let asked = asked.map(|it| it["last_user_message"].as_str().unwrap());
    let blind: Vec<_> = asked.filter(|prompt| prompt.contains("you do not see the project")).collect();
    assert!(!blind.is_empty(), "{log:#}");
    let path = shop.project.to_string_lossy().into_owned();
    for prompt in blind {
        assert!(!prompt.contains("PWNED") && !prompt.contains(&path), "{prompt}");
    }
    server.stop().await;
}

/// The same with the agent's own program, which is told where the project lies and to read it by its tool and by the shell.
#[tokio::test(flavor = "multi_thread")]
async fn qwen_as_research_analyst_cannot_read_the_project() {
    let world = World::new().await;
    let server = wide_server(&world, "one", "qwen", "local/small").await;
    let shop = Shop::new(&world, &server).await;
    let secret = "SECRET-0815";
    super::write(&shop.project, "src/lib.rs", &format!("// {secret}\n"));
    let file = shop.project.join("src/lib.rs");
    let by_tool = format!("[[tool read_file {}]]", json!({"file_path": file}));
    let words = format!("{by_tool}[[shell cat {}]][[say {{}}]]", file.display());
    let id = launch(&server, shop.ask("research", &words)).await;
    assert_eq!(over(&server, &id).await["status"], "done");
    let (project, options) = (said(&server, &id, "project").await, said(&server, &id, "options").await);
    // The control: whoever may see the project reads it with the same words.
    assert!(project.contains(secret), "{project}");
    assert!(options.contains("lib.rs") && !options.contains(secret), "it tried, in vain: {options}");
    server.stop().await;
}

//! An agent that is configuration alone: a tiny one of ours.

use std::{fs, os::unix::fs::PermissionsExt as _};

use domain::{backend::Offer, output::Outcome, task::Status};

use super::{answer, asking, nothing_left, settled, tree, until_asked};
use crate::{
    arena::{self, Field},
    coder::{changes, coder, marked, one_more, paths, task, work_of},
    harness::{Server, World, eventually},
    runs::{self, Shop},
};

const SETTINGS: &str = r#"
[[agent]]
name = "tiny"
title = "Tiny"
command = "PLACE/bin/tiny.mjs"
folders = ["PLACE/lib"]
arguments = ["said-by-{model}"]
needs = ["node"]
modes = { ask = "careful", edit = "free", read_only = "look" }
tokens = "total"
tokens_prove_success = true
error_beginnings = ["Tiny error: "]
[agent.environment]
TINY_URL = "{url}/v1"
TINY_KEY = "{key}"
[agent.files]
".tiny/settings.json" = '{"model": "{json:model}"}'

[[agent]]
name = "poor"
command = "PLACE/bin/tiny.mjs"
needs = ["node"]

[[agent]]
name = "nowhere"
command = "/opt/nowhere/agent"
"#;

/// Its program lies in one folder, and what that reads in another.
async fn tiny(world: &World) -> Server {
    let place = world.folder.path().join("tiny");
    fs::create_dir_all(place.join("bin")).unwrap();
    fs::create_dir_all(place.join("lib")).unwrap();
    let program = place.join("bin/tiny.mjs");
    fs::write(&program, include_str!("tiny.mjs")).unwrap();
    fs::write(place.join("lib/line.mjs"), "export const line = (who, text) => `${who} ${text}\\n`;\n")
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let settings = SETTINGS.replace("PLACE", place.to_str().unwrap());
    world.server_with_settings("one", &settings).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_by_configuration_alone_works_like_the_others() {
    let world = World::new().await;
    let server = tiny(&world).await;
    let offers: Vec<Offer> = server.call("backends", &[]).await.json().await.unwrap();
    let offer = |name: &str| offers.iter().find(|offer| offer.backend.0 == name).unwrap();
    assert!(offer("tiny").is_ready() && offer("tiny").title == "Tiny", "{:?}", offer("tiny"));
    let reason = "there is no program /opt/nowhere/agent";
    assert_eq!(offer("nowhere").hindrance().as_deref(), Some(reason));
    assert!(!offer("nowhere").is_installable);

    let (_, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    work_of(&server, &mut page, "[[say first words]]", "tiny").await;
    assert_eq!(page.answer().trim(), "first words", "{:?}", page.last_status());
    let tree = tree(&world, &page);
    assert_eq!(fs::read_to_string(tree.join("answer.txt")).unwrap(), "said-by-small first words\n");
    assert_eq!(paths(&changes(&server, chat).await), ["A answer.txt"]);

    server.call("ask", &asking(chat, "[[say second words]]", "tiny")).await;
    let ask = until_asked(&server, &mut page).await;
    assert_eq!(ask.title, "Write answer.txt");
    answer(&server, &page, &ask, "reject").await;
    settled(&server, &mut page, 4).await;
    assert_eq!(fs::read_to_string(tree.join("answer.txt")).unwrap(), "said-by-small first words\n");

    work_of(&server, &mut page, "[[status 400]]", "tiny").await;
    let Status::Settled { outcome: Outcome::Failed { reason }, .. } = page.last_status() else {
        panic!("{:?}", page.last_status())
    };
    assert!(reason.contains("Tiny error: "), "{reason}");
    nothing_left(&page).await;

    // The control: without its folder it does not even start.
    work_of(&server, &mut page, "[[say never]]", "poor").await;
    let Status::Settled { outcome: Outcome::Failed { reason }, .. } = page.last_status() else {
        panic!("{:?}", page.last_status())
    };
    assert!(reason.contains("poor ended while it was to start"), "{reason}");
    nothing_left(&page).await;

    let refused = server.refusal("ask", &task(chat, "x", "nowhere")).await;
    assert!(refused.contains("nowhere cannot work now: there is no program"), "{refused}");
    let mut fields = asking(chat, "x", "tiny");
    fields[3].1 = "mute/small".to_owned();
    let refused = server.refusal("ask", &fields).await;
    assert!(refused.contains("no longer configured"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_stopped_and_cleared_up_after_a_kill_too() {
    let world = World::new().await;
    let server = tiny(&world).await;
    let (_, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    let until_asked = |count: usize| {
        let world = &world;
        async move {
            let asked = || async {
                (world.model_log().await["requests"].as_array().unwrap().len() >= count).then_some(())
            };
            eventually("the model is asked", asked).await;
        }
    };
    server.call("ask", &task(chat, "[[hang]]", "tiny")).await;
    until_asked(1).await;
    server.call("stop", &[("chat", chat.to_string())]).await;
    settled(&server, &mut page, 2).await;
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Cancelled, .. }));
    nothing_left(&page).await;

    // Elsewhere: who begins anew after a kill is told what was said before, and that was to hang.
    let chat = one_more(&server).await;
    let mut page = server.watch(chat).await;
    server.call("ask", &task(chat, "[[count 400]]", "tiny")).await;
    until_asked(2).await;
    page.until(&server, "the turn", |page| page.chat().messages.len() == 2).await;
    let first = format!("{}.1", page.last_task().id);
    assert!(!marked(&first).is_empty(), "the control: it runs");
    server.kill().await;
    page.cut();
    let server = tiny(&world).await;
    eventually("nothing is left", || async { marked(&first).is_empty().then_some(()) }).await;
    page.until_settled(&server).await;
    assert!(page.answer().contains("400"), "{:?} {}", page.last_status(), page.last_stream());
    assert_eq!(page.last_task().lost.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_stands_in_battles_and_reads_in_flows() {
    let world = World::new().await;
    let server = tiny(&world).await;
    let field = Field::new(&world, &server).await;
    let prompt = "[[on small]][[say small words]][[on large]][[shell echo b > b]]";
    let id = arena::launch(&server, field.coding(prompt, &["tiny@small", "native@large"])).await;
    let battle = arena::over(&server, &id).await;
    assert_eq!(arena::statuses(&battle), ["done", "done"], "{battle:#}");
    let patch = arena::diff(&server, &id, &arena::contestant(&battle, 0)).await;
    assert!(patch.contains("+said-by-small small words"), "{patch}");

    let shop = Shop::new(&world, &server).await;
    let before = shop.files();
    let mut run = shop.ask("code-review", r#"[[say {"summary": "I looked."}]]"#);
    run["backend"] = "tiny".into();
    run["model"] = "local/small".into();
    let id = runs::launch(&server, run).await;
    let run = runs::over(&server, &id).await;
    assert_eq!((run["status"].as_str(), run["backend"].as_str()), (Some("done"), Some("tiny")), "{run:#}");
    assert!(before == shop.files(), "the wall holds");
    let shown = runs::page(&server, &id).await;
    let is_looking =
        |text: &str| text.contains("Write answer.txt (look)") && text.contains(r#""status":"failed""#);
    assert!(shown.streams.iter().all(|(_, text)| is_looking(text)), "{:?}", shown.streams);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_told_which_server_it_cannot_use() {
    let world = World::new().await;
    let program = world.folder.path().join("any");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let agent = |name: &str, speaks: &str| {
        format!("[[agent]]\nname = '{name}'\ncommand = '{}'\nspeaks = '{speaks}'\n", program.display())
    };
    let settings = agent("asker", "gemini") + &agent("modest", "chat");
    // The scripted one is of a kind that is asked what it speaks; Gemini's is not among that.
    let flags = format!("local={}", world.model_url);
    fs::write(world.folder.path().join("own.toml"), settings).unwrap();
    let file = world.folder.path().join("own.toml");
    let server =
        world.server_with("one", &["--config", file.to_str().unwrap(), "--model-server", &flags]).await;
    let (_, chat) = coder(&world, &server).await;
    let refused = server.refusal("ask", &task(chat, "x", "asker")).await;
    assert!(
        refused.contains("asker needs a server that speaks Gemini's generateContent; local does not"),
        "{refused}"
    );
    let refused = server.refusal("ask", &asking(chat, "x", "modest")).await;
    assert!(refused.contains("modest has no mode in which it asks"), "{refused}");
}

//! An agent that is configuration alone: a tiny one of ours.

use std::{fs, os::unix::fs::PermissionsExt as _};

use domain::{backend::Offer, output::Outcome, task::Status};

use super::{answer, asking, nothing_left, settled, tree, until_asked};
use crate::{
    coder::{changes, coder, paths, task, work_of},
    harness::World,
};

const SETTINGS: &str = r#"
[[agent]]
name = "tiny"
title = "Tiny"
command = "COMMAND"
arguments = ["said-by-{model}"]
needs = ["node"]
modes = { ask = "careful", edit = "free" }
tokens = "total"
tokens_prove_success = true
error_beginnings = ["Tiny error: "]
[agent.environment]
TINY_URL = "{url}/v1"
TINY_KEY = "{key}"
[agent.files]
".tiny/settings.json" = '{"model": "{json:model}"}'

[[agent]]
name = "nowhere"
command = "/opt/nowhere/agent"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_by_configuration_alone_works_like_the_others() {
    let world = World::new().await;
    let program = world.folder.path().join("tiny/tiny.mjs");
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::write(&program, include_str!("tiny.mjs")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let settings = SETTINGS.replace("COMMAND", program.to_str().unwrap());
    let server = world.server_with_settings("one", &settings).await;
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

    let refused = server.refusal("ask", &task(chat, "x", "nowhere")).await;
    assert!(refused.contains("nowhere cannot work now: there is no program"), "{refused}");
    let mut fields = asking(chat, "x", "tiny");
    fields[3].1 = "mute/small".to_owned();
    let refused = server.refusal("ask", &fields).await;
    assert!(refused.contains("no longer configured"), "{refused}");
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

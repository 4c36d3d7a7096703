//! What goes wrong around an agent: it is stopped, its model fails, its model server is gone, our server is killed.

use domain::{output::Outcome, task::Status};
use scripted::calls::shell;

use super::{nothing_left, ready, tree};
use crate::{
    coder::{marked, task, work_of},
    harness::{Server, Watcher, World, eventually},
};

fn outcome(page: &Watcher) -> &Outcome {
    match page.last_status() {
        Status::Settled { outcome, .. } => outcome,
        status => panic!("it is not over: {status:?}"),
    }
}

async fn until_over(server: &Server, page: &mut Watcher) {
    page.until(server, "the turn's end", |page| {
        !page.chat().branch().is_empty() && matches!(page.last_status(), Status::Settled { .. })
    })
    .await;
}

async fn until_model_is_asked(world: &World) {
    let asked = || async {
        let log = world.model_log().await;
        (!log["requests"].as_array().unwrap().is_empty()).then_some(())
    };
    eventually("the model is asked", asked).await;
}

pub async fn stops_in_the_middle(agent: &str) {
    let (_world, server, _, chat) = ready(agent).await;
    let mut page = server.watch(chat).await;
    server.call("ask", &task(chat, "[[say Once upon a time]] [[tokens 9]] [[hang after 6]]", agent)).await;
    page.until_said(&server, 4).await;
    server.call("stop", &[("chat", chat.to_string())]).await;
    until_over(&server, &mut page).await;
    assert_eq!(outcome(&page), &Outcome::Cancelled);
    assert!(page.answer().contains("Once"), "what was said stays: {}", page.answer());
    nothing_left(&page).await;
}

pub async fn stops_before_the_first_byte(agent: &str) {
    let (world, server, _, chat) = ready(agent).await;
    let mut page = server.watch(chat).await;
    server.call("ask", &task(chat, "[[hang]]", agent)).await;
    until_model_is_asked(&world).await;
    server.call("stop", &[("chat", chat.to_string())]).await;
    until_over(&server, &mut page).await;
    assert_eq!(outcome(&page), &Outcome::Cancelled);
    nothing_left(&page).await;
}

/// How often the model has been asked.
async fn asked(world: &World) -> usize {
    world.model_log().await["requests"].as_array().unwrap().len()
}

/// One more may be on its way when the fifth has failed.
const TRIES_MAX: usize = 6;

/// A refusal fails the turn in words; an answer that breaks off, or a model that dies, is tried again by the agent
/// as often as it likes, and ended by us.
pub async fn tells_a_model_error(agent: &str) {
    let (world, server, _, chat) = ready(agent).await;
    let mut page = server.watch(chat).await;
    work_of(&server, &mut page, "[[status 400]]", agent).await;
    let Outcome::Failed { reason } = outcome(&page) else { panic!("{:?}", page.last_status()) };
    assert!(reason.contains("400"), "{reason}");
    for script in ["[[die]]", "[[tokens 9]] [[truncate after 3]]"] {
        let before = asked(&world).await;
        work_of(&server, &mut page, script, agent).await;
        let ended = outcome(&page);
        assert!(matches!(ended, Outcome::Failed { .. } | Outcome::Void { .. }), "{script}: {ended:?}");
        let tries = asked(&world).await - before;
        assert!((1..=TRIES_MAX).contains(&tries), "{script}: it was tried {tries} times");
    }
    nothing_left(&page).await;
}

/// Gone before the turn, and gone in the middle of it. Neither is the model's loss.
pub async fn ends_with_its_model_server(agent: &str) {
    let (world, server, _, chat) = ready(agent).await;
    let mut page = server.watch(chat).await;
    let waits = shell(agent, "touch started; sleep 5");
    server.call("ask", &task(chat, &format!("{waits}[[say never]]"), agent)).await;
    page.until(&server, "a worktree", |page| page.chat().worktree.is_some()).await;
    let started = tree(&world, &page).join("started");
    eventually("the command runs", || async { started.exists().then_some(()) }).await;
    world.stop_model();
    until_over(&server, &mut page).await;
    let Outcome::Void { reason } = outcome(&page) else { panic!("{:?}", page.last_status()) };
    assert!(reason.contains("The model server does not answer."), "{reason}");
    nothing_left(&page).await;

    work_of(&server, &mut page, "[[say never]]", agent).await;
    let Outcome::Void { reason } = outcome(&page) else { panic!("{:?}", page.last_status()) };
    assert!(reason.contains("does not answer: start it"), "{reason}");
    nothing_left(&page).await;
}

/// After `kill -9` the next start ends what is left of the agent, and the turn is done again.
pub async fn is_cleared_up_after_a_kill(agent: &str) {
    let (world, server, _, chat) = ready(agent).await;
    let mut page = server.watch(chat).await;
    let once = shell(agent, "test -e started || { touch started; sleep 600; }");
    server.call("ask", &task(chat, &format!("{once}[[say done at last]]"), agent)).await;
    page.until(&server, "a worktree", |page| page.chat().worktree.is_some()).await;
    let started = tree(&world, &page).join("started");
    eventually("the command runs", || async { started.exists().then_some(()) }).await;
    let first = format!("{}.1", page.last_task().id);
    assert!(!marked(&first).is_empty(), "it is marked while it runs");
    server.kill().await;
    page.cut();

    let server = world.server_that_speaks_all("one").await;
    eventually("nothing is left", || async { marked(&first).is_empty().then_some(()) }).await;
    page.until_settled(&server).await;
    assert!(matches!(outcome(&page), Outcome::Done { .. }), "{:?}", page.last_status());
    assert!(page.answer().contains("done at last"), "{}", page.last_stream());
    nothing_left(&page).await;
}

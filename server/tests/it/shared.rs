//! Two servers on one Postgres.

use domain::{output::Outcome, task::Status};
use scripted::Script;

use crate::{
    arena::{Field, launch, over},
    chat::numbers,
    harness::World,
};

#[tokio::test(flavor = "multi_thread")]
async fn when_one_dies_the_other_finishes_its_work() {
    let world = World::new().await;
    let (one, two) = (world.server("one").await, world.server("two").await);
    let chat = two.new_chat(&world).await;
    let mut page = two.watch(chat).await;
    // Stopped, the second cannot claim; so the first runs it, and the second only looks on.
    let pid = rustix::process::Pid::from_raw(two.pid() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    one.ask(chat, "[[count 600]]").await;
    let mut other = one.watch(chat).await;
    other.until_said(&one, 100).await;
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();

    page.until_said(&two, 100).await;
    one.kill().await;
    page.until_settled(&two).await;
    assert_eq!(page.answer(), numbers(600), "the second server saw the stream of the first and finished it");
    assert_eq!(page.last_task().lost.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_model_server_does_one_thing_at_a_time_for_everybody() {
    let world = World::new().await;
    let (one, two) = (world.server("one").await, world.server("two").await);
    let mut pages = Vec::new();
    for n in 0..6 {
        let server = if n % 2 == 0 { &one } else { &two };
        let chat = server.new_chat(&world).await;
        server.ask(chat, "[[count 30]]").await;
        pages.push((server.watch(chat).await, n % 2 == 0));
    }
    for (page, first) in &mut pages {
        page.until_settled(if *first { &one } else { &two }).await;
        assert_eq!(page.answer(), numbers(30));
    }
    assert_eq!(world.model_log().await["concurrent"]["max"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn cloud_tasks_run_side_by_side_up_to_their_limit() {
    let world = World::with(Script { tokens_per_second: 100.0, ..Script::default() }).await;
    let config = world.folder.path().join("boocode.toml");
    let text = format!(
        "[[model_server]]\nname = \"cloud\"\nurl = \"{}\"\nlane = \"cloud\"\nparallel = 3\n",
        world.model_url
    );
    std::fs::write(&config, text).unwrap();
    let server = world.server_with("one", &["--config", config.to_str().unwrap()]).await;
    let mut pages = Vec::new();
    for _ in 0..6 {
        let chat = server.new_chat(&world).await;
        let fields = [
            ("chat", chat.to_string()),
            ("message", uuid::Uuid::now_v7().to_string()),
            ("text", "[[count 60]]".to_owned()),
            ("model", "cloud/small".to_owned()),
        ];
        server.call("ask", &fields).await;
        pages.push(server.watch(chat).await);
    }
    for page in &mut pages {
        page.until_settled(&server).await;
        assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Done { .. }, .. }));
        assert_eq!(page.last_task().attempts_max, 2, "a paid turn is repeated once only");
    }
    let most = world.model_log().await["concurrent"]["max"].as_u64().unwrap();
    assert!((2..=3).contains(&most), "three at once were allowed, {most} were seen");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_waits_for_one_task_and_not_for_the_whole_queue() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (busy, quick) = (server.new_chat(&world).await, server.new_chat(&world).await);
    let field = Field::new(&world, &server).await;
    let mut busy_page = server.watch(busy).await;
    server.ask(busy, "[[count 100000]]").await;
    busy_page.until_said(&server, 10).await;
    // Before the person comes, each of these has a task in the queue.
    let mut battles = Vec::new();
    for _ in 0..3 {
        battles.push(launch(&server, field.qa("[[say so]]", &["@small", "@large"])).await);
    }
    server.ask(quick, "[[say hello]]").await;
    let mut page = server.watch(quick).await;
    assert!(page.chat().active_turn().is_some(), "it waits for the task that runs");
    server.call("stop", &[("chat", busy.to_string())]).await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "hello");
    for battle in &battles {
        over(&server, battle).await;
    }
    let log = world.model_log().await;
    // Whoever finds a title is told what to do before it is asked.
    let asked = log["requests"].as_array().unwrap().iter().filter(|record| record["system"] == "");
    let asked: Vec<_> = asked.map(|record| record["last_user_message"].as_str().unwrap()).collect();
    assert_eq!((&asked[..2], asked.len()), (&["[[count 100000]]", "[[say hello]]"][..], 8), "{asked:?}");
}

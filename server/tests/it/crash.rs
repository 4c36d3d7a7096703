//! `kill -9` in the middle: nothing committed is lost, nothing is done twice, and the page mends itself.

use domain::{feed::StreamId, output::Outcome, task::Status};

use crate::{chat::numbers, harness::World};

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_finishes_the_turn_at_its_next_start() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[count 400]]").await;
    page.until_said(&server, 300).await;
    let before = page.answer();
    server.kill().await;
    page.cut();

    let server = world.server("one").await;
    page.until_settled(&server).await;
    assert_eq!(page.answer(), numbers(400));
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Done { .. }, .. }));

    let task = page.last_task().clone();
    let [(first, len)] = task.lost[..] else { panic!("one attempt was lost: {:?}", task.lost) };
    let kept = page.stream_text(StreamId { task: task.id, attempt: first });
    assert!(before.starts_with(&kept) || kept.starts_with(&before), "what was shown stays as it was");
    // A tenth of a second is 80 bytes, and as much again is left to a machine that is busy. The writer's own tests hold
    // it to the tenth, on a clock that nobody keeps waiting.
    let missing = before.len().saturating_sub(kept.len());
    assert!(missing <= 160, "at most the last batch is taken back, this was {missing} bytes of {len}");

    let again = server.watch(chat).await;
    assert_eq!(again.mirror.state, page.mirror.state, "a reload shows the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_ahead_of_what_survived_is_cut_back_visibly() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[count 400]]").await;
    page.until_said(&server, 200).await;
    server.kill().await;
    page.cut();
    // Whatever the kill left unwritten, pretend that this page had seen still more of it.
    let task = page.last_task().clone();
    let stream = StreamId { task: task.id, attempt: task.attempts()[0].0 };
    page.mirror.streams.get_mut(&stream).unwrap().text.push_str("seen but never kept");

    let server = world.server("one").await;
    page.until_settled(&server).await;
    let copy = &page.mirror.streams[&stream];
    assert!(copy.retracted && !copy.text.contains("seen but never kept"));
    assert!(numbers(400).starts_with(&page.stream_text(stream)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_stop_gives_the_turn_back() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[count 400]]").await;
    page.until_said(&server, 100).await;
    server.stop().await;
    page.cut();
    let server = world.server("one").await;
    page.until_settled(&server).await;
    assert_eq!(page.answer(), numbers(400));
    assert_eq!(page.last_task().lost.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_lost_every_time_ends_honestly() {
    let world = World::new().await;
    let mut server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[count 5000]]").await;
    for _ in 0..3 {
        page.until_said(&server, 50).await;
        server.kill().await;
        page.cut();
        server = world.server("one").await;
        let seen = page.last_task().lost.len();
        page.until(&server, "the loss is known", |page| {
            page.last_task().lost.len() > seen || page.last_task().is_settled()
        })
        .await;
    }
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Lost, .. }));
    assert_eq!(page.last_task().attempts().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_that_was_asked_of_a_dead_server_is_carried_out() {
    let world = World::new().await;
    let (one, two) = (world.server("one").await, world.server("two").await);
    let chat = one.new_chat(&world).await;
    let mut page = one.watch(chat).await;
    one.ask(chat, "[[count 5000]]").await;
    page.until_said(&one, 50).await;
    // Whichever of the two runs it, both are gone before the stop is seen.
    two.kill().await;
    one.call("stop", &[("chat", chat.to_string())]).await;
    one.kill().await;
    page.cut();
    let one = world.server("one").await;
    page.until_settled(&one).await;
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Cancelled, .. }));
}

//! A turn through every layer.

use domain::{
    chat::TitledBy,
    output::{Outcome, Phase},
    task::Status,
};

use crate::harness::{Server, World, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_and_kept() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[count 40]]").await;
    page.until_settled(&server).await;

    assert_eq!(page.answer(), numbers(40));
    let Status::Settled { outcome: Outcome::Done { measured }, .. } = page.last_status() else {
        panic!("{:?}", page.last_status())
    };
    assert!(measured.timings.is_some() && measured.first_token_ms.is_some());
    page.until(&server, "the title", |page| page.chat().titled_by == Some(TitledBy::Model)).await;

    let again = server.watch(chat).await;
    assert_eq!(again.mirror.state, page.mirror.state, "a reload shows the same");
    assert_eq!(again.answer(), numbers(40));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_reaches_its_models_limit_says_so() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    for (question, is_cut) in [("[[limit 12]] [[count 40]]", true), ("[[limit 50]] [[count 40]]", false)] {
        server.ask(chat, question).await;
        page.until_settled(&server).await;
        let Status::Settled { outcome: Outcome::Done { measured }, .. } = page.last_status() else {
            panic!("{:?}", page.last_status())
        };
        assert_eq!(measured.cut().is_some(), is_cut, "{question}");
        let html = server.get(&format!("/chat/{chat}")).send().await.unwrap().text().await.unwrap();
        assert!(html.contains("Cut off"), "the page says it of the first answer");
    }
    assert_eq!(page.answer(), numbers(40));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_reaches_the_model_and_keeps_the_text() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[count 5000]]").await;
    page.until_said(&server, 50).await;
    server.call("stop", &[("chat", chat.to_string())]).await;
    page.until_settled(&server).await;
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Cancelled, .. }));
    assert!(numbers(5000).starts_with(&page.answer()) && page.answer().len() >= 50);
    eventually("the model server saw us hang up", || async {
        world.model_log().await["requests"][0]["disconnected"].as_bool().filter(|gone| *gone)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_works_before_the_first_byte() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[hang]]").await;
    page.until(&server, "it runs", |page| {
        page.chat().active_turn().is_some_and(|task| matches!(task.status, Status::Running { .. }))
    })
    .await;
    server.call("stop", &[("chat", chat.to_string())]).await;
    page.until_settled(&server).await;
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Cancelled, .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_questions_follow_and_see_the_answers_before_them() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    for question in ["[[say one]]", "[[say two]]", "[[say three]]"] {
        server.ask(chat, question).await;
    }
    page.until_settled(&server).await;
    assert_eq!(page.questions(), ["[[say one]]", "[[say two]]", "[[say three]]"]);
    assert_eq!(page.answer().trim(), "three");
}

/// The answer may have got lost on its way to the browser, which then sends it again, however much later.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_is_there_once_even_where_its_model_is_gone_since() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    let fresh = || uuid::Uuid::now_v7().to_string();
    let with = |more: &[(&'static str, String)]| {
        [&[("chat", chat.to_string()), ("model", "local/small".into())], more].concat()
    };
    let asked = fresh();
    let ask = with(&[("message", asked.clone()), ("text", "[[say one]]".into())]);
    server.call("ask", &ask).await;
    page.until_settled(&server).await;
    let answered = page.chat().head.unwrap().to_string();
    let retry = with(&[("of", answered), ("reply", fresh())]);
    server.call("retry", &retry).await;
    page.until_settled(&server).await;
    let resend = with(&[("of", asked), ("message", fresh()), ("text", "[[say other]]".into())]);
    server.call("resend", &resend).await;
    page.until_settled(&server).await;
    server.stop().await;
    page.cut();

    let server = world.server_with("one", &[]).await;
    for (endpoint, id, fields) in
        [("ask", "message", ask), ("retry", "reply", retry), ("resend", "message", resend)]
    {
        server.call(endpoint, &fields).await;
        let anew: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, if *name == id { fresh() } else { value.clone() }))
            .collect();
        let refused = server.refusal(endpoint, &anew).await;
        assert!(refused.contains("local"), "{endpoint}: the control, {refused}");
    }
    page.until_settled(&server).await;
    assert_eq!(page.chat().messages.len(), 5, "nothing of it came twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_and_edit_make_branches() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    let first = server.ask(chat, "[[say one]]").await;
    page.until_settled(&server).await;
    let answer = page.chat().head.unwrap();

    let model = ("model", "local/small".to_owned());
    let id = ("chat", chat.to_string());
    let reply = ("reply", uuid::Uuid::now_v7().to_string());
    let retry = [id.clone(), ("of", answer.to_string()), reply, model.clone()];
    server.call("retry", &retry).await;
    // The answer may have got lost on its way to the browser, which then sends it again.
    server.call("retry", &retry).await;
    page.until_settled(&server).await;
    server.call("retry", &retry).await;
    let message = uuid::Uuid::now_v7().to_string();
    let fields = [
        id.clone(),
        ("of", first.to_string()),
        ("message", message),
        ("text", "[[say other]]".into()),
        model,
    ];
    server.call("resend", &fields).await;
    page.until_settled(&server).await;
    assert_eq!((page.questions(), page.answer().trim()), (vec!["[[say other]]".into()], "other"));

    server.call("switch_branch", &[id, ("to", first.to_string())]).await;
    page.until(&server, "the old branch", |page| page.questions() == ["[[say one]]"]).await;
    assert_eq!(page.chat().messages.len(), 5, "two questions, three answers");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_is_said_in_words() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    let failures = [
        ("[[truncate after 5]]", "cut off"),
        ("[[overflow]]", "context"),
        ("[[die]]", "process failed"),
        ("[[crash-line]]", ""),
    ];
    for (question, words) in failures {
        server.ask(chat, question).await;
        page.until_settled(&server).await;
        let Status::Settled { outcome, .. } = page.last_status() else { panic!() };
        let (Outcome::Failed { reason } | Outcome::Void { reason }) = outcome else {
            panic!("{question}: {outcome:?}")
        };
        assert!(reason.to_lowercase().contains(words), "{question}: {reason}");
        // A failure holds the queue, so the next question is let go by hand.
        assert!(page.chat().queue.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn loading_and_waiting_are_shown_as_such() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    let in_phase = |wanted: fn(&Phase) -> bool| {
        move |page: &crate::harness::Watcher| {
            let running = page.chat().active_turn().map(|task| &task.status);
            matches!(running, Some(Status::Running { phase, .. }) if wanted(phase))
        }
    };
    server.ask(chat, "[[loading 1500]] [[say loaded]]").await;
    page.until(&server, "loading", in_phase(|phase| *phase == Phase::Loading)).await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "loaded");

    server.ask(chat, "[[status 429 retry-after 1 times 1]] [[say waited]]").await;
    page.until(&server, "waiting", in_phase(|phase| matches!(phase, Phase::Waiting { .. }))).await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "waited");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_question_sent_twice_is_asked_once() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let fields = [
        ("chat", chat.to_string()),
        ("message", uuid::Uuid::now_v7().to_string()),
        ("text", "[[say once]]".to_owned()),
        ("model", "local/small".to_owned()),
    ];
    server.call("ask", &fields).await;
    server.call("ask", &fields).await;
    let mut page = server.watch(chat).await;
    page.until_settled(&server).await;
    server.call("ask", &fields).await;
    assert_eq!(server.watch(chat).await.chat().messages.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_refused_in_words_and_changes_nothing() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await.to_string();
    let nowhere = uuid::Uuid::nil().to_string();
    let check = async |chat: &str, text: &str, model: &str, words: &str| {
        let message = uuid::Uuid::now_v7().to_string();
        let fields = [("chat", chat), ("message", &message), ("text", text), ("model", model)];
        let refusal = server.refusal("ask", &fields.map(|(name, value)| (name, value.to_owned()))).await;
        assert!(refusal.contains(words), "{refusal}");
    };
    check(&chat, " ", "local/small", "empty").await;
    check(&chat, &"x".repeat(300_000), "local/small", "too_long").await;
    check(&chat, "hello", "local/gone", "not offered any more").await;
    check(&chat, "hello", "", "Choose a model").await;
    check(&nowhere, "hello", "local/small", "missing").await;
    check("nonsense", "hello", "local/small", "not filled in as expected").await;
    let chat = server.watch(chat.parse().unwrap()).await;
    assert!(chat.chat().messages.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_whose_model_server_is_gone_says_so_and_can_be_stopped() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (busy, chat) = (server.new_chat(&world).await, server.new_chat(&world).await);
    let mut page = server.watch(busy).await;
    server.ask(busy, "[[count 2000]]").await;
    page.until_said(&server, 10).await;
    server.ask(chat, "[[say hello]]").await;
    let queued = server.watch(chat).await.last_task().id;
    let waiting = async |server: &Server| -> serde_json::Value {
        server.call("waiting_for", &[("task", queued.to_string())]).await.json().await.unwrap()
    };
    // The control: while its server is there, it waits for the turn before it.
    assert_eq!(waiting(&server).await, serde_json::json!({ "ahead": 1, "hindrance": null }));
    server.stop().await;

    let other = format!("other={}", world.model_url);
    let server = world.server_with("one", &["--model-server", &other]).await;
    assert_eq!(waiting(&server).await["hindrance"], "gone");
    let html = server.get(&format!("/chat/{chat}")).send().await.unwrap().text().await.unwrap();
    assert!(html.contains("the model server local is no longer configured or found here"), "{html}");

    let mut page = server.watch(chat).await;
    assert_eq!(*page.last_status(), Status::Queued);
    server.call("stop", &[("chat", chat.to_string())]).await;
    page.until_settled(&server).await;
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Cancelled, .. }));

    // Once more from the model that is gone is refused in words; from another it is answered.
    let answer = page.chat().head.unwrap().to_string();
    let retry = |model: &str| {
        let reply = uuid::Uuid::now_v7().to_string();
        [("chat", chat.to_string()), ("of", answer.clone()), ("reply", reply), ("model", model.to_owned())]
    };
    let refusal = server.refusal("retry", &retry("local/small")).await;
    assert!(refusal.contains("The model server local is no longer configured or found here."), "{refusal}");
    assert_eq!(server.watch(chat).await.chat().messages.len(), 2, "nothing was changed");
    server.call("retry", &retry("other/small")).await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "hello");
}

pub fn numbers(count: usize) -> String {
    (1..=count).map(|n| format!("{n} ")).collect()
}

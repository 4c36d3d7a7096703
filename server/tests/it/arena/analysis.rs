//! Who won, and how sure that is.

use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};

use super::{Field, contestant, get, launch, over, statuses, until};
use crate::harness::World;

/// Says which of its results are good ones.
const PROMPT: &str =
    "[[on small]][[say A good and good answer.]][[on large]][[say A bad one.]][[on echo]][[say Good.]]";

async fn post(server: &crate::harness::Server, path: String, body: Value) -> (StatusCode, Value) {
    server.script(&path, Some(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_pair_is_judged_in_both_orders_and_the_best_one_wins() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mut battle = field.qa(PROMPT, &["@large", "@small", "@echo"]);
    battle["judge"] = json!("local/judge");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    let analysis = &battle["analyses"][0];
    assert_eq!(analysis["state"], "done", "{battle:#}");
    let sentence = "B wins over every other in both orders; 18 of 18 judgements agree.";
    assert_eq!(analysis["verdict"]["sentence"], sentence);
    assert_eq!(battle["winner_contestant_id"].as_str(), Some(contestant(&battle, 1).as_str()));

    // The judge never saw who anybody is, nor how fast.
    let asked = world.model_log().await;
    let asked = asked["requests"].as_array().unwrap().iter().filter(|it| it["model"] == "judge");
    let seen: Vec<_> = asked.map(|it| it["last_user_message"].as_str().unwrap().to_lowercase()).collect();
    let judged: Vec<_> = seen.iter().filter(|words| words.contains("which result is better")).collect();
    assert_eq!((seen.len(), judged.len()), (3 + 18, 18));
    for hidden in ["tokens/s", "duration", "local/", "[[on"] {
        let told = judged.iter().find(|words| words.replace(&PROMPT.to_lowercase(), "").contains(hidden));
        assert!(told.is_none(), "{hidden}: {}", told.unwrap());
    }

    // A person has the last word, and the judge's stays beside it.
    let path = format!("/api/battles/{id}/winner");
    let (status, battle) = post(&server, path.clone(), json!({"contestant": contestant(&battle, 2)})).await;
    assert_eq!((status, battle["chosen_by_person"].as_bool()), (StatusCode::OK, Some(true)));
    assert_eq!(battle["analyses"][0]["verdict"]["sentence"], sentence);
    let (_, battle) = post(&server, path, json!({"contestant": null})).await;
    assert_eq!(battle["winner_contestant_id"].as_str(), Some(contestant(&battle, 1).as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_that_goes_by_the_order_names_nobody() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mut battle = field.qa(PROMPT, &["@large", "@small"]);
    battle["judge"] = json!("local/biased-judge");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    let sentence =
        "No winner: the judge's answers do not hold when the order changes; 0 of 6 judgements agree.";
    assert_eq!(battle["analyses"][0]["verdict"]["sentence"], sentence, "{battle:#}");
    assert_eq!(battle["winner_contestant_id"], Value::Null);
    // Another one may be asked; what the first said stays.
    let again = post(&server, format!("/api/battles/{id}/analyze"), json!({"model": "local/judge"})).await;
    assert_eq!(again.0, StatusCode::OK, "{}", again.1);
    let battle = until(&server, &id, "a second verdict", |it| it["analyses"][1]["state"] == "done").await;
    assert_eq!(battle["analyses"][0]["verdict"]["sentence"], sentence);
    assert_eq!(battle["winner_contestant_id"].as_str(), Some(contestant(&battle, 1).as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_that_does_not_answer_in_shape_leaves_the_battle_without_a_verdict() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mut battle = field.qa(PROMPT, &["@large", "@small"]);
    battle["judge"] = json!("local/mumbling-judge");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    assert_eq!(
        (battle["status"].as_str(), battle["analyses"][0]["state"].as_str()),
        (Some("completed"), Some("failed"))
    );
    let reason = "The judge did not answer in the form that was asked for, twice.";
    assert_eq!(battle["analyses"][0]["reason"], reason);
    assert_eq!(statuses(&battle), ["done"; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_survivor_is_no_winner() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mut battle = field.qa("[[on large]][[status 400]]", &["@large", "@small"]);
    battle["judge"] = json!("local/judge");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    assert_eq!(statuses(&battle), ["failed", "done"], "{battle:#}");
    assert_eq!(
        (&battle["winner_contestant_id"], battle["analyses"].as_array().unwrap().len()),
        (&Value::Null, 0)
    );
    let refused = post(&server, format!("/api/battles/{id}/analyze"), json!({})).await;
    assert_eq!(refused.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.1["error"].as_str().unwrap().contains("nothing to compare"), "{}", refused.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_cross_examined_by_a_persona_and_by_an_agent() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let battle = field.coding(
        "[[on small]][[shell echo a > a]][[on large]][[shell echo b > b]]",
        &["native@small", "native@large"],
    );
    let id = launch(&server, battle).await;
    over(&server, &id).await;
    let path = format!("/api/battles/{id}/cross-examine");
    let by_persona =
        json!({"persona": "Code Reviewer", "model": "local/echo", "question": "Which is shorter?"});
    let by_agent =
        json!({"backend": "goose", "model": "local/large", "question": "[[on large]][[say A is better]]"});
    for asked in [by_persona, by_agent] {
        let (status, answer) = post(&server, path.clone(), asked).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
    let folder = field.project.join("Arena");
    let read = || async {
        let top = std::fs::read_dir(&folder).ok()?.flatten().find(|entry| entry.path().is_dir())?.path();
        let mut names: Vec<_> = std::fs::read_dir(top.join("cross-examinations"))
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        names.sort();
        let texts: Vec<_> = names.iter().map(|name| std::fs::read_to_string(name).unwrap()).collect();
        let is_whole = |text: &String| text.split("## Answer").nth(1).is_some_and(|it| !it.trim().is_empty());
        (texts.len() == 2 && texts.iter().all(is_whole)).then_some(texts)
    };
    let texts = crate::harness::eventually("both answers are in the results", read).await;
    // The echo says what it was asked, so what it was shown is there to be seen.
    assert!(texts[0].contains("what A changed") && texts[0].contains("+a"), "{}", texts[0]);
    assert!(texts[0].contains("Which is shorter?") && texts[1].contains("A is better"), "{}", texts[1]);
    let refused = post(&server, path, json!({"backend": "nobody", "model": "local/echo"})).await;
    assert_eq!(refused.0, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.1);
    assert_eq!(get(&server, &id).await["status"], "completed");
}

/// Answers have no worktrees: an agent that is asked about them reads the project, and changes nothing there.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_asked_about_answers() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = launch(&server, field.qa("[[say Because.]]", &["@small", "@large"])).await;
    over(&server, &id).await;
    for backend in ["native", "goose"] {
        let question = "[[on large]][[shell cat main.txt; echo no > main.txt]][[say B is better.]]";
        let asked = json!({"backend": backend, "model": "local/large", "question": question});
        let (status, answer) = post(&server, format!("/api/battles/{id}/cross-examine"), asked).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
    let battle = until(&server, &id, "both have answered", |it| {
        let all = it["cross_examinations"].as_array().unwrap();
        all.iter().all(|it| !matches!(it["status"].as_str(), Some("queued" | "dispatched" | "running")))
    })
    .await;
    let statuses: Vec<_> = (0..2).map(|place| &battle["cross_examinations"][place]["status"]).collect();
    assert_eq!(statuses, ["done", "done"], "{battle:#}");
    assert_eq!(std::fs::read_to_string(field.project.join("main.txt")).unwrap(), "one\n");
}

/// A page of others' news is not the end of the news.
#[tokio::test(flavor = "multi_thread")]
async fn news_of_a_battle_are_found_behind_those_of_others() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let chat = server.snapshot(None).await.state.workspace.chats[0].id;
    let before = server.snapshot(None).await.seq;
    for piece in 0..13 {
        let rename = |nth: usize| {
            let name = format!("Title {piece} {nth}");
            server.post("rename", &[("of", format!("chat.{chat}")), ("name", name)]).send()
        };
        futures::future::try_join_all((0..40).map(rename)).await.unwrap();
    }
    let id = launch(&server, field.qa("[[say So.]]", &["@small", "@large"])).await;
    let (_, news) = server.script(&format!("/api/battles/{id}/events?after={before}"), None).await;
    let first = &news["events"][0];
    assert!(first["event"]["battle_started"].is_object(), "{news}");
    assert!(first["seq"].as_i64().unwrap() - before > 500, "{first}");
}

/// What is no longer kept cannot be told, and that is said: whoever follows looks at the battle itself and goes on.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_follows_is_told_what_is_no_longer_kept() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = launch(&server, field.qa("[[say So.]]", &["@small", "@large"])).await;
    let battle = over(&server, &id).await;
    let mut database = PgConnection::connect(&world.database_url).await.unwrap();
    sqlx::query("delete from events where seq <= (select seq from feed_head)")
        .execute(&mut database)
        .await
        .unwrap();
    let news = async |after: &Value| {
        let path = format!("/api/battles/{id}/events?after={after}");
        let answer = server.script(&path, None).await.1;
        (answer["reset"] == true, answer["events"].as_array().unwrap().len(), answer["after"].clone())
    };
    assert_eq!(news(&json!(0)).await, (true, 0, battle["seq"].clone()));
    let first = contestant(&battle, 0);
    let again = format!("/api/battles/{id}/contestants/{first}/retry");
    assert_eq!(post(&server, again, json!({})).await.0, StatusCode::OK);
    let (is_reset, count, _) = news(&battle["seq"]).await;
    assert!(!is_reset && count > 0);
    over(&server, &id).await;
}

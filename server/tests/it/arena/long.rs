//! Results that do not fit into one question.

use scripted::Script;
use serde_json::json;

use super::{Field, asked_of, contestant, launch, over};
use crate::harness::World;

/// What makes the one good and the other bad stands in pieces that are read one by one.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_result_is_judged_by_what_is_in_it() {
    let world = World::with(Script { tokens_per_second: 0.0, ..Script::default() }).await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let prompt = "[[on small]][[shell yes bad | head -c 250000 > made.txt]][[say So.]]\
                  [[on large]][[shell yes good | head -c 250000 > made.txt]][[say So.]]";
    let mut battle = field.coding(prompt, &["native@small", "native@large"]);
    battle["judge"] = json!("local/judge");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    assert_eq!(battle["winner_contestant_id"].as_str(), Some(contestant(&battle, 1).as_str()), "{battle:#}");
    let asked = asked_of(&world, "judge").await;
    let notes =
        asked.iter().filter(|words| words.contains("The result is long; this is a piece of it.")).count();
    assert!(notes >= 6, "{notes} pieces of two results");
    // Whatever was asked on the way counts.
    let contestants: u64 = (0..2).map(|place| battle["contestants"][place]["tokens"].as_u64().unwrap()).sum();
    assert!(battle["tokens"].as_u64().unwrap() > contestants, "{battle:#}");
}

/// A server that does not tell how much it can take says so when it is too much; then less is asked at once, whether
/// results are described or examined. Judges are asked in the same way.
#[tokio::test(flavor = "multi_thread")]
async fn a_judge_that_can_take_little_is_asked_in_smaller_pieces() {
    let script =
        Script { tokens_per_second: 0.0, context_tokens: 2_000, tells_context: false, ..Script::default() };
    // So much of the task is shown that nothing else has room beside it.
    let long = "why ".repeat(1_500);
    let world = World::with(script).await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mut battle = field
        .qa(&format!("[[on small]][[count 9000]][[on large]][[count 8999]] {long}"), &["@small", "@large"]);
    battle["judge"] = json!("local/judge");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    assert_eq!(battle["analyses"][0]["state"], "done", "{battle:#}");
    assert_eq!(battle["told"], "No winner: two of them are equal; 6 of 6 judgements agree.");
    let asked = json!({"model": "local/echo", "question": "Which is shorter?"});
    super::post(&server, format!("/api/battles/{id}/cross-examine"), asked).await;
    let answered = |it: &serde_json::Value| it["cross_examinations"][0]["status"] == "done";
    super::until(&server, &id, "the examination is over", answered).await;
    let log = world.model_log().await;
    // Only the beginning of a question is kept in the log, so whoever examines is told by its model.
    let refused = |model: &str, words: &str| {
        let asked = |it: &&serde_json::Value| it["last_user_message"].as_str().unwrap().contains(words);
        let requests = log["requests"].as_array().unwrap().iter().filter(asked);
        requests.filter(|it| it["model"] == *model && it["status"] == 400).count()
    };
    assert!(refused("judge", "The result is long") >= 1, "{log:#}");
    assert!(refused("echo", "") >= 1, "{log:#}");
}

/// The prompt may be longer than what a judge or an examiner can take; they are shown its beginning.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_prompt_is_cut_for_whoever_compares_and_examines() {
    let world = World::with(Script { tokens_per_second: 0.0, ..Script::default() }).await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let prompt = format!("[[on small]][[say Because.]][[on large]][[say So.]] {}", "why ".repeat(40_000));
    let mut battle = field.qa(&prompt, &["@small", "@large"]);
    battle["judge"] = json!("local/judge");
    let id = launch(&server, battle).await;
    over(&server, &id).await;
    let asked = json!({"model": "local/echo", "question": "Which is shorter?"});
    super::post(&server, format!("/api/battles/{id}/cross-examine"), asked).await;
    let answered = |it: &serde_json::Value| it["cross_examinations"][0]["status"] == "done";
    super::until(&server, &id, "the examination is over", answered).await;
    for (model, least) in [("judge", 8), ("echo", 1)] {
        let asked = asked_of(&world, model).await;
        let longest = asked.iter().map(String::len).max().unwrap();
        assert!(
            asked.len() >= least && longest < 40_000,
            "{model}: {} questions, {longest} bytes",
            asked.len()
        );
    }
}

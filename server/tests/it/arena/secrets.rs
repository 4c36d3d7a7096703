//! A configured secret is in nothing that is stored, shown or sent to a judge, wherever it turns up. A patch is never
//! altered, so it is flagged.

use std::fs;

use scripted::Script;
use serde_json::json;

use super::{Field, asked_of, contestant, diff, launch, over, post, until};
use crate::harness::World;

const KEY: &str = "sk-of-the-provider-0123456789";

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_reaches_neither_a_judge_nor_what_is_kept_of_a_check() {
    let script = Script { api_key: Some(KEY.to_owned()), ..Script::default() };
    let world = World::with(script).await;
    let server = world.server_with_key("one", KEY).await;
    let field = Field::new(&world, &server).await;
    let prompt = format!(
        "[[on small]][[shell echo key={KEY} > made.txt]][[say Done.]]\
         [[on large]][[shell echo key={KEY} > other.txt]][[say Done.]]"
    );
    let mut battle = field.coding(&prompt, &["native@small", "native@large"]);
    battle["judge"] = json!("local/judge");
    battle["check"] = json!(format!("echo 'test {KEY} ... FAILED'; echo {KEY}; false"));
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    // The control: it is in the change, as it was made.
    assert!(diff(&server, &id, &contestant(&battle, 0)).await.contains(KEY));
    let base = &battle["base_check"];
    assert_eq!(base["failures"], json!(["[redacted]"]), "{battle:#}");
    assert!(
        !base["tail"].as_str().unwrap().contains(KEY)
            && base["tail"].as_str().unwrap().contains("[redacted]")
    );
    let asked = json!({"model": "local/echo"});
    post(&server, format!("/api/battles/{id}/cross-examine"), asked).await;
    let answered = |it: &serde_json::Value| it["cross_examinations"][0]["status"] == "done";
    until(&server, &id, "the examination is over", answered).await;
    // What a person wrote in the prompt is theirs; what contestants made of it is not passed on.
    for model in ["judge", "echo"] {
        let all = asked_of(&world, model).await;
        let made: Vec<_> = all.iter().map(|words| words.replace(&prompt, "")).collect();
        assert!(!made.is_empty() && made.iter().all(|words| !words.contains(KEY)), "{model}: {made:#?}");
    }
    let folder: String = server.call("write_results", &[("battle", id.clone())]).await.json().await.unwrap();
    let result = fs::read_to_string(format!("{folder}/native-small/result.md")).unwrap();
    assert!(result.contains("configured as a secret") && !result.contains(KEY), "{result}");
}

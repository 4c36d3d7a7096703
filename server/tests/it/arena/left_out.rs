//! What no patch can hold is said wherever a result is looked at.

use std::fs;

use domain::diff::Outline;
use serde_json::json;

use super::{Field, asked_of, contestant, launch, over};
use crate::harness::World;

const LEFT_OUT: &str = "qwen/pipe: a pipe, a socket or a device";

/// Who left only such things has not done nothing, and whoever compares is told so.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_left_what_no_patch_can_hold_is_not_taken_for_idle() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let prompt = "[[on small]][[shell mkdir qwen && mkfifo qwen/pipe]][[say Good.]][[on large]][[say Bad.]]";
    let mut battle = field.coding(prompt, &["native@small", "native@large"]);
    battle["judge"] = json!("local/judge");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    let [small, large] = [0, 1].map(|place| &battle["contestants"][place]);
    assert_eq!((&small["files_changed"], &small["left_out"]), (&json!(0), &json!([LEFT_OUT])), "{battle:#}");
    assert_eq!(large["left_out"], json!([]));

    // Whoever describes it and whoever judges it learn of it, and no name beyond what the task itself says.
    let asked = asked_of(&world, "judge").await;
    let of_small: Vec<_> = asked.iter().filter(|words| words.contains("[name]/pipe: a pipe")).collect();
    let judgements = of_small.iter().filter(|words| words.contains("no patch can hold")).count();
    assert_eq!((judgements, of_small.len()), (6, 7), "{asked:#?}");
    assert!(!asked.iter().any(|words| words.contains(LEFT_OUT)));

    let fields = [
        ("of[Contestant]", contestant(&battle, 0)),
        ("options[is_split]", "false".into()),
        ("options[ignores_whitespace]", "false".into()),
        ("options[columns]", "0".into()),
    ];
    let outline: Outline = server.call("diff_outline", &fields).await.json().await.unwrap();
    assert_eq!((outline.files.len(), outline.left_out), (0, vec![LEFT_OUT.to_owned()]));
    let folder: String = server.call("write_results", &[("battle", id.clone())]).await.json().await.unwrap();
    let result = fs::read_to_string(format!("{folder}/native-small/result.md")).unwrap();
    assert!(result.contains(LEFT_OUT), "{result}");
    let page = server.get(&format!("/battle/{id}/export")).send().await.unwrap().text().await.unwrap();
    assert!(page.contains(&format!("not part of the patch: {LEFT_OUT}")), "{page}");
}

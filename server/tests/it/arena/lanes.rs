//! The two lanes of a battle.

use scripted::Script;
use serde_json::json;
use tokio::net::TcpListener;

use super::{Field, launch, over, statuses, until};
use crate::harness::World;

#[tokio::test(flavor = "multi_thread")]
async fn the_cloud_runs_at_once_while_local_ones_take_their_turns() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let cloud = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(scripted::serve(listener, Script { tokens_per_second: 200.0, ..Script::default() }));
    let settings =
        format!("[[model_server]]\nname = \"cloud\"\nurl = \"{cloud}\"\nlane = \"cloud\"\nparallel = 4\n");
    let server = world.server_with_settings("one", &settings).await;
    let field = Field::new(&world, &server).await;
    // Slow enough that those who run at once are seen at it.
    let mut battle = field.qa("[[rate 20]][[count 60]]", &[]);
    // The scripted server loads one model at a time, and this cloud is one.
    let contestants =
        [("", "local/small"), ("", "cloud/small"), ("", "local/large"), ("Debugger", "cloud/small")];
    battle["contestants"] =
        contestants.map(|(identity, model)| json!({"identity": identity, "model": model})).into();
    let id = launch(&server, battle).await;
    let at_once = ["running", "running", "queued", "running"];
    let battle = until(&server, &id, "both lanes at work", |it| statuses(it) == at_once).await;
    let lanes: Vec<_> = (0..4).map(|place| battle["contestants"][place]["lane"].as_str().unwrap()).collect();
    assert_eq!(lanes, ["local", "cloud", "local", "cloud"]);
    let battle = over(&server, &id).await;
    assert_eq!(statuses(&battle), ["done"; 4], "{battle:#}");
    let log = world.model_log().await;
    assert_eq!(log["concurrent"]["max"], 1, "two at once on the local server");
}

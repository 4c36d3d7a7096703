//! Who works in flows where nobody is named: set in Settings, and counted from the next launch on.

use store::Db;

use super::{Shop, get, launch, over};
use crate::harness::{World, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn who_works_is_set_in_settings_and_followed_live() {
    let world = World::new().await;
    let url = format!("local={}", world.model_url);
    let args = ["--model-server", url.as_str()];
    let (one, two) = (world.server_with("one", &args).await, world.server_with("two", &args).await);
    let shop = Shop::new(&world, &one).await;
    let flows = one.settings().await.flows;
    assert_eq!((flows.backend.used.0.as_str(), flows.model.set), ("qwen", None));
    let choose = |backend: &str, model: &str| [("backend", backend.to_owned()), ("model", model.to_owned())];
    let refused = one.refusal("choose_for_flows", &choose("nobody", "")).await;
    assert!(refused.contains("no agent called nobody"), "{refused}");
    let refused = one.refusal("choose_for_flows", &choose("native", "local/nothing")).await;
    assert!(refused.contains("not offered now"), "{refused}");
    one.call("choose_for_flows", &choose("native", "local/analyst")).await;
    // The other server knows it too.
    eventually("the other one follows", || async {
        let flows = two.settings().await.flows;
        let model = flows.model.used.map(|model| model.to_string());
        (flows.backend.used.is_native() && model.as_deref() == Some("local/analyst")).then_some(())
    })
    .await;
    let id = launch(&one, shop.ask("investigate", "Why?")).await;
    let run = get(&one, &id).await;
    assert_eq!((run["backend"].as_str(), run["model"].as_str()), (Some("native"), Some("local/analyst")));
    assert_eq!(over(&one, &id).await["status"], "done");
    one.call("choose_for_flows", &choose("", "")).await;
    let flows = one.settings().await.flows;
    assert_eq!((flows.backend.used.0.as_str(), flows.model.set), ("qwen", None));
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_absent_now_does_not_hold_up_the_other() {
    let world = World::new().await;
    let url = format!("local={}", world.model_url);
    let server = world.server_with("one", &["--model-server", url.as_str()]).await;
    eventually("the model is offered", || async {
        let offered = server.settings().await.flows.model.offered;
        offered.iter().any(|model| model.to_string() == "local/analyst").then_some(())
    })
    .await;
    let db = Db::attach(world.database_url.parse().unwrap()).await.unwrap();
    let choose = |backend: &str, model: &str| [("backend", backend.to_owned()), ("model", model.to_owned())];
    store::settings::set_flow_model(&db, Some("gone/model")).await.unwrap();
    server.call("choose_for_flows", &choose("native", "gone/model")).await;
    let flows = server.settings().await.flows;
    assert!(flows.backend.used.is_native() && flows.model.set.as_deref() == Some("gone/model"));
    store::settings::set_flow_backend(&db, Some("gone")).await.unwrap();
    server.call("choose_for_flows", &choose("gone", "local/analyst")).await;
    let flows = server.settings().await.flows;
    assert_eq!((flows.backend.used.0.as_str(), flows.model.set.as_deref()), ("gone", Some("local/analyst")));
    let refused = server.refusal("choose_for_flows", &choose("gone", "gone/model")).await;
    assert!(refused.contains("not offered now"), "{refused}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_configured_is_not_set_in_settings() {
    let world = World::new().await;
    let server = super::server(&world, "one", "native", "local/analyst").await;
    for (field, value) in [("backend", "qwen"), ("model", "local/small")] {
        let refused = server.refusal("choose_for_flows", &[(field, value.to_owned())]).await;
        assert!(refused.contains("set by the flag --flow-"), "{refused}");
    }
    server.stop().await;
}

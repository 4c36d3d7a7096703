//! Servers that Settings adds and removes while everything runs.

use domain::settings::Draft;

use super::*;
use crate::config::from_draft;

fn server(name: &str, url: &str) -> ConfiguredServer {
    let draft = Draft { name: name.into(), url: url.into(), ..Draft::default() };
    from_draft(&draft, &|_| None).unwrap()
}

fn added(servers: Vec<ConfiguredServer>) -> Added {
    Added { servers, ..Added::default() }
}

async fn serving(models: &[&str]) -> Fake {
    fake(&[("/running", 200, json!({ "running": [] })), ("/v1/models", 200, openai_list(models))]).await
}

#[tokio::test]
async fn an_added_server_is_listed_and_a_removed_one_is_not() {
    let (one, two) = (serving(&["a"]).await, serving(&["b"]).await);
    let (models, _cancel) = look("", &[]).await;
    models.set_added(added(vec![server("one", &one.url), server("two", &two.url)]));
    models.refresh_now().await;
    let both = "one LlamaSwap Local reachable: a\ntwo LlamaSwap Local reachable: b";
    assert_eq!(shown(&models.catalogue()), both);
    assert!(models.endpoint("one").is_some());

    models.set_added(Added { removed: vec!["one".into()], ..added(vec![server("two", &two.url)]) });
    models.refresh_now().await;
    assert_eq!(shown(&models.catalogue()), "two LlamaSwap Local reachable: b");
    // Its tasks are still claimed, because somebody has to tell them.
    assert_eq!(models.endpoint("one"), None);
    let told = models.claimable().into_iter().find(|at| at.server == "one").unwrap();
    assert!(models.slots().contains(&(told.slot_key, 1)));
}

#[tokio::test]
async fn the_configuration_goes_first() {
    let (configured, other) = (serving(&["a"]).await, serving(&["b"]).await);
    let toml = format!("[[model_server]]\nname = 'desk'\nurl = '{}'", configured.url);
    let (models, _cancel) = look(&toml, &[]).await;
    // The same name at another place, and the same place under another name.
    models.set_added(added(vec![server("desk", &other.url), server("again", &configured.url)]));
    models.refresh_now().await;
    assert_eq!(shown(&models.catalogue()), "desk LlamaSwap Local reachable: a");
}

#[tokio::test]
async fn a_found_server_takes_the_name_that_it_is_given() {
    let found = serving(&["a"]).await;
    let (models, _cancel) = look("", &[&found.url]).await;
    assert_eq!(shown(&models.catalogue()), "llama-swap LlamaSwap Local reachable: a");
    models.set_added(added(vec![server("desk", &found.url)]));
    models.refresh_now().await;
    assert_eq!(shown(&models.catalogue()), "desk LlamaSwap Local reachable: a");
    models.set_added(Added::default());
    models.refresh_now().await;
    assert_eq!(shown(&models.catalogue()), "llama-swap LlamaSwap Local reachable: a");
}

#[tokio::test]
async fn a_found_server_makes_room_for_a_name() {
    let (found, other) = (serving(&["a"]).await, serving(&["b"]).await);
    let (models, _cancel) = look("", &[&found.url]).await;
    models.set_added(added(vec![server("llama-swap", &other.url)]));
    models.refresh_now().await;
    let both = "llama-swap LlamaSwap Local reachable: b\nllama-swap-2 LlamaSwap Local reachable: a";
    assert_eq!(shown(&models.catalogue()), both);
}

#[tokio::test]
async fn the_default_model_is_the_configured_then_that_of_settings_then_a_reachable_one() {
    let fake = serving(&["a", "b", "c"]).await;
    let check = async |toml: &str, set: Option<&str>, expected: &str| {
        let (models, _cancel) = look(toml, &[&fake.url]).await;
        models.set_added(Added { default_model: set.map(String::from), ..Added::default() });
        models.refresh_now().await;
        assert_eq!(models.default_model().unwrap().to_string(), expected, "{toml} {set:?}");
    };
    check("", None, "llama-swap/a").await;
    check("", Some("llama-swap/b"), "llama-swap/b").await;
    check("", Some("llama-swap/gone"), "llama-swap/a").await;
    check("default_model = 'c'", Some("llama-swap/b"), "llama-swap/c").await;
}

#[tokio::test]
async fn the_small_model_waits_for_what_settings_say() {
    let folder = tempfile::tempdir().unwrap();
    let python = program(&folder, "touch started; read -r key; echo '{\"port\": 4711}'; read -r end");
    let cancel = CancellationToken::new();
    let config = with_small(config(""), Some(python));
    let models = Models::start_at(&config, Vec::new(), client(), cancel.clone());
    models.refresh_now().await;
    assert_eq!(shown(&models.catalogue()), "", "nobody knows yet whether it is needed");
    let answers = serving(&["a"]).await;
    models.set_added(added(vec![server("it", &answers.url)]));
    models.refresh_now().await;
    assert!(models.catalogue().server("small").is_none());
    // The control: without a server it is started.
    models.set_added(Added::default());
    models.refresh_now().await;
    assert!(models.catalogue().server("small").is_some());
    cancel.cancel();
    tokio::time::timeout(Duration::from_secs(30), models.stopped()).await.unwrap();
    assert!(folder.path().join("started").exists());
}

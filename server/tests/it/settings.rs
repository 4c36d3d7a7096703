//! Settings that take effect while everything runs, on every server that shares the database.

use domain::{
    catalogue::Catalogue,
    output::Outcome,
    settings::{Checked, ModelSettings, Origin, ServerEntry, Shown},
    task::Status,
};
use serde_json::Value;

use crate::{
    chat::numbers,
    harness::{Server, World, eventually},
};

impl Server {
    async fn try_server(&self, fields: &[(&str, &str)], add: bool) -> Checked {
        let mut form: Vec<_> =
            ["name", "url", "lane", "parallel", "api_key_env", "models"].map(|key| (key, "")).to_vec();
        for (key, value) in fields {
            form.iter_mut().find(|(name, _)| name == key).unwrap().1 = value;
        }
        let names: Vec<_> = form.iter().map(|(key, _)| format!("draft[{key}]")).collect();
        let mut fields: Vec<_> =
            names.iter().zip(&form).map(|(name, (_, value))| (name.as_str(), (*value).to_owned())).collect();
        fields.push(("intent", if add { "add" } else { "test" }.to_owned()));
        self.call("try_model_server", &fields).await.json().await.unwrap()
    }

    pub async fn section(&self, section: &str) -> Shown {
        self.call("show_settings", &[("section", section.to_owned())]).await.json().await.unwrap()
    }

    pub async fn settings(&self) -> ModelSettings {
        match self.section("models").await {
            Shown::Models(settings) => settings,
            other => panic!("{other:?}"),
        }
    }

    pub async fn entry(&self, name: &str) -> Option<ServerEntry> {
        self.settings().await.servers.into_iter().find(|entry| entry.name == name)
    }

    /// As the model picker has it, without asking anybody anew.
    async fn catalogue(&self) -> Catalogue {
        let offered: Value =
            self.call("catalogue", &[("refresh", "false".into())]).await.json().await.unwrap();
        serde_json::from_value(offered["catalogue"].clone()).unwrap()
    }

    pub async fn offers(&self, model: &str) -> bool {
        self.catalogue().await.resolve(model).is_some()
    }

    async fn remove(&self, name: &str, told: u32) {
        self.call("remove_model_server", &[("name", name.into()), ("told", told.to_string())]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_added_on_one_serves_all_without_a_restart() {
    let world = World::new().await;
    let (one, two) = (world.server_with("one", &[]).await, world.server_with("two", &[]).await);
    assert!(!two.offers("desk/small").await);
    let added = one.try_server(&[("name", "desk"), ("url", &world.model_url)], true).await;
    assert!(added.added && added.faults.is_empty(), "{added:?}");
    assert!(added.look.unwrap().words().contains("model"), "the answer says what was found");
    assert!(one.offers("desk/small").await, "at once where it was added");
    eventually("the other server follows", || async { two.offers("desk/small").await.then_some(()) }).await;

    let chat = two.new_chat(&world).await;
    let mut page = two.watch(chat).await;
    two.ask_of(chat, "[[count 20]]", "desk/small").await;
    page.until_settled(&two).await;
    assert_eq!(page.answer(), numbers(20));

    two.remove("desk", 0).await;
    assert!(!two.offers("desk/small").await);
    eventually("the other server follows", || async { (!one.offers("desk/small").await).then_some(()) })
        .await;
    let restarted = world.server_with("three", &[]).await;
    assert!(restarted.settings().await.servers.is_empty(), "it stays removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_added_is_there_after_a_restart() {
    let world = World::new().await;
    let server = world.server_with("one", &[]).await;
    server.try_server(&[("name", "desk"), ("url", &world.model_url)], true).await;
    server.call("choose_default_model", &[("model", "desk/small".into())]).await;
    server.kill().await;
    let server = world.server_with("one", &[]).await;
    eventually("it is found", || async { server.offers("desk/small").await.then_some(()) }).await;
    let default = server.settings().await.default_model;
    assert_eq!((default.set.as_deref(), default.origin), (Some("desk/small"), Origin::Settings));
    assert_eq!(default.used.unwrap().to_string(), "desk/small");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_asks_the_address_and_keeps_nothing() {
    let world = World::new().await;
    let server = world.server_with("one", &[]).await;
    let look = async |fields: &[(&str, &str)]| {
        let checked = server.try_server(fields, false).await;
        assert!(!checked.added && checked.faults.is_empty(), "{checked:?}");
        checked.look.unwrap().words()
    };
    let found = look(&[("url", &world.model_url)]).await;
    assert!(found.starts_with("llama-swap, ") && found.contains("small"), "{found}");
    let dead = look(&[("url", "http://127.0.0.1:1")]).await;
    assert!(dead.contains("connection refused"), "{dead}");
    let unknown = look(&[("url", "http://nowhere.invalid")]).await;
    assert!(unknown.contains("host name is not known"), "{unknown}");
    let no_key = look(&[("url", &world.model_url), ("api_key_env", "NO_SUCH_VARIABLE")]).await;
    assert_eq!(no_key, "NO_SUCH_VARIABLE is not set");
    assert!(server.settings().await.servers.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_that_breaks_the_rules_is_refused_at_its_field() {
    let world = World::new().await;
    let server = world.server("one").await;
    let good = [("name", "desk"), ("url", "http://127.0.0.1:1")];
    let check = async |change: &[(&str, &str)], field: &str, words: &str| {
        let checked = server.try_server(&[good.as_slice(), change].concat(), true).await;
        assert!(!checked.added && checked.look.is_none(), "{checked:?}");
        let fault = checked.fault(field).unwrap_or_else(|| panic!("no fault at {field}: {checked:?}"));
        assert!(fault.contains(words), "{fault}");
        checked.draft
    };
    let kept = check(&[("url", "file:///etc/passwd")], "url", "not a web address").await;
    assert_eq!((kept.name.as_str(), kept.url.as_str()), ("desk", "file:///etc/passwd"), "nothing is lost");
    check(&[("url", "gopher://127.0.0.1:1")], "url", "not a web address").await;
    check(&[("url", "")], "url", "missing").await;
    check(&[("name", "a/b")], "name", "not a name").await;
    check(&[("name", "local")], "name", "already").await;
    check(&[("url", &world.model_url.replace("127.0.0.1", "localhost"))], "url", "\"local\" again").await;
    check(&[("lane", "local"), ("parallel", "3")], "parallel", "one task at a time").await;
    check(&[("api_key_env", "DATABASE_URL")], "api_key_env", "BooCode's own").await;
    let leaked = check(&[("api_key_env", "sk-hunter2")], "api_key_env", "name of a variable").await;
    assert_eq!(leaked.api_key_env, "", "what may be a key is not sent back");
    assert_eq!(server.settings().await.servers.len(), 1, "only the one from the flag");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_configuration_says_is_shown_and_not_changed() {
    let world = World::new().await;
    let flag = format!("local={}", world.model_url);
    let args = ["--model-server", flag.as_str(), "--default-model", "local/small"];
    let server = world.server_with("one", &args).await;
    let entry = server.entry("local").await.unwrap();
    assert_eq!(entry.origin, Origin::Flag("--model-server".into()));
    let local = [("name", "local".to_owned()), ("told", "9".to_owned())];
    assert!(server.refusal("remove_model_server", &local).await.contains("missing"));
    let default = server.settings().await.default_model;
    assert_eq!(default.origin, Origin::Flag("--default-model".into()));
    let refused = server.refusal("choose_default_model", &[("model", "local/small".into())]).await;
    assert!(refused.contains("the flag --default-model"), "{refused}");

    let Shown::About(facts) = server.section("about").await else { panic!() };
    let fact = |name: &str| facts.iter().find(|fact| fact.name == name).unwrap();
    assert_eq!(fact("Data directory").origin, Some(Origin::Flag("--data-dir".into())));
    assert!(fact("Data directory").value.ends_with("/one"));
    assert!(fact("Postgres").value.starts_with(|c: char| c.is_ascii_digit()));
    let told = serde_json::to_string(&facts).unwrap();
    assert!(!told.contains(&world.database_url), "the address of the database holds a password");
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_a_server_is_honest_about_what_waits_for_it() {
    let world = World::new().await;
    let server = world.server_with("one", &[]).await;
    server.try_server(&[("name", "desk"), ("url", &world.model_url)], true).await;
    let (busy, waiting) = (server.new_chat(&world).await, server.new_chat(&world).await);
    let mut busy_page = server.watch(busy).await;
    server.ask_of(busy, "[[count 300]]", "desk/small").await;
    busy_page.until_said(&server, 10).await;
    let mut page = server.watch(waiting).await;
    server.ask_of(waiting, "[[say never]]", "desk/small").await;
    let work = server.entry("desk").await.unwrap().work;
    assert_eq!((work.running, work.queued), (1, 1));

    let unaware = [("name", "desk".to_owned()), ("told", "0".to_owned())];
    assert!(server.refusal("remove_model_server", &unaware).await.contains("1 tasks wait"));
    assert!(server.offers("desk/small").await, "nothing was removed");

    server.remove("desk", 1).await;
    page.until_settled(&server).await;
    let Status::Settled { outcome: Outcome::Void { reason }, .. } = page.last_status() else {
        panic!("{:?}", page.last_status())
    };
    assert!(reason.contains("desk is not there any more"), "{reason}");
    busy_page.until_settled(&server).await;
    assert_eq!(busy_page.answer(), numbers(300), "what was being answered is finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_without_scripts_leads_to_a_page_with_its_answer() {
    let world = World::new().await;
    let server = world.server_with("one", &[]).await;
    let fields = [
        ("draft[name]", "desk".to_owned()),
        ("draft[url]", "ftp://desk".to_owned()),
        ("draft[api_key_env]", "sk-hunter2".to_owned()),
        ("intent", "add".to_owned()),
    ];
    let form = server.post_as(&server.cookie, "text/html", "check_model_server", &fields);
    let answer = form.send().await.unwrap();
    assert!(answer.status().is_redirection(), "{}", answer.status());
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    assert!(location.starts_with("/settings/models?checked=") && !location.contains("hunter2"), "{location}");
    let id = location.split("checked=").nth(1).unwrap().split('#').next().unwrap().to_owned();
    let fields = [("section", "models".to_owned()), ("checked", id)];
    let shown: Shown = server.call("show_settings", &fields).await.json().await.unwrap();
    let Shown::Models(ModelSettings { checked: Some(checked), .. }) = shown else { panic!("{shown:?}") };
    assert!(checked.fault("url").is_some() && checked.fault("api_key_env").is_some());
    assert_eq!((checked.draft.name.as_str(), checked.draft.api_key_env.as_str()), ("desk", ""));
}

//! What Settings keeps.

use domain::{
    Rejected,
    catalogue::Lane,
    feed::Event,
    protocol::Protocol,
    settings::{Part, Work},
};
use sqlx::PgPool;
use store::{
    Db,
    keys::{self, SealedKey},
    settings::{self, SERVERS_MAX, ServerRow},
};

use super::scene::{Scene, all_at_once, rejected};

fn server(name: &str, url: &str) -> ServerRow {
    ServerRow {
        name: name.into(),
        url: url.into(),
        slot_key: url.into(),
        lane: Lane::Cloud,
        parallel: 4,
        api_key_env: Some("A_KEY".into()),
        models: vec!["one".into(), "two".into()],
        speaks: Some(vec![Protocol::Messages]),
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn servers_are_added_removed_and_brought_back(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (desk, rack) = (server("desk", "https://desk"), server("rack", "https://rack"));
    settings::add_server(&scene.db, &desk, None).await.unwrap();
    settings::add_server(&scene.db, &rack, None).await.unwrap();
    assert_eq!(settings::load(&scene.db).await.unwrap().servers, [desk.clone(), rack.clone()]);

    settings::remove_server(&scene.db, "desk", 0).await.unwrap();
    let kept = settings::load(&scene.db).await.unwrap();
    assert_eq!(kept.servers, std::slice::from_ref(&rack));
    assert_eq!(kept.removed, ["desk"], "it is remembered, for whoever waits for it");
    let again = rejected(settings::remove_server(&scene.db, "desk", 0).await);
    assert_eq!(again, Rejected::missing("model server"));

    let moved = ServerRow { parallel: 8, ..server("desk", "https://elsewhere") };
    settings::add_server(&scene.db, &moved, None).await.unwrap();
    let kept = settings::load(&scene.db).await.unwrap();
    assert_eq!((kept.servers, kept.removed), (vec![rack, moved], Vec::<String>::new()));
    let told = scene.events().await.into_iter().map(|envelope| envelope.event);
    let changes = told.filter(|event| *event == Event::SettingsChanged { what: Part::ModelServers });
    assert_eq!(changes.count(), 4, "everybody is told of each change, and of nothing that was refused");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_key_is_kept_for_each_host_and_goes_with_its_server(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let key = |host: &str, byte| SealedKey { server: "desk".into(), host: host.into(), sealed: vec![byte] };
    let kept = async || {
        let mut keys = settings::load(&scene.db).await.unwrap().keys;
        keys.sort_by(|one, other| one.host.cmp(&other.host));
        keys
    };
    assert_eq!(rejected(keys::set(&scene.db, &key("a", 1)).await), Rejected::missing("model server"));
    settings::add_server(&scene.db, &server("desk", "https://desk"), Some(&key("a", 1))).await.unwrap();
    keys::set(&scene.db, &key("b", 2)).await.unwrap();
    keys::set(&scene.db, &key("a", 3)).await.unwrap();
    assert_eq!(kept().await, [key("a", 3), key("b", 2)]);
    keys::remove(&scene.db, "desk").await.unwrap();
    assert_eq!(kept().await, []);
    keys::set(&scene.db, &key("a", 4)).await.unwrap();
    settings::remove_server(&scene.db, "desk", 0).await.unwrap();
    assert_eq!(kept().await, [], "a server that comes back has no key");
    assert_eq!(format!("{:?}", key("a", 1)), "SealedKey(desk on a)");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_name_and_a_place_are_there_once(pool: PgPool) {
    let db = Db::attach((*pool.connect_options()).clone()).await.unwrap();
    let add = |n: usize| {
        let db = db.clone();
        async move { settings::add_server(&db, &server("desk", &format!("https://{n}")), None).await.is_ok() }
    };
    let added = all_at_once((0..8).map(add)).await;
    assert_eq!(added.iter().filter(|added| **added).count(), 1, "{added:?}");

    settings::add_server(&db, &server("one", "https://same"), None).await.unwrap();
    let twice = rejected(settings::add_server(&db, &server("two", "https://same"), None).await);
    assert_eq!(twice, Rejected::Invalid("https://same is in the list already.".into()));
    settings::remove_server(&db, "one", 0).await.unwrap();
    settings::add_server(&db, &server("two", "https://same"), None).await.unwrap();
}

#[sqlx::test(migrations = "../../migrations")]
async fn servers_are_bounded(pool: PgPool) {
    let db = Db::from(pool);
    for n in 0..SERVERS_MAX {
        settings::add_server(&db, &server(&format!("n{n}"), &format!("https://{n}")), None).await.unwrap();
    }
    let refused = rejected(settings::add_server(&db, &server("more", "https://more"), None).await);
    assert!(refused.to_string().contains("remove one first"), "{refused}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_removal_knows_of_the_tasks_that_wait(pool: PgPool) {
    let scene = Scene::new(pool).await;
    settings::add_server(&scene.db, &server("local", "http://local"), None).await.unwrap();
    let (_, running) = scene.start("local").await;
    for _ in 0..2 {
        scene.ask_anew("local").await;
    }
    let work = settings::work(&scene.db).await.unwrap();
    assert_eq!(work.get("local"), Some(&Work { queued: 2, running: 1 }));
    assert_eq!(work.get("cloud"), None);

    let refused = rejected(settings::remove_server(&scene.db, "local", 1).await);
    assert!(refused.to_string().contains("2 tasks wait"), "{refused}");
    assert_eq!(settings::load(&scene.db).await.unwrap().servers.len(), 1, "nothing was removed");
    settings::remove_server(&scene.db, "local", 2).await.unwrap();
    assert_eq!(scene.running().await, [running], "what runs is left alone");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_default_model_is_set_and_taken_back(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let kept = async || settings::load(&scene.db).await.unwrap().default_model;
    assert_eq!(kept().await, None);
    for model in ["desk/a", "desk/b"] {
        settings::set_default_model(&scene.db, Some(model)).await.unwrap();
        assert_eq!(kept().await.as_deref(), Some(model));
    }
    settings::set_default_model(&scene.db, None).await.unwrap();
    assert_eq!(kept().await, None);
    let last = scene.events().await.pop().unwrap().event;
    assert_eq!(last, Event::SettingsChanged { what: Part::DefaultModel });
}

#[sqlx::test(migrations = "../../migrations")]
async fn who_works_in_flows_is_set_and_taken_back(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let kept = async || settings::flows(&scene.db).await.unwrap();
    assert_eq!(kept().await, settings::Flows::default());
    settings::set_flow_backend(&scene.db, Some("goose")).await.unwrap();
    settings::set_flow_model(&scene.db, Some("desk/a")).await.unwrap();
    let expected = settings::Flows { backend: Some("goose".into()), model: Some("desk/a".into()) };
    assert_eq!(kept().await, expected);
    settings::set_flow_backend(&scene.db, None).await.unwrap();
    assert_eq!(kept().await, settings::Flows { backend: None, ..expected });
    let last = scene.events().await.pop().unwrap().event;
    assert_eq!(last, Event::SettingsChanged { what: Part::Flows });
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_login_is_allowed_by_agent_and_host(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let used = async |host: &str, agent: &str| settings::own_login(&scene.db, host, agent).await.unwrap();
    settings::set_own_login(&scene.db, "here", "claude", true).await.unwrap();
    settings::set_own_login(&scene.db, "here", "claude", true).await.unwrap();
    assert!(used("here", "claude").await);
    assert!(!used("here", "codex").await && !used("there", "claude").await);
    settings::set_own_login(&scene.db, "here", "claude", false).await.unwrap();
    assert!(!used("here", "claude").await);
    let told = scene.events().await.into_iter().map(|envelope| envelope.event);
    assert_eq!(told.filter(|event| *event == Event::SettingsChanged { what: Part::OwnLogins }).count(), 3);
}

//! Keys that are entered in Settings: used, and seen by nobody.

use std::{fs, time::Duration};

use domain::{
    output::Outcome,
    settings::{Checked, KeyState},
    task::Status,
};
use scripted::Script;
use sqlx::{Connection as _, PgConnection};

use crate::{
    coder::{calls, coder, marked, task},
    harness::{Server, Watcher, World, eventually},
};

const KEY: &str = "sk-entered-0123456789abcdef";

/// Whose model server wants the key.
async fn world() -> World {
    World::with(Script { tokens_per_second: 0.0, api_key: Some(KEY.to_owned()), ..Script::default() }).await
}

impl Server {
    async fn add_with_key(&self, url: &str, key: &str) -> Checked {
        let fields = [
            ("draft[name]", "desk".to_owned()),
            ("draft[url]", url.to_owned()),
            ("key", key.to_owned()),
            ("intent", "add".to_owned()),
        ];
        self.call("try_model_server", &fields).await.json().await.unwrap()
    }

    async fn set_key(&self, key: &str) {
        self.call("set_server_key", &[("name", "desk".to_owned()), ("key", key.to_owned())]).await;
    }

    async fn key_state(&self) -> KeyState {
        self.entry("desk").await.unwrap().key
    }

    async fn outcome(&self, page: &mut Watcher, text: &str) -> Outcome {
        self.ask_of(page.chat, text, "desk/small").await;
        page.until_settled(self).await;
        match page.last_status() {
            Status::Settled { outcome, .. } => outcome.clone(),
            other => panic!("{other:?}"),
        }
    }
}

fn is_done(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done { .. })
}

/// Every row of every table, as text. Bytes are hexadecimal there.
async fn dump(world: &World) -> String {
    let mut connection = PgConnection::connect(&world.database_url).await.unwrap();
    let tables: Vec<String> =
        sqlx::query_scalar("select tablename::text from pg_tables where schemaname = 'public'")
            .fetch_all(&mut connection)
            .await
            .unwrap();
    let mut all = String::new();
    for table in tables {
        let rows = format!("select t::text from {table} t");
        let rows: Vec<String> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(rows)).fetch_all(&mut connection).await.unwrap();
        all.push_str(&rows.join("\n"));
    }
    all
}

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_used_replaced_removed_and_outlives_a_restart() {
    let world = world().await;
    let server = world.server_with("one", &[]).await;
    let added = server.add_with_key(&world.model_url, KEY).await;
    assert!(added.added && added.faults.is_empty(), "{added:?}");
    assert_eq!(server.key_state().await, KeyState::Kept);
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    assert!(is_done(&server.outcome(&mut page, "[[say one]]").await));

    server.kill().await;
    let server = world.server_with("one", &[]).await;
    let mut page = server.watch(chat).await;
    eventually("it is asked again", || async { server.offers("desk/small").await.then_some(()) }).await;
    assert!(is_done(&server.outcome(&mut page, "[[say two]]").await));

    server.set_key("sk-another-key-0123456789").await;
    let refused = server.outcome(&mut page, "[[say three]]").await;
    assert!(!is_done(&refused), "the control: only the right one opens");
    server.set_key(KEY).await;
    assert!(is_done(&server.outcome(&mut page, "[[say four]]").await));
    server.call("remove_server_key", &[("name", "desk".to_owned())]).await;
    assert_eq!(server.key_state().await, KeyState::None);
    assert!(!is_done(&server.outcome(&mut page, "[[say five]]").await));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_nowhere_in_the_database_and_in_no_answer() {
    let world = world().await;
    let server = world.server_with("one", &[]).await;
    let answer = server.add_with_key(&world.model_url, KEY).await;
    let mut answers = serde_json::to_string(&answer).unwrap();
    server.set_key(KEY).await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    // The model says what it was asked with. In the question it stands in two pieces, so that no other place has it.
    let (one, two) = KEY.split_at(11);
    let said = server.outcome(&mut page, &format!("[[say it is {one}]][[say {two} over]]")).await;
    assert!(is_done(&said), "{said:?}");
    assert_eq!(page.answer().trim(), "it is [redacted] over");

    let sections = ["models", "agents", "projects", "worktrees", "browsers", "about"];
    for section in sections {
        let fields = [("section", section.to_owned())];
        answers.push_str(&server.call("show_settings", &fields).await.text().await.unwrap());
        answers.push_str(
            &server.get(&format!("/settings/{section}")).send().await.unwrap().text().await.unwrap(),
        );
    }
    for path in ["/", "/metrics", "/history"] {
        answers.push_str(&server.get(path).send().await.unwrap().text().await.unwrap());
    }
    answers.push_str(&server.call("catalogue", &[("refresh", "true".into())]).await.text().await.unwrap());
    answers.push_str(&format!("{:?}", page.seen));
    // A key that is refused does not come back either.
    let refused = server.refusal("set_server_key", &[("name", "none".into()), ("key", KEY.into())]).await;
    let wrong =
        server.refusal("set_server_key", &[("name", "desk".into()), ("key", format!("{KEY} x"))]).await;
    assert!(wrong.contains("without spaces"), "{wrong}");
    let again = server.add_with_key("ftp://nowhere", KEY).await;
    assert!(again.fault("url").is_some());
    answers.push_str(&format!("{refused}{wrong}{}", serde_json::to_string(&again).unwrap()));

    let database = dump(&world).await;
    for (what, text) in [("answers", &answers), ("database", &database)] {
        assert!(text.contains("desk"), "the control: {what} are looked through");
        assert!(!text.contains(KEY) && !text.contains(&hexadecimal(KEY)), "{what}");
    }
    // The control: what is stored in the clear is found so.
    assert!(database.contains(&world.model_url));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_child_is_given_a_key_nor_what_opens_it() {
    let world = world().await;
    let server = world.server_with("one", &[]).await;
    server.add_with_key(&world.model_url, KEY).await;
    let (_, chat) = coder(&world, &server).await;
    let secret = world.folder.path().join("one/keys.secret");
    assert_eq!(fs::read(&secret).unwrap().len(), 32, "the control: it is there to be read");
    let command = format!(
        "env; cat /proc/self/environ; ls -la {0}; base64 {0} && echo got-it; sleep 1; echo over",
        secret.display()
    );
    let call = serde_json::json!({ "command": command });
    let mut page = server.watch(chat).await;
    let mut fields = task(chat, &format!("[[tool run {call}]][[say done]]"), "native");
    fields[3].1 = "desk/small".to_owned();
    server.call("ask", &fields).await;
    page.until(&server, "the command", |page| {
        !page.chat().branch().is_empty() && page.last_stream().contains("sleep 1")
    })
    .await;
    let marker = page.last_task().id.to_string();
    let children = eventually("it runs", || async {
        let children = marked(&marker);
        (!children.is_empty()).then_some(children)
    })
    .await;
    for child in children {
        for file in ["environ", "cmdline"] {
            let text = fs::read(child.join(file)).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&text).contains(KEY), "{child:?}");
        }
    }
    page.until_settled(&server).await;
    assert!(page.answer().contains("done"), "its model was asked with the key: {:?}", page.last_status());
    let output = calls(&page)[0].output.clone();
    assert!(output.contains("over") && output.contains("HOME="), "the control: {output}");
    assert!(!output.contains(KEY) && !output.contains("got-it"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_without_the_key_leaves_the_work_to_one_that_has_it() {
    let world = world().await;
    let (one, two) = (world.server_with("one", &[]).await, world.server_with("two", &[]).await);
    one.add_with_key(&world.model_url, KEY).await;
    eventually("the other one follows", || async { two.entry("desk").await.map(drop) }).await;
    assert_eq!((one.key_state().await, two.key_state().await), (KeyState::Kept, KeyState::Elsewhere));
    let look = two.entry("desk").await.unwrap().look.unwrap().words();
    assert!(look.contains("entered on another machine") && look.contains("enter it here too"), "{look}");
    let chat = one.new_chat(&world).await;
    let mut page = one.watch(chat).await;
    for n in 0..6 {
        assert!(
            is_done(&one.outcome(&mut page, &format!("[[say {n}]]")).await),
            "never by the one without it"
        );
    }

    two.set_key(KEY).await;
    assert_eq!((one.key_state().await, two.key_state().await), (KeyState::Kept, KeyState::Kept));
    one.stop().await;
    let mut page = two.watch(chat).await;
    assert!(is_done(&two.outcome(&mut page, "[[say alone]]").await));
    two.call("remove_server_key", &[("name", "desk".to_owned())]).await;
    let one = world.server_with("one", &[]).await;
    let forgotten = || async { (one.entry("desk").await?.key == KeyState::None).then_some(()) };
    eventually("it is forgotten everywhere", forgotten).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_cannot_be_kept_is_said_at_its_field() {
    let world = world().await;
    let server = world.server_with("one", &[]).await;
    let check = async |url: &str, key: &str, variable: &str, field: &str, words: &str| {
        let fields = [
            ("draft[name]", "desk".to_owned()),
            ("draft[url]", url.to_owned()),
            ("draft[api_key_env]", variable.to_owned()),
            ("key", key.to_owned()),
            ("intent", "add".to_owned()),
        ];
        let checked: Checked = server.call("try_model_server", &fields).await.json().await.unwrap();
        let fault = checked.fault(field).unwrap_or_else(|| panic!("no fault at {field}: {checked:?}"));
        assert!(!checked.added && fault.contains(words), "{fault}");
    };
    check("http://models.example", KEY, "", "url", "unencrypted").await;
    check("https://models.example", "two words", "", "key", "without spaces").await;
    check("https://models.example", KEY, "HOME_KEY", "key", "not both").await;
    assert!(server.entry("desk").await.is_none());
    tokio::time::timeout(Duration::from_secs(60), server.add_with_key(&world.model_url, " ")).await.unwrap();
    assert_eq!(server.key_state().await, KeyState::None, "nothing was typed");
}

//! A battle outlives its server.

use std::collections::BTreeSet;

use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use super::{Field, contestant, diff, launch, over, statuses, until};
use crate::harness::World;

#[tokio::test(flavor = "multi_thread")]
async fn after_kill_9_nobody_is_lost_and_nobody_runs_twice() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let prompt = "[[on small]][[shell echo a >> a.txt]][[say a]]\
                  [[on large]][[shell echo b >> b.txt; sleep 4]][[say good]]";
    let mut battle = field.coding(prompt, &["native@small", "goose@large", "native@large"]);
    battle["judge"] = json!("local/judge");
    battle["check"] = json!("true");
    let id = launch(&server, battle).await;
    // In the middle of the second one's command.
    until(&server, &id, "the second one works", |it| {
        it["contestants"][0]["status"] == "done" && it["contestants"][1]["status"] == "running"
    })
    .await;
    server.kill().await;
    let server = world.server("one").await;
    let battle = over(&server, &id).await;
    assert_eq!(
        (battle["status"].as_str(), statuses(&battle)),
        (Some("completed"), vec!["done"; 3]),
        "{battle:#}"
    );
    // One task each: what was lost was tried again within it.
    let tries: BTreeSet<_> = (0..3).map(|place| battle["contestants"][place]["tries"].to_string()).collect();
    assert_eq!(tries.len(), 3);
    assert!((0..3).all(|place| battle["contestants"][place]["tries"].as_array().unwrap().len() == 1));
    // A fresh worktree each time: what the lost one left is not in the result.
    let patch = diff(&server, &id, &contestant(&battle, 1)).await;
    assert_eq!(patch.matches("+b\n").count(), 1, "{patch}");
    assert_eq!(battle["analyses"][0]["state"], "done", "{battle:#}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_battle_owns_is_swept_at_the_next_start() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = launch(&server, field.coding("[[say So.]]", &["native@small", "native@large"])).await;
    over(&server, &id).await;
    server.kill().await;
    // As a crash leaves them: between a snapshot and its battle, and in the middle of a check.
    let (data, stray) = (world.folder.path().join("one"), Uuid::now_v7().to_string());
    let limits = git::Limits::default();
    let snapshot = data.join("snapshots").join(&stray);
    git::Snapshot::take(&snapshot, &stray, &field.project, false, &limits).unwrap();
    let tree = data.join("checks/check-1");
    git::Worktree::create(&tree, "check-1", &field.project, git::Start::default(), &limits).unwrap();
    let half_made = data.join(format!("checks/check-{stray}-2"));
    std::fs::create_dir(&half_made).unwrap();
    std::fs::write(half_made.join("owner.json.new"), "").unwrap();
    let half_gone = data.join("trash").join(&stray);
    std::fs::create_dir(&half_gone).unwrap();
    // What is not ours is nobody's to remove.
    std::fs::create_dir(data.join("checks/mine")).unwrap();
    let server = world.server("one").await;
    assert!(!snapshot.exists() && !tree.exists() && !half_made.exists() && !half_gone.exists());
    assert!(data.join("snapshots").join(&id).exists() && data.join("checks/mine").exists());
    server.stop().await;
}

/// As a database leaves it that goes away while a battle is committed: what it would have begun with is there already.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_launch_left_that_failed_is_not_in_the_way_of_the_next() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = Uuid::now_v7().to_string();
    let left = world.folder.path().join("one/snapshots").join(&id);
    git::Snapshot::take(&left, &id, &field.project, false, &git::Limits::default()).unwrap();
    let mut battle = field.coding("[[say So.]]", &["native@small", "native@large"]);
    battle["id"] = id.clone().into();
    assert_eq!(launch(&server, battle).await, id);
    assert_eq!(over(&server, &id).await["status"], "completed");
    server.stop().await;
}

/// A worktree is made, and then the database does not take its row: so many times, with this code.
#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_is_noted_or_goes() {
    let check = async |code: &str, times: u32, expected: &str| {
        let world = World::new().await;
        let server = world.server("one").await;
        let field = Field::new(&world, &server).await;
        let mut database = PgConnection::connect(&world.database_url).await.unwrap();
        let refuse = format!(
            "create sequence refusals;
             create function refuse() returns trigger language plpgsql as $$ begin
                 if nextval('refusals') <= {times} then raise exception 'no' using errcode = '{code}'; end if;
                 return new;
             end $$;
             create trigger refuse before insert on worktrees for each row execute function refuse();"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(refuse)).execute(&mut database).await.unwrap();
        let id = launch(&server, field.coding("[[say So.]]", &["native@small", "native@large"])).await;
        let battle = over(&server, &id).await;
        let [kept, trashed] = ["worktrees", "trash"]
            .map(|name| std::fs::read_dir(world.folder.path().join("one").join(name)).unwrap().count());
        let came = format!("{}: {kept} kept, {trashed} in the trash", statuses(&battle).join(" "));
        assert_eq!(came, expected, "{code}: {battle:#}");
        server.stop().await;
    };
    check("57P03", 2, "done done: 2 kept, 0 in the trash").await;
    check("23514", 99, "void void: 0 kept, 0 in the trash").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_server_on_the_same_database_finishes_what_needs_no_folder() {
    let world = World::new().await;
    let (one, other) = (world.server("one").await, world.server("two").await);
    let field = Field::new(&world, &one).await;
    let id = launch(&one, field.qa("[[rate 60]][[count 120]]", &["@small", "@large", "@echo"])).await;
    until(&one, &id, "the first one works", |it| it["contestants"][0]["status"] == "running").await;
    one.kill().await;
    let battle = over(&other, &id).await;
    assert_eq!(statuses(&battle), ["done"; 3], "{battle:#}");
    other.stop().await;
}

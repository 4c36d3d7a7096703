//! What becomes of results: the folder, adopting, going on, and diffs of any two.

use std::fs;

use domain::{
    diff::Outline,
    feed::StreamId,
    id::{Attempt, TaskId},
    worktree,
};
use reqwest::StatusCode;
use serde_json::{Value, json};
use store::Db;

use super::{Field, asked_of, contestant, launch, over};
use crate::{
    coder::git,
    harness::{World, eventually},
};

/// What the second one says ends at a limit.
const PROMPT: &str = "[[on small]][[shell echo small > made.txt]][[say I made it.]]\
                      [[on large]][[limit 3]][[shell echo large > made.txt; echo two > other.txt]][[say So did I.]]";

#[tokio::test(flavor = "multi_thread")]
async fn the_results_folder_tells_it_all_and_git_does_not_see_it() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mut battle = field.coding(PROMPT, &["native@small", "native@large"]);
    battle["judge"] = json!("local/judge");
    let id = launch(&server, battle).await;
    over(&server, &id).await;
    let arena = field.project.join("Arena");
    let finished = || async {
        let top = fs::read_dir(&arena).ok()?.flatten().find(|entry| entry.path().is_dir())?.path();
        let manifest: Value = serde_json::from_slice(&fs::read(top.join("manifest.json")).ok()?).ok()?;
        (manifest["finished_at"].is_string() && top.join("analysis.md").exists()).then_some((top, manifest))
    };
    let (top, manifest) = eventually("the results are written", finished).await;
    assert_eq!(
        (manifest["id"].as_str(), manifest["battle_type"].as_str()),
        (Some(id.as_str()), Some("coding"))
    );
    assert_eq!(manifest["contestants"][1]["model"], "local/large");
    let read = |path: &str| fs::read_to_string(top.join(path)).unwrap();
    assert!(read("native-small/diff.patch").contains("+small"));
    assert!(
        read("native-large/result.md").contains("## Output\n\nSo did I."),
        "{}",
        read("native-large/result.md")
    );
    for (folder, is_cut) in [("native-small", "no"), ("native-large", "yes")] {
        let result = read(&format!("{folder}/result.md"));
        assert!(result.contains(&format!("| Cut off at a limit | {is_cut} |")), "{result}");
    }
    let asked = asked_of(&world, "judge").await;
    assert!(asked.iter().any(|asked| asked.contains("is not whole")), "{asked:?}");
    assert_eq!(git(&field.project, &["status", "--porcelain"]), "");
    // It is made again of what Postgres has.
    fs::remove_dir_all(&arena).unwrap();
    let path: String = server.call("write_results", &[("battle", id.clone())]).await.json().await.unwrap();
    assert_eq!(
        fs::read_to_string(format!("{path}/native-small/diff.patch")).unwrap().matches("+small").count(),
        1
    );
    // At that place another server may have another folder, or none.
    let other = world.server("two").await;
    let words = other.refusal("write_results", &[("battle", id)]).await;
    assert!(words.contains("launched by another BooCode"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_contestant_is_adopted_and_another_gone_on_with() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = launch(&server, field.coding(PROMPT, &["native@small", "native@large"])).await;
    let battle = over(&server, &id).await;
    let (small, large) = (contestant(&battle, 0), contestant(&battle, 1));

    // From the one to the other, as a diff view asks for it.
    let of = json!({"Between": [small, large]});
    let fields = [("of[Between][0]", small.clone()), ("of[Between][1]", large.clone())];
    let mut asked: Vec<_> = fields.to_vec();
    asked.extend([
        ("options[is_split]", "false".into()),
        ("options[ignores_whitespace]", "false".into()),
        ("options[columns]", "0".into()),
    ]);
    let outline: Outline = server.call("diff_outline", &asked).await.json().await.unwrap();
    let files: Vec<_> = outline.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["made.txt", "other.txt"], "{of}");

    let branch = [("contestant", large.clone()), ("branch", "try/large".to_owned())];
    let how: String = server.call("adopt_contestant", &branch).await.json().await.unwrap();
    assert!(how.contains("on try/large"), "{how}");
    assert_eq!(git(&field.project, &["show", "try/large:other.txt"]), "two\n");
    let how: String =
        server.call("adopt_contestant", &[("contestant", small.clone())]).await.json().await.unwrap();
    assert_eq!(how, "Applied to 1 file.");
    assert_eq!(fs::read_to_string(field.project.join("made.txt")).unwrap(), "small\n");
    let refused = server.refusal("adopt_contestant", &[("contestant", large.clone())]).await;
    assert!(refused.contains("made.txt"), "{refused}");

    // A Coder goes on where the contestant stopped; the battle's own result stays as it was.
    let address: String =
        server.call("go_on_with", &[("contestant", large.clone())]).await.json().await.unwrap();
    let chat = address.strip_prefix("/chat/").unwrap().parse().unwrap();
    let mut page = server.watch(chat).await;
    crate::coder::work_of(&server, &mut page, "[[shell cat made.txt; echo more >> made.txt]]", "native")
        .await;
    let call = crate::coder::calls(&page).remove(0);
    assert_eq!(call.output, "large\n");
    assert_eq!(page.chat().worktree.as_ref().unwrap().state, worktree::State::Ready);
    assert!(!super::diff(&server, &id, &large).await.contains("+more"));

    // The rest goes to the trash together, and its diffs stay.
    server.call("discard_worktrees", &[("battle", id.clone())]).await;
    assert!(super::diff(&server, &id, &small).await.contains("+small"));
    let refused = server.refusal("adopt_contestant", &[("contestant", small)]).await;
    assert!(refused.contains("in the trash"), "{refused}");
    server.call("restore_worktrees", &[("battle", id.clone())]).await;
    let (status, _) = server.script(&format!("/api/battles/{id}"), None).await;
    assert_eq!(status, StatusCode::OK);
}

/// Whoever looks at the battle sees that its folder is not there, and when it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_written_is_said_at_the_battle() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    fs::write(field.project.join("Arena"), "in the way").unwrap();
    let id = launch(&server, field.qa("[[say So.]]", &["@small", "@large"])).await;
    let said =
        |battle: &Value| battle["unwritten"].as_str().is_some_and(|why| why.contains("could not be written"));
    super::until(&server, &id, "it is said", said).await;
    over(&server, &id).await;
    fs::remove_file(field.project.join("Arena")).unwrap();
    let path: String = server.call("write_results", &[("battle", id.clone())]).await.json().await.unwrap();
    assert!(fs::exists(format!("{path}/manifest.json")).unwrap());
    assert_eq!(super::get(&server, &id).await["unwritten"], Value::Null);
}

/// What somebody said before is no evidence for whoever reads the project now.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_reads_the_project_sees_no_old_answers() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = launch(&server, field.qa("[[say Because.]]", &["@small", "@large"])).await;
    over(&server, &id).await;
    let ask = async |nth: usize| {
        let question = "[[on large]][[shell cat main.txt; grep -rh . Arena]][[say I looked.]]";
        let asked = json!({"backend": "native", "model": "local/large", "question": question});
        super::post(&server, format!("/api/battles/{id}/cross-examine"), asked).await;
        let done = |battle: &Value| battle["cross_examinations"][nth]["status"] == "done";
        let battle = super::until(&server, &id, "it has looked", done).await;
        let task = battle["cross_examinations"][nth]["task"].as_str().unwrap().parse().unwrap();
        let db = Db::attach(world.database_url.parse().unwrap()).await.unwrap();
        let stream = StreamId { task: TaskId(task), attempt: Attempt(1) };
        store::streams::read(&db, stream, 0, 1 << 20).await.unwrap()
    };
    let written = || async { fs::exists(field.project.join("Arena")).unwrap().then_some(()) };
    eventually("the results are written", written).await;
    let seen = ask(0).await;
    assert!(seen.contains("one") && !seen.contains("battle_type"), "{seen}");
    // The control: a folder of its own that is called so is the project's.
    let arena = field.project.join("Arena");
    let inside = fs::read_dir(&arena).unwrap().flatten().find(|entry| entry.path().is_dir()).unwrap();
    fs::rename(inside.path(), arena.join("stage")).unwrap();
    let seen = ask(1).await;
    assert!(seen.contains("battle_type"), "{seen}");
}

/// Whoever comes late is told what everybody was told.
#[tokio::test(flavor = "multi_thread")]
async fn personas_are_as_they_were_when_the_battle_began() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let file = field.project.join(".boocode/AGENTS.md");
    fs::create_dir(file.parent().unwrap()).unwrap();
    let poet = "## Poet\n---\ndescription: Rhymes\ntemperature: 0.5\n---\nYou rhyme.\n";
    fs::write(&file, poet).unwrap();
    let prompt = "[[loading 700]][[on small]][[say One.]][[on large]][[say Two.]]";
    let id = launch(&server, field.qa(prompt, &["poet@small", "Poet@large"])).await;
    fs::write(&file, poet.replace("You rhyme.", "You shout.")).unwrap();
    let battle = over(&server, &id).await;
    assert_eq!(super::statuses(&battle), ["done"; 2], "{battle:#}");
    let again = format!("/api/battles/{id}/contestants/{}/retry", contestant(&battle, 0));
    fs::remove_file(&file).unwrap();
    super::post(&server, again, json!({})).await;
    assert_eq!(super::statuses(&over(&server, &id).await), ["done"; 2]);
    let log = world.model_log().await;
    let told: Vec<_> =
        log["requests"].as_array().unwrap().iter().map(|it| it["system"].as_str().unwrap().trim()).collect();
    assert!(told.len() >= 3 && told.iter().all(|words| *words == "You rhyme."), "{told:?}");
}

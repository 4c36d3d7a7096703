//! Projects, sessions and chats; what is refused, and in which words.

use domain::{
    Rejected,
    chat::Input,
    chat::Kind,
    id::{ChatId, ProjectId, SessionId, TaskId},
    page::Wanted,
};
use sqlx::PgPool;
use store::{commit, snapshot, workspace};
use uuid::Uuid;

use super::scene::{Scene, all_at_once, rejected};

#[sqlx::test(migrations = "../../migrations")]
async fn what_is_made_is_listed(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (project, first) = workspace::add_project(&scene.db, " Two \n words ", "/two").await.unwrap();
    assert_eq!((project.name.as_str(), first.project), ("Two words", project.id));
    let second = workspace::add_session(&scene.db, project.id, "Second").await.unwrap();
    let chat = workspace::add_chat(&scene.db, second.id, Kind::Chat).await.unwrap();
    let listed = snapshot::page(&scene.db, Wanted::Start, &[]).await.unwrap().state.workspace;
    assert_eq!(listed.projects[1..], [project]);
    assert_eq!(listed.sessions[1..], [first, second]);
    assert_eq!(listed.chats, [chat]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_folder_is_one_project(pool: PgPool) {
    let scene = Scene::wide(pool).await;
    let before = scene.dump().await;
    let again = rejected(workspace::add_project(&scene.db, "Again", "/project").await);
    assert_eq!(again.to_string(), "/project is a project already.");
    assert_eq!(scene.dump().await, before);

    let add = |_| {
        let db = scene.db.clone();
        async move { workspace::add_project(&db, "New", "/new").await }
    };
    let (made, refused): (Vec<_>, Vec<_>) =
        all_at_once((0..8).map(add)).await.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), refused.len()), (1, 7));
    refused.into_iter().for_each(|result| drop(rejected(result)));
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_does_not_exist_is_refused_by_name(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let before = scene.dump().await;
    let (db, id) = (&scene.db, Uuid::now_v7());
    let refused = [
        ("project", rejected(workspace::add_session(db, ProjectId(id), "Name").await)),
        ("session", rejected(workspace::add_chat(db, SessionId(id), Kind::Chat).await)),
        ("chat", rejected(commit::chat(db, ChatId(id), Input::Stop).await)),
        ("chat", rejected(snapshot::page(db, Wanted::Chat(ChatId(id)), &[]).await)),
        ("session", rejected(snapshot::page(db, Wanted::Session(SessionId(id)), &[]).await)),
        ("task", rejected(store::conversation(db, TaskId(id)).await)),
    ];
    for (what, refusal) in refused {
        assert_eq!(refusal, Rejected::missing(what));
    }
    assert_eq!(rejected(workspace::add_project(db, " ", "/other").await), Rejected::Empty);
    assert_eq!(scene.dump().await, before);
}

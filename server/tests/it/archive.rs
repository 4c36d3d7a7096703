//! What is put away over the wire: pages follow, the history tells, and the folder brings a project back.

use reqwest::header;

use crate::harness::{Watcher, World};

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_is_put_away_in_every_page_and_brought_back() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    let of = ("of", format!("chat.{chat}"));
    server.ask(chat, "[[hang after 3]]").await;
    page.until_said(&server, 1).await;
    let refused = server.refusal("archive", std::slice::from_ref(&of)).await;
    assert!(refused.contains("This chat is at work. Stop it first."), "{refused}");
    server.call("stop", &[("chat", chat.to_string())]).await;
    page.until_settled(&server).await;

    server.call("archive", std::slice::from_ref(&of)).await;
    let listed = |page: &Watcher| page.mirror.state.workspace.chats.iter().any(|entry| entry.id == chat);
    page.until(&server, "it left the list", |page| !listed(page)).await;
    let html = server.get(&format!("/chat/{chat}")).send().await.unwrap().text().await.unwrap();
    for part in ["is archived.", "Bring back", "action=\"/api/restore\""] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let history = async |query: &str| {
        let html = server.get(&format!("/history{query}")).send().await.unwrap().text().await.unwrap();
        html.matches("class=\"entry\"").count()
    };
    assert_eq!(history("?kind=chat").await, 1);
    assert_eq!(history("?kind=chat&archived=only").await, 1);

    server.call("restore", &[of]).await;
    page.until(&server, "it is back", listed).await;
    assert_eq!(history("?kind=chat&archived=only").await, 0);
    server.ask(chat, "[[say again]]").await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_leaves_the_list_and_its_folder_brings_it_back() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let workspace = server.snapshot(None).await.state.workspace;
    let (project, session) = (&workspace.projects[0], workspace.sessions[0].id);
    server.call("rename", &[("of", format!("session.{session}")), ("name", "Release".into())]).await;
    server.call("archive", &[("of", format!("project.{}", project.id))]).await;
    assert!(server.snapshot(None).await.state.workspace.projects.is_empty());
    assert!(std::path::Path::new(&project.path).join(".git").exists(), "nothing on the disk is touched");
    let refused = server.refusal("add_chat", &[("session", session.to_string())]).await;
    assert!(refused.contains("This project is archived. Bring it back first."), "{refused}");

    let form = [("path", project.path.clone())];
    let added = server.post_as(&server.cookie, "text/html", "add_project", &form).send().await.unwrap();
    assert!(added.status().is_redirection(), "{}", added.status());
    assert_eq!(added.headers()[header::LOCATION].to_str().unwrap(), format!("/session/{session}"));
    let workspace = server.snapshot(None).await.state.workspace;
    assert_eq!(workspace.sessions[0].name, "Release");
    assert_eq!(workspace.chats[0].id, chat);
    let refused = server.refusal("archive", &[("of", "battle.1".into())]).await;
    assert!(refused.contains("Only a chat, a session or a project"), "{refused}");
}

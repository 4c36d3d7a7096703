//! What is put away leaves every list and comes back as it was; what is at work stays.

use domain::{
    Rejected,
    archive::Of,
    chat::{Input, Kind},
    feed::{Fold as _, Snapshot},
    history::{Filter, Kind as Listed},
    id::{ChatId, SessionId},
    layout::{self, Content, Target},
    output::Outcome,
    page::{Page, Wanted},
    workspace::{CHATS_MAX, Lines, Workspace},
};
use sqlx::PgPool;
use store::{archive, commit, history, snapshot, workspace};
use uuid::Uuid;

use super::scene::{Scene, ask, rejected, turn};

impl Scene {
    async fn page(&self, wanted: Wanted) -> Snapshot<Page> {
        snapshot::page(&self.db, wanted, &[]).await.unwrap()
    }

    async fn lists(&self) -> Workspace {
        self.page(Wanted::Start).await.state.workspace
    }

    async fn put_away(&self, of: Of) {
        archive::archive(&self.db, of).await.unwrap();
    }

    async fn bring_back(&self, of: Of) {
        archive::restore(&self.db, of).await.unwrap();
    }

    /// A page that was there all the while lists the same as one that comes now.
    async fn assert_followed(&self, mut old: Snapshot<Page>, case: &str) {
        for envelope in self.events().await.iter().filter(|envelope| envelope.seq > old.seq) {
            old.state.apply(&envelope.event);
        }
        let lists = |all: Workspace| Workspace { archived: Lines::default(), ..all };
        let away = |all: &Workspace| {
            let Lines { projects, sessions, .. } = all.archived.clone();
            (projects, sessions)
        };
        let (old, new) = (old.state.workspace, self.lists().await);
        assert_eq!(away(&old), away(&new), "{case}");
        assert_eq!(lists(old), lists(new), "{case}");
    }

    async fn found(&self, filter: Filter) -> Vec<(Uuid, bool)> {
        let entries = history::list(&self.db, &filter).await.unwrap().entries;
        entries.into_iter().map(|entry| (entry.id, entry.archived)).collect()
    }
}

fn chats(all: &Workspace) -> Vec<ChatId> {
    all.chats.iter().map(|chat| chat.id).collect()
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_archived_chat_leaves_the_lists_and_its_tab_and_comes_back(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (first, second) = (scene.chat().await, scene.chat().await);
    let tab = Target::Tab { pane: None };
    for chat in [first, second] {
        let input = layout::Input::Open { content: Content::Chat(chat), target: tab };
        commit::layout(&scene.db, scene.session, input).await.unwrap();
    }
    let before = scene.page(Wanted::Chat(first)).await;
    let of = Of::Chat(first);
    scene.put_away(of).await;
    scene.assert_followed(before.clone(), "archived").await;
    assert_eq!(chats(&scene.lists().await), [second]);

    let shown = scene.page(Wanted::Chat(first)).await.state;
    assert!(shown.chat(first).is_some(), "it is readable at its address");
    assert_eq!(shown.workspace.away(scene.session, Some(first)), Some(of));
    assert!(shown.session.unwrap().layout.find(Content::Chat(first)).is_none());
    let all = Filter { kind: Some(Listed::Chat), ..Filter::default() };
    assert_eq!(scene.found(all.clone()).await, [(second.0, false), (first.0, true)]);
    assert_eq!(scene.found(Filter { archived: true, ..all }).await, [(first.0, true)]);

    let again = archive::archive(&scene.db, of).await.unwrap();
    assert!(again.events.is_empty(), "it is put away once");
    let words = rejected(commit::chat(&scene.db, first, ask(turn(), "local", 1)).await);
    assert_eq!(words.to_string(), "This chat is archived. Bring it back first.");

    scene.bring_back(of).await;
    scene.assert_followed(before, "restored").await;
    assert_eq!(chats(&scene.lists().await), [first, second]);
    scene.ask(first, "local").await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_is_at_work_is_not_archived(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (chat, stream) = scene.start("local").await;
    let project = workspace::project_of_session(&scene.db, scene.session).await.unwrap().id;
    let refused = async |of| rejected(archive::archive(&scene.db, of).await).to_string();
    let before = scene.dump().await;
    assert_eq!(refused(Of::Chat(chat)).await, "This chat is at work. Stop it first.");
    for of in [Of::Session(scene.session), Of::Project(project)] {
        assert_eq!(refused(of).await, "“Why?” is at work. Stop it first.");
    }
    assert_eq!(scene.dump().await, before);
    commit::chat(&scene.db, chat, ask(turn(), "local", scene.now())).await.unwrap();
    scene.report(stream, Outcome::Cancelled).await.unwrap();
    assert_eq!(refused(Of::Chat(chat)).await, "Messages wait in this chat. Send or remove them first.");
    let waiting = scene.load(chat).await.queue[0].turn.message;
    commit::chat(&scene.db, chat, Input::Unqueue { message: waiting }).await.unwrap();
    for of in [Of::Chat(chat), Of::Session(scene.session), Of::Project(project)] {
        scene.put_away(of).await;
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_session_and_a_project_go_and_come_with_all_in_them(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let db = &scene.db;
    let project = workspace::project_of_session(db, scene.session).await.unwrap();
    let second = workspace::add_session(db, project.id, "Second").await.unwrap();
    let (mine, other) =
        (scene.chat().await, workspace::add_chat(db, second.id, Kind::Chat).await.unwrap().id);
    let alone = scene.chat().await;
    scene.put_away(Of::Chat(alone)).await;
    let before = scene.page(Wanted::Start).await;

    scene.put_away(Of::Session(scene.session)).await;
    scene.assert_followed(before.clone(), "session archived").await;
    assert_eq!(chats(&scene.lists().await), [other]);
    let shown = scene.page(Wanted::Chat(mine)).await.state.workspace;
    assert_eq!(shown.away(scene.session, Some(mine)), Some(Of::Session(scene.session)));
    let refused = rejected(workspace::add_chat(db, scene.session, Kind::Chat).await).to_string();
    assert_eq!(refused, "This session is archived. Bring it back first.");
    let refused = rejected(archive::restore(db, Of::Chat(alone)).await).to_string();
    assert_eq!(refused, "This session is archived. Bring it back first.");

    let between = scene.page(Wanted::Start).await;
    scene.put_away(Of::Project(project.id)).await;
    scene.assert_followed(before.clone(), "project archived").await;
    let lists = scene.lists().await;
    assert_eq!((lists.projects.len(), lists.sessions.len(), lists.chats.len()), (0, 0, 0));
    for refused in [
        rejected(archive::restore(db, Of::Session(scene.session)).await),
        rejected(workspace::add_session(db, project.id, "Third").await),
        rejected(commit::open_chat(db, second.id, Kind::Chat, Target::Tab { pane: None }).await),
    ] {
        assert_eq!(refused.to_string(), "This project is archived. Bring it back first.");
    }

    // Adding the folder again is how a person finds it; what was put away by itself stays so.
    let newest = archive::restore_folder(db, &project.path).await.unwrap();
    assert_eq!(newest, Some(second.id));
    scene.assert_followed(between, "project restored").await;
    assert_eq!(chats(&scene.lists().await), [other]);
    assert_eq!(archive::restore_folder(db, &project.path).await.unwrap(), None, "it is there");
    assert_eq!(archive::restore_folder(db, "/elsewhere").await.unwrap(), None);

    scene.bring_back(Of::Session(scene.session)).await;
    scene.assert_followed(before, "session restored").await;
    assert_eq!(chats(&scene.lists().await), [mine, other]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn names_change(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let project = workspace::project_of_session(&scene.db, scene.session).await.unwrap().id;
    let before = scene.page(Wanted::Start).await;
    let rename = async |of, name| archive::rename(&scene.db, of, name).await;
    rename(Of::Session(scene.session), " Release \n 2 ").await.unwrap();
    rename(Of::Project(project), "Shop").await.unwrap();
    scene.assert_followed(before, "renamed").await;
    let lists = scene.lists().await;
    assert_eq!((lists.sessions[0].name.as_str(), lists.projects[0].name.as_str()), ("Release 2", "Shop"));
    assert_eq!(rejected(rename(Of::Session(scene.session), " ").await), Rejected::Empty);
    let unknown = Of::Session(SessionId(Uuid::nil()));
    assert_eq!(rejected(rename(unknown, "Name").await), Rejected::missing("session"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_page_lists_the_newest_chats_and_those_that_are_looked_at_or_at_work(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (open, wanted, idle) = (scene.chat().await, scene.chat().await, scene.chat().await);
    let (busy, _) = scene.start("local").await;
    let input = layout::Input::Open { content: Content::Chat(open), target: Target::Tab { pane: None } };
    commit::layout(&scene.db, scene.session, input).await.unwrap();
    for _ in 0..CHATS_MAX {
        scene.chat().await;
    }
    let start = chats(&scene.lists().await);
    assert_eq!((start.len(), start[0]), (CHATS_MAX + 1, busy));
    let there = chats(&scene.page(Wanted::Chat(wanted)).await.state.workspace);
    assert_eq!((there.len(), &there[..3]), (CHATS_MAX + 3, &[open, wanted, busy][..]));
    assert!(!there.contains(&idle));
}

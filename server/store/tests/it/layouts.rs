//! How panes lie: kept, told, and the same however it is read.

use domain::{
    Rejected,
    chat::Kind,
    feed::{Event, Fold as _},
    id::SessionId,
    layout::{Content, Edge, Input, Layout, PaneId, TabNumber, Target},
    page::{OpenSession, Page, Wanted},
    workspace::Workspace,
};
use sqlx::PgPool;
use store::{commit, feed, snapshot, workspace};
use uuid::Uuid;

use super::scene::{Scene, all_at_once, rejected};

const FIRST: Target = Target::Tab { pane: None };

async fn layout(scene: &Scene) -> Layout {
    let page = snapshot::page(&scene.db, Wanted::Session(scene.session), &[]).await.unwrap();
    page.state.session.unwrap().layout
}

/// The layout made of nothing but events.
async fn replayed(scene: &Scene) -> Layout {
    let open = OpenSession::empty(scene.session);
    let mut page = Page { workspace: Workspace::default(), session: Some(open) };
    let events = feed::read_after(&scene.db, 0, 1_000).await.unwrap().unwrap();
    events.iter().for_each(|envelope| page.apply(&envelope.event));
    page.session.unwrap().layout
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_is_arranged_is_kept_and_told(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (db, session) = (&scene.db, scene.session);
    assert_eq!(layout(&scene).await, Layout::default());
    let first = commit::open_chat(db, session, Kind::Chat, FIRST).await.unwrap();
    let beside = Target::Split { pane: PaneId(0), edge: Edge::Right };
    let second = commit::open_chat(db, session, Kind::Chat, beside).await.unwrap();
    let shown = layout(&scene).await;
    assert_eq!(shown.visible(), [Content::Chat(first.id), Content::Chat(second.id)]);

    commit::layout(db, session, Input::CloseTab { tab: TabNumber(1) }).await.unwrap();
    assert_eq!(layout(&scene).await.panes().len(), 1);
    commit::layout(db, session, Input::Reopen).await.unwrap();
    assert_eq!(layout(&scene).await.root, shown.root);
    assert_eq!(replayed(&scene).await, layout(&scene).await);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_page_gets_what_is_in_front_and_what_it_keeps(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (db, session) = (&scene.db, scene.session);
    let behind = commit::open_chat(db, session, Kind::Chat, FIRST).await.unwrap();
    let front = commit::open_chat(db, session, Kind::Chat, FIRST).await.unwrap();
    let held = |page: domain::feed::Snapshot<Page>| -> Vec<_> {
        page.state.session.unwrap().chats.into_keys().collect()
    };
    let wanted = Wanted::Session(session);
    assert_eq!(held(snapshot::page(db, wanted, &[]).await.unwrap()), [front.id]);
    assert_eq!(
        held(snapshot::page(db, wanted, &[Content::Chat(behind.id)]).await.unwrap()),
        [behind.id, front.id]
    );
    let (_, elsewhere) = workspace::add_project(db, "Other", "/other").await.unwrap();
    let other = commit::open_chat(db, elsewhere.id, Kind::Chat, FIRST).await.unwrap();
    assert_eq!(held(snapshot::page(db, wanted, &[Content::Chat(other.id)]).await.unwrap()), [front.id]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn many_hands_arrange_one_after_the_other(pool: PgPool) {
    let scene = Scene::wide(pool).await;
    let open = |_| {
        let (db, session) = (scene.db.clone(), scene.session);
        async move { commit::open_chat(&db, session, Kind::Chat, FIRST).await.unwrap() }
    };
    all_at_once((0..8).map(open)).await;
    let arranged = layout(&scene).await;
    let mut numbers: Vec<_> = arranged.panes()[0].tabs.iter().map(|tab| tab.number.0).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..8).collect::<Vec<_>>());
    assert_eq!(replayed(&scene).await, arranged);
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_is_refused_changes_nothing(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let before = scene.dump().await;
    let (db, session) = (&scene.db, scene.session);
    let unknown = SessionId(Uuid::now_v7());
    assert_eq!(
        rejected(commit::open_chat(db, unknown, Kind::Chat, FIRST).await),
        Rejected::missing("session")
    );
    let refused = commit::layout(db, session, Input::ClosePane { pane: PaneId(3) }).await;
    assert_eq!(rejected(refused), Rejected::missing("pane"));
    assert_eq!(scene.dump().await, before);
    assert!(scene.events().await.iter().all(|told| !matches!(told.event, Event::LayoutChanged { .. })));
}

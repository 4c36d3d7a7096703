//! The log tells the same as the rows.

use std::sync::atomic::AtomicUsize;

use domain::{
    chat::Chat,
    feed::{Envelope, Event, Fold as _},
    id::ChatId,
    page::{OpenSession, Page, Wanted},
    workspace::Workspace,
};
use rand::{SeedableRng as _, rngs::StdRng};
use sqlx::PgPool;
use store::{feed, snapshot};

use super::{
    scene::Scene,
    story::{Story, any},
};

/// A page made of nothing but events.
pub struct Replay {
    pub of: ChatId,
    pub seq: i64,
    pub page: Page,
}

impl Replay {
    pub fn new(of: ChatId) -> Self {
        Self { of, seq: 0, page: Page { workspace: Workspace::default(), session: None } }
    }

    pub fn tell(&mut self, envelope: &Envelope) {
        assert_eq!(envelope.seq, self.seq + 1);
        self.seq = envelope.seq;
        self.page.apply(&envelope.event);
        if let Event::ChatAdded { chat } = &envelope.event
            && chat.id == self.of
        {
            let new = Chat { kind: chat.kind, ..Chat::new(chat.id, chat.session, chat.title.clone()) };
            let open = OpenSession { chats: [(chat.id, new)].into(), ..OpenSession::empty(chat.session) };
            self.page.session = Some(open);
        }
        // Others of the session are here only while they are in front.
        if let Some(open) = &mut self.page.session {
            open.chats.retain(|id, _| *id == self.of);
        }
    }

    /// Compares with the rows, and the texts with the lengths that events gave them.
    pub async fn assert_equals_rows(&self, scene: &Scene, case: &str) {
        let rows = snapshot::page(&scene.db, Wanted::Chat(self.of), &[]).await.unwrap();
        assert_eq!(rows.seq, self.seq, "{case}");
        assert_eq!(rows.state, self.page, "{case}");
        // The rows come by what is looked at first.
        let (mut told, mut rows) = (self.page.streams(), rows.streams);
        told.sort_by_key(|(stream, _)| *stream);
        rows.sort_by_key(|(stream, _)| *stream);
        assert_eq!(told.len(), rows.len(), "{case}");
        for ((stream, len), (read, text)) in told.iter().zip(&rows) {
            assert_eq!(stream, read, "{case}");
            assert_eq!(len.unwrap_or(text.len() as u64), text.len() as u64, "{case}: {stream}");
        }
    }
}

/// A database for each, so that no story finds its places taken by what another left running.
macro_rules! folding_the_events_gives_the_rows {
    ($($name:ident: $seed:literal),+) => {$(
        #[sqlx::test(migrations = "../../migrations")]
        async fn $name(pool: PgPool) {
            tell_story(&Scene::new(pool).await, $seed).await;
        }
    )+};
}

folding_the_events_gives_the_rows!(story_1: 1, story_2: 2, story_3: 3, story_4: 4);

async fn tell_story(scene: &Scene, seed: u64) {
    let chats = [scene.chat().await, scene.chat().await, scene.chat().await];
    let mut replays = chats.map(Replay::new);
    let (mut dice, changes) = (StdRng::seed_from_u64(!seed), AtomicUsize::new(0));
    let mut story = Story::new(scene, seed, &changes);
    for step in 0..200 {
        let after = replays[0].seq;
        let events = feed::read_after(&scene.db, after, 1_000).await.unwrap().expect("nothing is trimmed");
        for replay in &mut replays {
            events.iter().for_each(|event| replay.tell(event));
        }
        let chosen = any(&chats, &mut dice);
        let chosen = replays.iter().find(|replay| replay.of == chosen).unwrap();
        if step % 8 == 0 {
            chosen.assert_equals_rows(scene, &format!("seed {seed}, step {step}")).await;
        }
        story.step(chosen.page.chat(chosen.of).unwrap()).await;
    }
    let changes = changes.into_inner();
    assert!(changes > 60, "seed {seed}: only {changes} steps changed anything");
    let events = scene.events().await;
    for chat in chats {
        let mut whole = Replay::new(chat);
        events.iter().for_each(|event| whole.tell(event));
        whole.assert_equals_rows(scene, &format!("seed {seed}, at the end")).await;
    }
    scene.assert_consistent().await;
}

//! The list: its order, its filters, and the way through it.

use std::collections::BTreeSet;

use domain::{
    battle::{self, Battle, Entry as Entrant},
    catalogue::Lane,
    chat::Input,
    history::{Entry, Filter, Kind, Listing, State},
    id::{BattleId, ChatId, ContestantId, ProjectId},
    layout::Origin,
    output::Outcome,
};
use sqlx::PgPool;
use store::{commit, history, workspace};
use time::{Date, macros::date};
use uuid::Uuid;

use super::scene::{Scene, choice, done, stream_of, turn};

impl Scene {
    async fn list(&self, filter: Filter) -> Listing {
        history::list(&self.db, &filter).await.unwrap()
    }

    /// The chats of the list, newest first.
    async fn chats(&self, filter: Filter) -> Vec<ChatId> {
        let listing = self.list(Filter { kind: Some(Kind::Chat), ..filter }).await;
        listing.entries.into_iter().map(|entry| ChatId(entry.id)).collect()
    }

    async fn entry(&self, chat: ChatId) -> Entry {
        let listing = self.list(Filter::default()).await;
        listing.entries.into_iter().find(|entry| entry.id == chat.0).unwrap()
    }

    /// As if it had happened then.
    async fn date_back(&self, chat: ChatId, at: &str) {
        let done =
            sqlx::query("update chats set active_at = $2::timestamptz where id = $1").bind(chat.0).bind(at);
        done.execute(&self.pool).await.unwrap();
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_entry_says_what_it_is(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    scene.question(chat, "Why?").await;
    scene.answer("So.", done()).await;
    let listing = scene.list(Filter::default()).await;
    let [of_chat, of_session] = &listing.entries[..] else { panic!("{listing:?}") };
    assert_eq!((of_chat.kind, of_chat.id, of_chat.parts), (Kind::Chat, chat.0, 2));
    assert_eq!((of_chat.title.text.as_str(), of_chat.title.marks.len()), ("Why?", 0));
    let place = of_chat.place.as_ref().unwrap();
    assert_eq!((place.project.1.as_str(), &place.session), ("Project", &(scene.session, "Session 1".into())));
    assert_eq!((of_chat.state, &of_chat.found), (Some(State::Done), &None));
    assert_eq!((of_session.kind, of_session.id, of_session.parts), (Kind::Session, scene.session.0, 1));
    assert_eq!((of_session.title.text.as_str(), &of_session.place), ("Project · Session 1", &None));
    assert_eq!(of_session.active_at_us, of_chat.active_at_us);
    assert_eq!(listing.older, None);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_state_is_that_of_the_last_turn(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let check = async |chat, expected| {
        assert_eq!(scene.entry(chat).await.state, expected);
        for (state, _) in <State as domain::history::Worded>::ALL {
            let listed = scene.chats(Filter { state: Some(*state), ..Filter::default() }).await;
            assert_eq!(listed.contains(&chat), expected == Some(*state), "{state:?}, but it is {expected:?}");
        }
    };
    check(scene.chat().await, None).await;
    for (outcome, state) in [
        (done(), State::Done),
        (Outcome::Cancelled, State::Done),
        (Outcome::Failed { reason: "no".into() }, State::Failed),
        (Outcome::Void { reason: "down".into() }, State::Failed),
    ] {
        let (chat, stream) = scene.start("local").await;
        check(chat, Some(State::Running)).await;
        scene.report(stream, outcome).await.unwrap();
        check(chat, Some(state)).await;
    }
    let (chat, _) = scene.ask_anew("cloud").await;
    check(chat, Some(State::Waiting)).await;

    let (chat, mut stream) = scene.start("local").await;
    for _ in 0..2 {
        scene.report(stream, Outcome::Lost).await.unwrap();
        check(chat, Some(State::Waiting)).await;
        stream = super::scene::stream_of(&scene.claim_at(Uuid::nil(), &["local"]).await.unwrap());
    }
    scene.report(stream, Outcome::Lost).await.unwrap();
    check(chat, Some(State::Failed)).await;

    // Stopped, with a message behind it that waits for somebody to let it go.
    let (chat, stream) = scene.start("local").await;
    let queued = Input::Ask {
        turn: turn(),
        text: "And?".into(),
        choice: choice("local"),
        enclosed: Default::default(),
        at_ms: scene.now(),
    };
    commit::chat(&scene.db, chat, queued).await.unwrap();
    check(chat, Some(State::Running)).await;
    scene.report(stream, Outcome::Cancelled).await.unwrap();
    check(chat, Some(State::Waiting)).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_happens_in_a_chat_brings_it_to_the_top(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (first, second) = (scene.chat().await, scene.chat().await);
    let on_top = async |chat, because: &str| {
        assert_eq!(scene.chats(Filter::default()).await[0], chat, "{because}");
    };
    on_top(second, "it is the newest").await;
    let asked = scene.question(first, "Why?").await;
    on_top(first, "somebody asked in it").await;
    scene.question(second, "Why?").await;
    on_top(second, "somebody asked in it").await;
    scene.answer("So.", done()).await;
    on_top(first, "its answer is there").await;
    scene.answer("So.", done()).await;
    on_top(second, "its answer is there").await;
    commit::chat(&scene.db, first, Input::Rename { title: "Other".into() }).await.unwrap();
    commit::chat(&scene.db, first, Input::Switch { to: asked.message }).await.unwrap();
    on_top(second, "a name and another branch are nothing that was said").await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn conditions_hold_together(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (project, session) = workspace::add_project(&scene.db, "Other", "/other").await.unwrap();
    let chat =
        async |session| workspace::add_chat(&scene.db, session, domain::chat::Kind::Chat).await.unwrap().id;
    let second = workspace::add_session(&scene.db, project.id, "Second").await.unwrap();
    let [a, b, c] = [chat(scene.session).await, chat(session.id).await, chat(second.id).await];
    let all = Filter::default;
    let of = |project| Filter { project: Some(project), ..all() };
    assert_eq!(scene.chats(all()).await, [c, b, a]);
    assert_eq!(scene.chats(of(project.id)).await, [c, b]);
    assert_eq!(scene.chats(Filter { session: Some(second.id), ..all() }).await, [c]);
    assert_eq!(scene.chats(Filter { session: Some(second.id), state: Some(State::Done), ..all() }).await, []);
    assert_eq!(scene.chats(of(ProjectId(Uuid::nil()))).await, []);

    for (chat, at) in [(a, "2025-03-01 00:00Z"), (b, "2025-03-01 23:59:59.999999Z"), (c, "2025-03-02 00:00Z")]
    {
        scene.date_back(chat, at).await;
    }
    let between = |from: Option<Date>, to: Option<Date>| Filter { from, to, ..all() };
    let (first, next) = (Some(date!(2025 - 03 - 01)), Some(date!(2025 - 03 - 02)));
    assert_eq!(scene.chats(between(first, first)).await, [b, a]);
    assert_eq!(scene.chats(between(next, None)).await, [c]);
    assert_eq!(scene.chats(between(None, first)).await, [b, a]);
    assert_eq!(
        scene.chats(between(Some(date!(0000 - 01 - 01)), Some(date!(9999 - 12 - 31)))).await,
        [c, b, a]
    );
    assert_eq!(scene.chats(Filter { project: Some(project.id), ..between(first, first) }).await, [b]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn sessions_are_listed_by_name_and_stand_for_their_chats(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (project, empty) = workspace::add_project(&scene.db, "Große Sache", "/other").await.unwrap();
    let list = async |filter: Filter| {
        let listing = scene.list(Filter { kind: Some(Kind::Session), ..filter }).await;
        listing.entries.into_iter().map(|entry| entry.id).collect::<Vec<_>>()
    };
    assert_eq!(list(Filter::default()).await, [empty.id.0, scene.session.0]);
    let chat = scene.chat().await;
    scene.question(chat, "Where is the große thing?").await;
    assert_eq!(list(Filter::default()).await, [scene.session.0, empty.id.0]);
    assert_eq!(list(Filter { project: Some(project.id), ..Filter::default() }).await, [empty.id.0]);
    let asked =
        |text: &str| Filter { asked: Some(domain::search::Asked::new(text).unwrap()), ..Filter::default() };
    assert_eq!(list(asked("GROSS")).await, Vec::<Uuid>::new());
    assert_eq!(list(asked("GROẞE session")).await, [empty.id.0]);
    assert_eq!(list(Filter { session: Some(scene.session), ..Filter::default() }).await, Vec::<Uuid>::new());
    assert_eq!(list(Filter { state: Some(State::Waiting), ..Filter::default() }).await, Vec::<Uuid>::new());
}

/// Also where many were active in the same moment, as after an import or a restore.
#[sqlx::test(migrations = "../../migrations")]
async fn the_pieces_of_the_list_are_the_whole_list(pool: PgPool) {
    let scene = Scene::new(pool).await;
    for n in 0..75 {
        let chat = scene.chat().await;
        scene.date_back(chat, &format!("2025-03-01 00:00:{:02}.{n:06}Z", n / 40)).await;
        scene
            .date_back(chat, if n % 3 == 0 { "2025-03-01 00:00Z" } else { "2025-03-01 00:00:00.000001Z" })
            .await;
    }
    let mut filter = Filter::default();
    let (mut seen, mut pieces) = (Vec::new(), 0);
    loop {
        let listing = scene.list(filter.clone()).await;
        assert!(listing.entries.len() <= history::ENTRIES_MAX);
        seen.extend(listing.entries.iter().map(|entry| (entry.active_at_us, entry.id)));
        pieces += 1;
        let Some(older) = listing.older else { break };
        filter.before = Some(older);
        let read = Filter::parse(filter.path().split_once('?').unwrap().1).0;
        assert_eq!(read, filter, "the place survives the address");
    }
    assert_eq!(pieces, 3);
    assert!(seen.windows(2).all(|pair| pair[0] > pair[1]), "newest first");
    // And the session that they are in.
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 76);
}

/// Battles stand among the rest, and are found by what they were about, who took part and who won.
#[sqlx::test(migrations = "../../migrations")]
async fn battles_are_found_by_type_contestant_and_winner(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    scene.question(chat, "Why?").await;
    let coding = scene.battle(battle::Kind::Coding, "Sort the list", ["goose", "native"]).await;
    let answers = scene.battle(battle::Kind::Qa, "Why is it slow?", ["Debugger", "Architect"]).await;
    let found = async |filter: Filter| -> Vec<Uuid> {
        let listing = scene.list(filter).await;
        listing.entries.into_iter().filter(|it| it.kind == Kind::Battle).map(|it| it.id).collect()
    };
    assert_eq!(found(Filter::default()).await, [answers.id.0, coding.id.0]);
    let only = scene.list(Filter { battle_type: Some(battle::Kind::Qa), ..Filter::default() }).await;
    let [entry] = &only.entries[..] else { panic!("{only:?}") };
    assert_eq!((entry.kind, entry.title.text.as_str(), entry.parts), (Kind::Battle, "Why is it slow?", 2));
    assert_eq!(entry.state, Some(State::Running));
    let by = |name: &str| Filter { contestant: Some(name.into()), ..Filter::default() };
    assert_eq!(found(by("GOOSE")).await, [coding.id.0]);
    assert_eq!(found(by("small")).await, [answers.id.0, coding.id.0]);
    assert!(found(by("nobody")).await.is_empty());
    // Nobody has won yet.
    let won = |name: &str| Filter { winner: Some(name.into()), ..Filter::default() };
    assert!(found(won("debugger")).await.is_empty());
    scene.finish(&answers).await;
    let winner = battle::Input::SetWinner { winner: Some(answers.contestants[0].id) };
    commit::battle(&scene.db, answers.id, winner).await.unwrap();
    assert_eq!(found(won("debugger")).await, [answers.id.0]);
    assert!(found(won("architect")).await.is_empty());
    let state = |state| Filter { state: Some(state), ..Filter::default() };
    assert_eq!(found(state(State::Done)).await, [answers.id.0]);
    assert_eq!(found(state(State::Running)).await, [coding.id.0]);
    // By the names that are shown too; a persona may be called as a backend is.
    let plain = scene.battle(battle::Kind::Qa, "Why?", ["", "native"]).await;
    assert_eq!(found(by("BooCode")).await, [coding.id.0]);
    assert_eq!(found(by("native")).await, [plain.id.0, coding.id.0]);
    assert_eq!(found(by("no persona")).await, [plain.id.0]);
    assert!(found(by("Claude Code")).await.is_empty());
}

impl Scene {
    async fn battle(&self, kind: battle::Kind, prompt: &str, names: [&str; 2]) -> Battle {
        let project = workspace::project_of_session(&self.db, self.session).await.unwrap().id;
        let entry = |name: &str| Entrant {
            identity: battle::Identity::named(kind, name),
            model: "cloud/small".parse().unwrap(),
            variant: String::new(),
            lane: Lane::Cloud,
        };
        let terms = battle::Terms {
            limit_s: 60,
            tokens_max: None,
            carry: false,
            check: None,
            setup: None,
            judge: None,
            host: "here".into(),
            machines: Default::default(),
        };
        let launch = battle::Launch {
            id: BattleId(Uuid::now_v7()),
            session: self.session,
            project,
            kind,
            prompt: prompt.into(),
            terms,
            roster: battle::Roster::new(kind, names.map(entry).into()).unwrap(),
            ids: vec![ContestantId(Uuid::now_v7()), ContestantId(Uuid::now_v7())],
            at_ms: self.now(),
        };
        let battle = Battle::new(launch).unwrap();
        commit::start_battle(&self.db, battle.clone(), &[], self.now(), Origin::elsewhere(None))
            .await
            .unwrap();
        battle
    }

    /// Everybody in it comes to an end.
    async fn finish(&self, battle: &Battle) {
        while self.claim_at(Uuid::now_v7(), &["cloud"]).await.is_some() {}
        let now = store::battles::get(&self.db, battle.id).await.unwrap();
        for task in now.tasks.values() {
            assert!(store::streams::append(&self.db, stream_of(task), 0, "so").await.unwrap());
            self.report(stream_of(task), done()).await.unwrap();
        }
    }
}

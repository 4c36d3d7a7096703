use uuid::Uuid;

use super::*;
use crate::{
    battle::{self, Kind},
    flow::{Band, FlowId, StepId},
    workspace::ChatEntry,
};

#[test]
fn an_address_names_what_is_wanted() {
    let id = Uuid::from_u128(7);
    let check = |path: &str, expected: Wanted| assert_eq!(Wanted::from_path(path), expected, "{path}");
    for wanted in [
        Wanted::Start,
        Wanted::Session(SessionId(id)),
        Wanted::Chat(ChatId(id)),
        Wanted::Settings(SessionId(id)),
        Wanted::Arena(SessionId(id)),
        Wanted::Battle(BattleId(id)),
        Wanted::Orchestrator(SessionId(id)),
        Wanted::Run(RunId(id)),
        Wanted::Artifact(Artifact { run: RunId(id), what: What::Cited(3) }),
        Wanted::Artifact(Artifact { run: RunId(id), what: What::Report }),
        Wanted::Artifact(Artifact { run: RunId(id), what: What::Diff }),
        Wanted::SettingsPage(Section::Browsers),
    ] {
        check(&wanted.path(), wanted);
        check(&format!("{}/", wanted.path()), wanted);
    }
    check("/settings", Wanted::SettingsPage(Section::Models));
    check("/chat/nonsense", Wanted::Chat(ChatId(Uuid::nil())));
    for nowhere in ["/elsewhere", "/chat", "/session/1/2", "/chat/1/settings", "/settings/nonsense"] {
        assert_eq!(Wanted::of(nowhere), None, "{nowhere}");
        check(nowhere, Wanted::Start);
    }
}

#[test]
fn what_was_looked_at_last_is_kept() {
    let (session, count) = (SessionId(Uuid::from_u128(100)), KEPT_MAX as u128 + 3);
    let id = |n| ChatId(Uuid::from_u128(n));
    let chats = (1..=count).map(|n| (id(n), Chat::new(id(n), session, "Chat".into())));
    let open = OpenSession { chats: chats.collect(), ..OpenSession::empty(session) };
    let page = Page { workspace: Workspace::default(), session: Some(open) };
    let check = |viewed: &[u128], expected: &[u128]| {
        let mut seen = Viewed::default();
        viewed.iter().for_each(|n| seen.look_at(Wanted::Chat(id(*n))));
        seen.look_at(Wanted::Settings(session));
        let kept = page.kept(&seen);
        assert_eq!(kept.len(), KEPT_MAX, "{viewed:?}");
        let expected: Vec<_> = expected.iter().map(|n| Content::Chat(id(*n))).collect();
        assert_eq!(kept[..expected.len()], expected, "{viewed:?}");
    };
    check(&[], &[count, count - 1]);
    check(&[1, 2], &[2, 1, count]);
    check(&[1, 2, 1], &[1, 2, count]);
    // One of another session is not here.
    check(&[1, 99, 2], &[2, 1, count]);
    check(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[9, 8, 7, 6, 5, 4, 3, 2]);
}

#[test]
fn a_session_shows_nothing_of_another() {
    let (session, other) = (SessionId(Uuid::from_u128(1)), SessionId(Uuid::from_u128(2)));
    let (mine, theirs, new) =
        (ChatId(Uuid::from_u128(3)), ChatId(Uuid::from_u128(4)), ChatId(Uuid::from_u128(5)));
    let open = OpenSession::empty(session);
    let mut page = Page { workspace: Workspace::default(), session: Some(open) };
    for (chat, session) in [(mine, session), (theirs, other)] {
        page.workspace.apply(&Event::ChatAdded { chat: ChatEntry::new(chat, session, "Chat".into()) });
    }
    let check = |wanted, expected: &[Content]| assert_eq!(page.showing(wanted, None).visible(), expected);
    check(Wanted::Chat(mine), &[Content::Chat(mine)]);
    check(Wanted::Chat(theirs), &[]);
    // One that nobody told of yet was just made here.
    check(Wanted::Chat(new), &[Content::Chat(new)]);
    check(Wanted::Settings(session), &[Content::Settings]);
    check(Wanted::Settings(other), &[]);
    check(Wanted::Session(session), &[]);
}

#[test]
fn what_is_not_here_has_to_be_fetched() {
    let (here, other) = (ChatId(Uuid::from_u128(1)), ChatId(Uuid::from_u128(2)));
    let session = SessionId(Uuid::from_u128(3));
    let chat = Chat::new(here, session, "Here".into());
    let open = OpenSession { chats: [(here, chat)].into(), ..OpenSession::empty(session) };
    let mut page = Page { workspace: Workspace::default(), session: Some(open) };
    let added = |id| Event::ChatAdded { chat: ChatEntry::new(id, session, "New chat".into()) };
    page.workspace.apply(&added(here));
    assert!(page.holds(Wanted::Start) && page.holds(Wanted::SettingsPage(Section::Models)));
    assert!(page.holds(Wanted::Chat(here)));
    assert!(page.holds(Wanted::Settings(session)) && !page.holds(Wanted::Chat(other)));
    assert!(!page.holds(Wanted::Session(SessionId(Uuid::nil()))));
    // One that is new is empty, so it is here at once.
    page.apply(&added(other));
    assert!(page.holds(Wanted::Chat(other)));
    page.session.as_mut().unwrap().chats.clear();
    assert!(page.holds(Wanted::Session(session)) && !page.holds(Wanted::Chat(here)));
}

/// An earlier try is no task that a battle still speaks of, and it is looked at all the same.
#[test]
fn a_task_is_here_with_what_it_belongs_to() {
    let task = |n| TaskId(Uuid::from_u128(n));
    let mut battle = battle::tests::battle(Kind::Coding, "L1 C2", |_| {});
    battle.contestants[1].tries = vec![task(1), task(2)];
    let mut run = run::tests::shown(FlowId::Investigate, Band::Small);
    let carried = run.clone().begin(battle::Fresh::new(Uuid::from_u128(9)), 5).unwrap();
    carried.iter().for_each(|event| run.apply(event));
    let of_run = *run.tasks.keys().next().unwrap();
    assert!(run.carried_by.contains_key(&StepId("error-path".into())));
    let open = OpenSession::empty(battle.session);
    let open = OpenSession { battles: [(battle.id, battle)].into(), runs: [(run.id(), run)].into(), ..open };
    let page = |session| Page { workspace: Workspace::default(), session };
    let nothing = page(None);
    let page = page(Some(open));
    assert!([task(1), task(2), of_run].into_iter().all(|task| page.has_task(task)));
    assert!(!page.has_task(task(3)) && !nothing.has_task(task(1)));
}

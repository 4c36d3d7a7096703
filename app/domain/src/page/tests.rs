use uuid::Uuid;

use super::*;
use crate::{
    battle::{self, Kind},
    flow::{Band, FlowId, StepId},
    layout::{Change, Edge, Input, Target},
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
        let kept = page.kept(Wanted::Session(session), &Fronts::default(), &seen);
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
    let check = |wanted, expected: &[Content]| {
        assert_eq!(page.showing(wanted, None, &Fronts::default()).visible(), expected);
    };
    check(Wanted::Chat(mine), &[Content::Chat(mine)]);
    check(Wanted::Chat(theirs), &[]);
    // One that nobody told of yet was just made here.
    check(Wanted::Chat(new), &[Content::Chat(new)]);
    check(Wanted::Settings(session), &[Content::Settings]);
    check(Wanted::Settings(other), &[]);
    check(Wanted::Session(session), &[]);
}

/// `1 2|3` are chats in two panes, of which the first has the second in front.
#[test]
fn what_somebody_else_closes_leaves_its_place_to_another() {
    let session = SessionId(Uuid::from_u128(100));
    let chat = |n| Content::Chat(ChatId(Uuid::from_u128(n)));
    let change = |page: &mut Page, input: Input| {
        let changes = page.session.as_ref().unwrap().layout.decide(input).unwrap();
        changes.into_iter().for_each(|change| page.apply(&Event::LayoutChanged { session, change }));
    };
    let open = |page: &mut Page, content, target| change(page, Input::Open { content, target });
    let page = || {
        let mut page = Page { workspace: Workspace::default(), session: Some(OpenSession::empty(session)) };
        open(&mut page, chat(1), Target::Tab { pane: None });
        let pane = page.session.as_ref().unwrap().layout.panes()[0].id;
        open(&mut page, chat(2), Target::Tab { pane: Some(pane) });
        open(&mut page, chat(3), Target::Split { pane, edge: Edge::Right });
        page
    };
    let tab = |page: &Page, content| {
        page.session.as_ref().unwrap().layout.find(content).map(|(_, tab)| tab.number).unwrap()
    };
    let to = |content| Wanted::to_content(session, content);
    let check = |wanted: Content, closed: &[Content], expected: Option<Left>| {
        let mut page = page();
        let held = page.held(to(wanted)).unwrap();
        for content in closed {
            let tab = tab(&page, *content);
            change(&mut page, Input::CloseTab { tab });
        }
        assert_eq!(page.left(held), expected, "{wanted:?} {closed:?}");
    };
    check(chat(2), &[], None);
    check(chat(2), &[chat(1), chat(3)], None);
    check(chat(2), &[chat(2)], Some(Left::Closed(to(chat(1)))));
    check(chat(3), &[chat(3)], Some(Left::Closed(to(chat(2)))));
    check(chat(1), &[chat(1), chat(2)], Some(Left::Closed(to(chat(3)))));
    check(chat(1), &[chat(1), chat(2), chat(3)], Some(Left::Closed(Wanted::Session(session))));

    // What is launched in a tab takes its place.
    let mut page = page();
    open(&mut page, Content::Arena, Target::Tab { pane: None });
    let (held, tab) = (page.held(to(Content::Arena)).unwrap(), tab(&page, Content::Arena));
    let content = Content::Battle(BattleId(Uuid::from_u128(9)));
    page.apply(&Event::LayoutChanged { session, change: Change::TabBound { tab, content } });
    assert_eq!(page.left(held), Some(Left::Bound(to(content))));

    // What the address alone shows is held by nobody, and what is elsewhere is nothing to go by.
    assert_eq!(page.held(to(chat(4))), None);
    assert_eq!(page.held(Wanted::Settings(SessionId(Uuid::nil()))), None);
    page.session = Some(OpenSession::empty(SessionId(Uuid::nil())));
    assert_eq!(page.left(held), None);
}

/// `1 2*|3*` are chats in two panes. This page left the second for the third; another one goes on from there.
#[test]
fn what_was_left_in_front_stays_there_whatever_others_look_at() {
    let session = SessionId(Uuid::from_u128(100));
    let id = |n| ChatId(Uuid::from_u128(n));
    let (chat, to) = (|n| Content::Chat(id(n)), |n| Wanted::Chat(id(n)));
    let open = |content, target| Input::Open { content, target };
    let check = |asked: &[Input], here: &[u128], expected: &[u128]| {
        let chats = here.iter().map(|n| (id(*n), Chat::new(id(*n), session, "Chat".into())));
        let opened = OpenSession { chats: chats.collect(), ..OpenSession::empty(session) };
        let mut page = Page { workspace: Workspace::default(), session: Some(opened) };
        for n in [1, 2, 3] {
            page.workspace.apply(&Event::ChatAdded { chat: ChatEntry::new(id(n), session, "Chat".into()) });
        }
        let change = |page: &mut Page, input: &Input| {
            let changes = page.session.as_ref().unwrap().layout.decide(input.clone()).unwrap();
            changes.into_iter().for_each(|change| page.apply(&Event::LayoutChanged { session, change }));
        };
        change(&mut page, &open(chat(1), Target::Tab { pane: None }));
        let pane = page.session.as_ref().unwrap().layout.panes()[0].id;
        change(&mut page, &open(chat(2), Target::Tab { pane: Some(pane) }));
        change(&mut page, &open(chat(3), Target::Split { pane, edge: Edge::Right }));
        let mut fronts = Fronts::default();
        for n in [1, 2, 3] {
            fronts.keep(page.held(to(n)).unwrap());
        }
        asked.iter().for_each(|input| change(&mut page, input));
        let expected: Vec<_> = expected.iter().map(|n| chat(*n)).collect();
        assert_eq!(page.showing(to(3), None, &fronts).visible(), expected, "{asked:?} {here:?}");
        let kept = page.kept(to(3), &fronts, &Viewed::default());
        assert_eq!(kept[..2], [chat(3), chat(2)], "a new snapshot brings them");
    };
    let (here, pane) = (&[1, 2, 3], |n| Target::Tab { pane: Some(PaneId(n)) });
    check(&[], here, &[2, 3]);
    check(&[open(chat(1), pane(0))], here, &[2, 3]);
    check(&[open(chat(4), pane(0))], here, &[2, 3]);
    // What it showed went elsewhere, was closed or is not here: then it is as for everybody.
    let tab = TabNumber(1);
    check(&[open(chat(1), pane(0)), Input::CloseTab { tab }], here, &[1, 3]);
    let target = Target::Split { pane: PaneId(0), edge: Edge::Left };
    check(&[Input::MoveTab { tab, target, index: None }], here, &[2, 1, 3]);
    check(&[open(chat(1), pane(0))], &[1, 3], &[1, 3]);
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

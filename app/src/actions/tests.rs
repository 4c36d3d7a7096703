use std::collections::BTreeSet;

use domain::{
    chat::Chat,
    feed::Snapshot,
    id::{ChatId, SessionId},
    layout::{Content, Layout},
    page::{OpenSession, Page},
    settings::Section,
};
use uuid::Uuid;

use super::*;
use crate::{
    address::{Address, Go},
    feed::Feed,
    panes::Panes,
    theme::ThemeChoice,
    workspace::SidebarFold,
};

#[test]
fn no_two_actions_share_a_name_or_a_key() {
    let check = |what: &str, names: Vec<&str>| {
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{what}: {names:?}");
    };
    check("title", ACTIONS.iter().map(|action| action.title).collect());
    check("keys", ACTIONS.iter().filter_map(|action| action.keys).collect());
    check("slash", slashes().map(|(_, slash)| slash.name).collect());
}

#[test]
fn the_slash_menu_says_what_and_when_in_a_sentence_or_two() {
    for (_, Slash { name, what, when, .. }) in slashes() {
        for text in [what, when] {
            assert!(text.ends_with('.') && (20..=160).contains(&text.len()), "/{name}: {text}");
        }
    }
}

#[test]
fn a_message_may_be_a_flow_or_an_action_with_what_stands_behind_it() {
    let check = |text: &str, expected: Option<(Option<FlowId>, &str)>| {
        let found = of_message(text).map(|(meant, rest)| match meant {
            Meant::Flow(flow) => (Some(flow), rest),
            Meant::Action(_) | Meant::WithText(_) => (None, rest),
        });
        assert_eq!(found.as_ref().map(|(flow, rest)| (*flow, rest.as_str())), expected, "{text}");
    };
    check(
        "/research  why is it slow?\nand where ",
        Some((Some(FlowId::Research), "why is it slow?\nand where")),
    );
    check(" /code-review", Some((Some(FlowId::CodeReview), "")));
    check("/arena mend the build", Some((None, "mend the build")));
    // In the launcher only.
    check("/runbook the disk is full", None);
    for alone in ["/new", " /settings\n"] {
        check(alone, Some((None, "")));
    }
    // A text that only begins so is sent.
    check("/new chat", None);
    check("/newer", None);
    check("why /research", None);
    assert_eq!(flows().count(), 11);
    let names = slashes().map(|(_, slash)| slash.name).chain(flows().map(|flow| flow.name));
    let names: Vec<_> = names.collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
}

/// A page that was at a chat, and is at `wanted` now.
pub fn hands_at(wanted: Wanted) -> (Hands, Memo<Wanted>) {
    let chat = Chat::new(ChatId(Uuid::from_u128(1)), SessionId(Uuid::from_u128(2)), "A chat".into());
    let layout = Layout::default().showing(Content::Chat(chat.id), None);
    let open =
        OpenSession { layout, chats: [(chat.id, chat.clone())].into(), ..OpenSession::empty(chat.session) };
    let state = Page { workspace: Default::default(), session: Some(open) };
    crate::ui::provide();
    let address = Address::follow(wanted);
    let feed = Feed::new(Snapshot { seq: 1, state, streams: Vec::new() });
    let hands = Hands {
        panes: Panes::follow(feed, address),
        feed,
        go: Go::new(),
        theme: expect_context::<ThemeChoice>(),
        is_palette_open: RwSignal::new(false),
        is_help_open: RwSignal::new(false),
        renaming: RwSignal::new(None),
        launching: RwSignal::new(None),
        orchestrating: RwSignal::new(None),
        sidebar: SidebarFold::provide(),
        is_drawer_open: RwSignal::new(false),
    };
    (hands, address.0)
}

fn run(title: &str, hands: Hands) {
    let action = ACTIONS.iter().find(|action| action.title == title).unwrap();
    (action.run)(hands);
}

#[test]
fn panes_that_cannot_be_seen_are_left_alone() {
    let settings = Wanted::SettingsPage(Section::Appearance);
    for wanted in [Wanted::Start, settings] {
        Owner::new_root(None).with(|| {
            let (hands, address) = hands_at(wanted);
            // What asks the server needs a runtime, and there is none.
            let of_panes = ACTIONS.iter().filter(|action| action.group == PANES);
            of_panes.for_each(|action| (action.run)(hands));
            run("Rename this chat", hands);
            assert_eq!(address.get_untracked(), wanted);
            assert_eq!((hands.focused(), hands.renaming.get_untracked()), (None, None));
            assert!(!hands.panes.is_maximised.get_untracked());
        });
    }
    // The control: in front they are acted on.
    Owner::new_root(None).with(|| {
        let chat = ChatId(Uuid::from_u128(1));
        let (hands, _) = hands_at(Wanted::Chat(chat));
        run("Rename this chat", hands);
        run("Maximise or restore this pane", hands);
        assert_eq!(hands.renaming.get_untracked(), Some(Of::Chat(chat)));
        assert!(hands.panes.is_maximised.get_untracked());
    });
}

#[test]
fn without_panes_settings_and_a_new_chat_have_addresses_of_their_own() {
    let settings = Wanted::SettingsPage(Section::default());
    for (title, from, to) in [("Settings", Wanted::Start, settings), ("New chat", settings, Wanted::Start)] {
        Owner::new_root(None).with(|| {
            let (hands, address) = hands_at(from);
            run(title, hands);
            assert_eq!(address.get_untracked(), to, "{title}");
        });
    }
}

//! The command palette: every action that fits, and every session, chat, battle and run, a few letters away.

use domain::{page::Wanted, workspace::Workspace};
use leptos::{ev::KeyboardEvent, html, prelude::*};

use super::{ACTIONS, Hands, PALETTE_KEYS};
use crate::{
    address::Step,
    erased::{Erase, Erased, effect},
    feed::Feed,
    icon::Icon,
    later::{CHUNK, Part},
    panes::{chat_icon, kinds},
    ui::{Choice, Dialog, OptionList, aria_keys, is_composing, matching, next_enabled},
};

/// More would not be read.
const SHOWN_MAX: usize = 60;

#[component]
pub fn Palette(hands: Hands) -> impl IntoView {
    view! {
        <Dialog id="palette" title="Command palette" open=hands.is_palette_open light=true>
            {CHUNK.view(Part::Finder(hands))}
        </Dialog>
    }
}

/// Opens it by a press. Where nothing is alive there is none.
#[component]
pub fn PaletteButton() -> impl IntoView {
    use_context::<Hands>().map(|hands| {
        view! {
            <button
                class="icon-button palette-button"
                type="button"
                aria-label="Find anything"
                aria-keyshortcuts=aria_keys(PALETTE_KEYS)
                data-keys=PALETTE_KEYS
                on:click=move |_| {
                    hands.is_drawer_open.set(false);
                    hands.is_palette_open.set(true);
                }
            >
                {Icon::Search.view()}
            </button>
        }
        .erase()
    })
}

/// What is in it.
pub fn finder(hands: Hands) -> Erased {
    let feed = expect_context::<Feed>();
    let typed = RwSignal::new(String::new());
    let all = untrack(|| feed.workspace(|all| choices(all, hands)));
    let found = Memo::new(move |_| {
        let mut found = matching(&all, &typed.read());
        found.truncate(SHOWN_MAX);
        found
    });
    let active = RwSignal::new(Some(0));
    let choose = move |value: String| {
        hands.is_palette_open.set(false);
        // By then the dialog has given the focus back, and does not take what is done for the reader's own step.
        request_animation_frame(move || carry_out(hands, &value));
    };
    let on_key = move |key: KeyboardEvent| {
        if is_composing(&key) {
            return;
        }
        let name = key.key();
        if name == "Enter" {
            key.prevent_default();
            let chosen = active.get_untracked().and_then(|n| found.read_untracked().get(n).cloned());
            if let Some(chosen) = chosen {
                choose(chosen.value);
            }
        } else if let Some(next) = next_enabled(&found.read_untracked(), &name, active.get_untracked())
            && name.starts_with("Arrow")
        {
            key.prevent_default();
            active.set(Some(next));
        }
    };
    let input = NodeRef::<html::Input>::new();
    // Its code may have come after the dialog, which then had nothing to give the focus to.
    effect(move || {
        if let Some(input) = input.get() {
            input.focus().ok();
        }
    });
    view! {
        <div class="palette">
            <input
                class="input palette-input"
                type="text"
                role="combobox"
                aria-label="Find an action, a session, a chat, a battle or a run"
                aria-expanded="true"
                aria-controls="palette-list"
                aria-autocomplete="list"
                aria-activedescendant=move || active.get().map(|n| format!("palette-list-{n}"))
                placeholder="Find anything by its name"
                autocomplete="off"
                spellcheck="false"
                node_ref=input
                prop:value=typed
                on:input:target=move |event| {
                    typed.set(event.target().value());
                    active.set(Some(0));
                }
                on:keydown=on_key
            />
            <OptionList
                id="palette-list"
                name=Signal::stored("What was found".to_owned())
                choices=Signal::derive(move || found.get())
                active
                on_choose=Callback::new(choose)
            />
            <p class="palette-none" role="status">{move || found.read().is_empty().then_some("Nothing is called that.")}</p>
        </div>
    }
    .erase()
}

fn carry_out(hands: Hands, value: &str) {
    if let Some(path) = value.strip_prefix("go ") {
        hands.go.to(Wanted::from_path(path), Step::Forward);
        hands.panes.enter();
    } else if let Some(action) = ACTIONS.iter().find(|action| action.title == value) {
        (action.run)(hands);
    } else if let Some(new) = kinds::offered().find(|new| new.title() == value) {
        hands.open(new.entry.kind, new.place.edge);
    }
}

fn choices(all: &Workspace, hands: Hands) -> Vec<Choice> {
    let actions = ACTIONS.iter().filter(|action| (action.fits)(hands)).map(|action| {
        let choice = Choice::new(action.title, action.title).group(action.group).icon(action.icon);
        let choice = choice.keys(action.keys);
        if action.about.is_empty() { choice } else { choice.describe(action.about) }
    });
    let is_action = |title: &str| ACTIONS.iter().any(|action| action.title == title);
    let has_session = hands.has_session();
    let new = kinds::offered().filter(|new| has_session && !is_action(&new.title())).map(|new| {
        let choice = Choice::new(new.title(), new.title()).group("New").icon(new.entry.icon);
        choice.describe(new.about())
    });
    let project =
        |id| all.projects.iter().find(|project| project.id == id).map(|project| project.name.clone());
    let sessions = all.sessions.iter().map(|session| {
        let name = project(session.project).unwrap_or_default();
        let path = Wanted::Session(session.id).path();
        Choice::new(format!("go {path}"), format!("{name}: {}", session.name))
            .group("Sessions")
            .icon(Icon::Folder)
    });
    let place =
        |session| all.session(session).and_then(|session| project(session.project)).unwrap_or_default();
    let made = |group: &'static str, to: Wanted, title: &str, icon: Icon, session| {
        let choice = Choice::new(format!("go {}", to.path()), title.to_owned()).group(group).icon(icon);
        choice.describe(place(session))
    };
    let chats =
        all.chats.iter().rev().map(|chat| {
            made("Chats", Wanted::Chat(chat.id), &chat.title, chat_icon(chat.kind), chat.session)
        });
    let battles = all.battles.iter().rev().map(|battle| {
        made("Battles", Wanted::Battle(battle.id), &battle.title, Icon::Swords, battle.session)
    });
    let runs = all
        .runs
        .iter()
        .rev()
        .map(|run| made("Runs", Wanted::Run(run.id), &run.title, Icon::Workflow, run.session));
    actions.chain(new).chain(sessions).chain(chats).chain(battles).chain(runs).collect()
}

#[cfg(test)]
#[cfg(feature = "ssr")]
mod tests {
    use domain::{
        battle,
        chat::Kind,
        flow::FlowId,
        id::{BattleId, ChatId, ProjectId, RunId, SessionId},
        run,
        settings::Section,
        workspace::{BattleEntry, ChatEntry, Project, RunEntry, Session},
    };
    use uuid::Uuid;

    use super::{super::tests::hands_at, *};

    /// As a page has them that shows this.
    fn offered(wanted: Wanted) -> Vec<Choice> {
        Owner::new_root(None).with(|| choices(&Workspace::default(), hands_at(wanted).0))
    }

    fn at_a_chat() -> Vec<Choice> {
        offered(Wanted::Chat(ChatId(Uuid::from_u128(1))))
    }

    #[test]
    fn every_kind_is_offered_in_every_place() {
        let all = at_a_chat();
        let has = |title: &str| all.iter().filter(|choice| choice.label == title).count();
        for entry in &kinds::KINDS {
            for place in ["", " on the right", " below"] {
                assert_eq!(has(&format!("{}{place}", entry.open)), 1, "{}{place}", entry.open);
            }
        }
    }

    #[test]
    fn what_is_typed_in_full_is_found_first() {
        let all = at_a_chat();
        for choice in &all {
            assert_eq!(matching(&all, &choice.label)[0].value, choice.value, "{}", choice.label);
        }
    }

    #[test]
    fn what_would_do_nothing_is_not_offered() {
        let check = |all: Vec<Choice>, label: &str, expected: bool| {
            assert_eq!(all.iter().any(|choice| choice.label == label), expected, "{label}");
        };
        let settings = Wanted::SettingsPage(Section::default());
        for label in ["Launch a battle", "Launch a flow", "Split right", "Rename this chat", "New task"] {
            check(at_a_chat(), label, true);
            check(offered(Wanted::Start), label, false);
            check(offered(settings), label, false);
        }
        // One pane with one tab.
        for label in ["Maximise or restore this pane", "Next tab", "Move this tab to the pane above"] {
            check(at_a_chat(), label, false);
        }
        for label in ["New chat", "Start page", "History", "Keyboard shortcuts"] {
            check(offered(settings), label, true);
        }
    }

    #[test]
    fn battles_and_runs_are_found_and_a_task_looks_like_one() {
        let id = Uuid::from_u128;
        let session = SessionId(id(2));
        let project = Project { id: ProjectId(id(3)), name: "shop".into(), path: "/shop".into() };
        let all = Workspace {
            sessions: vec![Session { id: session, project: project.id, name: "Session 1".into() }],
            projects: vec![project],
            chats: vec![ChatEntry {
                kind: Kind::Coder,
                ..ChatEntry::new(ChatId(id(4)), session, "Mend it".into())
            }],
            battles: vec![BattleEntry {
                id: BattleId(id(5)),
                session,
                title: "Who is best".into(),
                status: battle::Status::Running,
                begun: true,
            }],
            runs: vec![RunEntry {
                id: RunId(id(6)),
                session,
                flow: FlowId::Research,
                band: Default::default(),
                title: "Why so slow".into(),
                status: run::Status::Queued,
            }],
            ..Workspace::default()
        };
        let all = Owner::new_root(None).with(|| choices(&all, hands_at(Wanted::Start).0));
        let check = |title: &str, icon, path: String| {
            let found = &matching(&all, title)[0];
            assert_eq!((found.icon, &found.value), (Some(icon), &format!("go {path}")), "{title}");
            assert_eq!(found.description.as_deref(), Some("shop"), "{title}");
        };
        check("mend it", Icon::Code, Wanted::Chat(ChatId(id(4))).path());
        check("who is best", Icon::Swords, Wanted::Battle(BattleId(id(5))).path());
        check("why so slow", Icon::Workflow, Wanted::Run(RunId(id(6))).path());
    }
}

//! What is done with is put away, and brought back.

pub mod api;
mod rename;

use domain::{archive::Of, id::ChatId, layout::Content, page::Wanted};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    actions::Hands,
    address::Step,
    erased::{Erase, effect},
    feed::Feed,
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
    panes::Panes,
    ui::{Menu, MenuGroup, MenuItem, ToastAction},
};
use api::Restore;
pub use rename::{RenameDialog, Renaming, rename_form};

/// Puts it away, and says how it comes back at once.
pub fn put_away(hands: Hands, of: Option<Of>) {
    let Some(of) = of else { return };
    let front = untrack(|| hands.panes.in_front());
    let name = untrack(|| hands.feed.workspace(|all| all.name(of)));
    spawn_local(async move {
        if let Err(error) = api::archive(of.to_string()).await {
            return hands.panes.say(&error);
        }
        let undo =
            ToastAction { label: "Undo".into(), run: Callback::new(move |()| bring_back(hands, of, front)) };
        hands.panes.tell(&format!("“{name}” is archived."), undo);
    });
}

/// A chat that was in front when it was put away is in front again.
fn bring_back(hands: Hands, of: Of, front: Option<Content>) {
    spawn_local(async move {
        match (api::restore(of.to_string()).await, of) {
            (Err(error), _) => hands.panes.say(&error),
            (Ok(()), Of::Chat(chat)) if front == Some(Content::Chat(chat)) => {
                hands.go.to(Wanted::Chat(chat), Step::Aside);
            }
            (Ok(()), _) => hands.panes.enter_if_lost(),
        }
    });
}

/// What can be done with a session or a project as a whole.
#[component]
pub fn ArchiveMenu(of: Of, #[prop(into)] name: Signal<String>) -> impl IntoView {
    // A page that stands still has no hands.
    let hands = use_context::<Hands>();
    let is_ours = StoredValue::new(false);
    let groups = move |hands: Hands| {
        let rename = Callback::new(move |()| hands.renaming.set(Some(of)));
        let away = Callback::new(move |()| {
            is_ours.set_value(true);
            put_away(hands, Some(of));
        });
        let (rename_words, away_words, about) = match of {
            Of::Project(_) => (
                "Rename this project",
                "Archive this project",
                "Its files stay. History finds it again, and adding its folder brings it back",
            ),
            _ => ("Rename this session", "Archive this session", "With all in it. History finds it again"),
        };
        let rename = MenuItem::new(rename_words, rename).icon(Icon::Edit);
        let away = MenuItem::new(away_words, away).icon(Icon::Archive).describe(about);
        vec![MenuGroup::new(vec![rename, away])]
    };
    hands.map(|hands| {
        // The menu goes with what it puts away, and the focus with it. What others put away moves nobody here.
        effect(move || {
            on_cleanup(move || {
                if is_ours.try_get_value() == Some(true) {
                    hands.panes.enter_if_lost();
                }
            });
        });
        view! {
            <Menu
                id=format!("archive-{of}")
                name=Signal::derive(move || format!("More about {}", name.get()))
                icon=Icon::More
                groups=Signal::derive(move || groups(hands))
            />
        }
    })
}

/// On top of what was put away, in itself or with what it lies in.
#[component]
pub fn ArchivedLine(chat: Option<ChatId>) -> impl IntoView {
    let (panes, feed) = (expect_context::<Panes>(), expect_context::<Feed>());
    let of = Memo::new(move |_| {
        let session = panes.session.get()?;
        feed.workspace(|all| all.away(session, chat).map(|of| of.to_string()))
    });
    let restore = Submission::new::<Restore>();
    effect(move || {
        if restore.is_done() && of.get().is_none() {
            restore.forget();
            panes.enter_if_lost();
        }
    });
    let line = move || {
        of.get().map(|of| {
            let word = of.split('.').next().unwrap_or_default().to_owned();
            view! {
                <div class="notice info archived">
                    <p>"This " {word} " is archived."</p>
                    <Form to=restore>
                        <input type="hidden" name="of" value=of />
                        <button class="button small" type="submit" disabled=move || restore.is_pending()>
                            {Icon::Undo.view()}
                            "Bring back"
                        </button>
                    </Form>
                    <Failure error=Signal::derive(move || restore.failure()) />
                </div>
            }
            .erase()
        })
    };
    line.erase()
}

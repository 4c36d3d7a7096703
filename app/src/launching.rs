//! What the launchers of battles and runs share: what they begin with, what is kept of it, and a dialog over whatever is
//! there.

use domain::id::SessionId;
use leptos::prelude::*;

use crate::{
    address::Address,
    chat::{By, keep_text},
    erased::{Erase, Erased, effect, effect_first},
    form::Submission,
    ui::Dialog,
};

/// What a launcher begins with.
#[derive(Clone, Default)]
pub struct Brief {
    pub text: String,
    /// The composer in which it stands as a command. It stays there until it is launched.
    pub command: Option<RwSignal<String>>,
}

impl Brief {
    pub fn of(text: String) -> Self {
        Self { text, command: None }
    }
}

/// A launcher, in a pane of its own or in a dialog.
#[derive(Clone, Copy)]
pub struct Launching {
    /// What is asked.
    pub text: RwSignal<String>,
    pub launch: Submission,
}

impl Launching {
    pub fn new(launch: Submission) -> Self {
        Self { text: RwSignal::new(String::new()), launch }
    }

    /// The form may be gone before the answer comes, so what is on its way is taken for launched.
    pub fn is_away(self) -> bool {
        self.launch.is_pending() || self.launch.is_done()
    }

    /// Keeps in this browser what is typed until it is launched. What somebody brought goes before what was kept.
    pub fn keep(self, id: &str, session: Option<SessionId>) {
        let Some(session) = session else { return };
        let text = move || if self.is_away() { String::new() } else { self.text.get() };
        keep_text(format!("draft:{id}:{session}"), text, move |text, by| {
            if by == By::OtherPage || self.text.with_untracked(String::is_empty) {
                self.text.set(text.unwrap_or_default());
            }
        });
    }
}

/// Open while `asked` has something to begin with.
#[component]
pub fn LauncherDialog(
    id: &'static str,
    title: &'static str,
    asked: RwSignal<Option<Brief>>,
    /// Of the dialog and not of the form in it, which may be gone when the answer comes.
    launch: Submission,
    form: fn(Launching) -> Erased,
) -> impl IntoView {
    let Address(wanted) = expect_context::<Address>();
    let is_open = RwSignal::new(false);
    let launching = Launching::new(launch);
    // The command as it stood in its composer.
    let command = StoredValue::new(None::<(RwSignal<String>, String)>);
    effect(move || {
        let Some(Brief { text, command: typed }) = asked.get() else { return };
        command.set_value(typed.map(|typed| (typed, typed.get_untracked())));
        launch.forget();
        launching.text.set(text);
        is_open.set(true);
    });
    effect(move || {
        if !is_open.get() {
            asked.set(None);
        }
    });
    effect(move || {
        if !launch.is_done() {
            return;
        }
        is_open.set(false);
        if let Some((typed, was)) = command.try_update_value(Option::take).flatten() {
            // What was written meanwhile stays.
            typed.try_update(|typed| {
                if *typed == was {
                    typed.clear();
                }
            });
        }
    });
    // Whoever goes elsewhere wants to see what is there.
    effect_first(move |is_first| {
        wanted.track();
        if !is_first {
            is_open.set(false);
        }
    });
    view! {
        <Dialog id=id title=Signal::stored(title.to_owned()) open=is_open wide=true>
            {form(launching)}
        </Dialog>
    }
    .erase()
}

//! What a person is told while they look elsewhere. This browser remembers it; others have their own.

use domain::notifications::{Channel, Kind, Notice, Permission};
use leptos::{prelude::*, task::spawn_local};

use super::pane::Data;
use crate::{
    device,
    erased::{Erase, Erased},
    notifications::{self, Notifications, browser},
    ui::{Button, Switch},
};

#[derive(Clone, Copy)]
struct Parts {
    /// The browser refused what it had allowed.
    is_refused: RwSignal<bool>,
    of_the_browser: [RwSignal<bool>; 3],
    /// What became of the last press.
    said: RwSignal<&'static str>,
    notifications: Option<Notifications>,
}

pub fn view(data: Data) -> Erased {
    let is_refused = RwSignal::new(false);
    // None on the server, which knows nothing of it. It can be changed beside the address meanwhile.
    let permission =
        Memo::new(move |_| {
            data.now_ms.track();
            let permission = cfg!(feature = "hydrate").then(browser::permission);
            permission.map(|now| {
                if now == Permission::Granted && is_refused.get() { Permission::Refused } else { now }
            })
        });
    let parts = Parts {
        is_refused,
        of_the_browser: switched(Channel::Browser),
        said: RwSignal::new(""),
        notifications: use_context::<Notifications>(),
    };
    let is_dead = Signal::derive(move || permission.get().is_none());
    let is_not_granted = Signal::derive(move || permission.get() != Some(Permission::Granted));
    let allow = move || {
        (permission.get() == Some(Permission::Open)).then(|| {
            let press = Callback::new(move |()| parts.allow());
            view! {
                <div class="settings-actions">
                    <Button on_click=press>"Allow notifications…"</Button>
                </div>
            }
            .erase()
        })
    };
    view! {
        <noscript>
            <p class="notice">"Notifications need JavaScript. Without it, the dots beside chats tell after a reload."</p>
        </noscript>
        <section class="settings-part" aria-labelledby="notify-page">
            <h3 id="notify-page">"In the page"</h3>
            <p class="settings-help">"A message over the page that leads to the chat, the battle or the run."</p>
            <div>{switches(Channel::Page, switched(Channel::Page), is_dead)}</div>
        </section>
        <section class="settings-part" aria-labelledby="notify-browser">
            <h3 id="notify-browser">"From the browser"</h3>
            <p class="settings-help" role="status">
                {move || permission.get().map(Permission::words)}
            </p>
            {allow}
            <div>{switches(Channel::Browser, parts.of_the_browser, is_not_granted)}</div>
        </section>
        <section class="settings-part" aria-labelledby="notify-test">
            <h3 id="notify-test">"Try it"</h3>
            <div class="settings-actions">
                <Button on_click=Callback::new(move |()| parts.test()) disabled=is_dead>"Send a test"</Button>
                <span class="settings-help" role="status">{move || parts.said.get()}</span>
            </div>
        </section>
    }
    .erase()
}

impl Parts {
    fn allow(self) {
        spawn_local(async move {
            if browser::ask().await != Permission::Granted {
                return;
            }
            // Seeing the first one is how somebody knows that they work.
            self.test();
            if !self.is_refused.get_untracked() {
                for (kind, is_on) in Kind::ALL.into_iter().zip(self.of_the_browser) {
                    is_on.set(true);
                    set(kind, Channel::Browser, true);
                }
            }
        });
    }

    /// Both ways, whatever is switched on: a press is asked for.
    fn test(self) {
        let Some(notifications) = self.notifications else { return };
        let notice = Notice::test(device::fresh_id().to_string());
        notifications.say(&notice);
        let is_granted = browser::is_allowed();
        let is_shown = is_granted && notifications.show(&notice);
        self.is_refused.set(is_granted && !is_shown);
        self.said.set(if is_shown { "Sent in the page and from the browser." } else { "Sent in the page." });
    }
}

fn switched(channel: Channel) -> [RwSignal<bool>; 3] {
    let choice = notifications::choice();
    Kind::ALL.map(|kind| RwSignal::new(choice.is_on(kind, channel)))
}

fn set(kind: Kind, channel: Channel, is_on: bool) {
    let mut choice = notifications::choice();
    choice.set(kind, channel, is_on);
    notifications::choose(&choice);
}

fn switches(channel: Channel, are_on: [RwSignal<bool>; 3], disabled: Signal<bool>) -> Erased {
    let switch = |(kind, checked): (Kind, RwSignal<bool>)| {
        let (label, description) = match kind {
            Kind::Done => ("Done", "An answer is ready."),
            Kind::Failed => ("Failed", "An answer failed, or the model could not be asked."),
            Kind::NeedsAnswer => ("Needs an answer", "A chat goes on only when you do something."),
        };
        let on_change = Callback::new(move |is_on| set(kind, channel, is_on));
        view! { <Switch label description checked disabled on_change /> }.erase()
    };
    Kind::ALL.into_iter().zip(are_on).map(switch).collect::<Vec<_>>().erase()
}

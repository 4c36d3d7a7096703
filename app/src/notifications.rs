//! Tells a person who looks elsewhere: in the page, and through the browser where that is allowed. What is worth
//! telling is decided in `domain::notifications`.

pub mod browser;

use domain::{
    feed::{Envelope, Event, Seq},
    notifications::{Channel, Choice, Kind, Notice, Notifier, Overslept, Sight},
    page::Wanted,
    task::Owner,
};
use leptos::prelude::*;

use crate::{
    address::{Address, Go, Step},
    device,
    erased::effect_first,
    feed::{Feed, line::Age},
    panes::Panes,
    ui::{ToastAction, ToastKind, Toasts},
};
use browser::Watch;

/// Where this browser remembers what is switched on.
const CHOICE: &str = "boocode-notifications";

/// Where this browser remembers the last event that a page heard which was looked at, or which told for all of them.
const SEEN: &str = "boocode-seen";

/// By then the first ones have long left the page.
const SAID_MAX: usize = 64;

/// One for the life of a page.
#[derive(Clone, Copy)]
pub struct Notifications {
    feed: Feed,
    address: Address,
    panes: Panes,
    toasts: Toasts,
    go: Go,
    notifier: StoredValue<Notifier>,
    /// What the page says about something goes when that is looked at.
    said: StoredValue<Vec<(Wanted, u32)>>,
    watch: Watch,
    overslept: StoredValue<Overslept>,
    /// How many there were since somebody was here.
    pub missed: RwSignal<usize>,
}

impl Notifications {
    pub fn follow(feed: Feed, address: Address, panes: Panes) -> Self {
        let notifications = Self {
            feed,
            address,
            panes,
            toasts: expect_context::<Toasts>(),
            go: Go::new(),
            notifier: StoredValue::default(),
            said: StoredValue::default(),
            watch: Watch::default(),
            overslept: StoredValue::default(),
            missed: RwSignal::new(0),
        };
        effect_first(move |is_first| {
            notifications.look();
            if is_first {
                for sign in ["focus", "visibilitychange"] {
                    window_event_listener_untyped(sign, move |_| untrack(move || notifications.look()));
                }
            }
        });
        notifications
    }

    /// What is no news is noted, and not told; what was overslept waits until all of it is here.
    pub fn hear(self, events: &[&Envelope], age: Age) {
        // Text that grows brings none, many times a second.
        let Some(last) = events.last() else { return };
        let (sight, choice) = (untrack(|| self.sight()), choice());
        let seen = if age == Age::Overslept { seen() } else { None };
        for Envelope { seq, event } in events {
            // Somebody answered, here or elsewhere.
            if let Event::TaskAnswered { owner: Owner::Chat(chat), .. } = event {
                self.take_back(|about| about == Wanted::Chat(*chat));
            }
            let told = self.notifier.try_update_value(|notifier| {
                untrack(|| self.feed.workspace(|workspace| notifier.hear(event, workspace, &sight, &choice)))
            });
            let told = told.unwrap_or_default();
            if age == Age::Overslept && Overslept::is_worth_telling(event, *seq, seen) {
                let in_page = told.iter().find(|(channel, _)| *channel == Channel::Page);
                in_page.inspect(|(_, notice)| self.overslept.update_value(|all| all.note(notice.clone())));
            }
            if told.is_empty() || age != Age::News {
                continue;
            }
            if sight.is_away() {
                self.missed.update(|missed| *missed += 1);
            }
            let is_said = told.iter().any(|(channel, _)| *channel == Channel::Page);
            for (channel, notice) in told {
                match channel {
                    Channel::Page => self.say(&notice),
                    // Only one page of this browser tells it, in its own place when the browser refuses.
                    Channel::Browser => {
                        if self.watch.is_kept() && !self.show(&notice) && !is_said {
                            self.say(&notice);
                        }
                    }
                }
            }
        }
        if age == Age::News {
            self.note_seen(last.seq, &sight);
        }
    }

    /// Now all of it is here, up to this event. Whoever comes back is told in the page.
    pub fn tell_overslept(self, here: Seq) {
        let sight = untrack(|| self.sight());
        let told = self.overslept.try_update_value(|overslept| overslept.take(&sight));
        told.unwrap_or_default().iter().for_each(|notice| self.say(notice));
        self.note_seen(here, &sight);
    }

    /// So that another page of this browser, when it wakes, does not tell it again.
    fn note_seen(self, seq: Seq, sight: &Sight) {
        if sight.is_visible || self.watch.is_kept() {
            device::remember(SEEN, &seq.to_string());
        }
    }

    /// Whether this page stays connected while nobody looks at it, so that somebody can be told.
    pub fn keep_watch(self) -> bool {
        let wants = choice().uses(Channel::Browser) && browser::is_allowed();
        wants && self.watch.keep(device::is_visible() && device::is_focused())
    }

    /// Asks the browser to tell it. Whether it does.
    pub fn show(self, notice: &Notice) -> bool {
        browser::show(notice, self.go)
    }

    /// Tells it in the page.
    pub fn say(self, notice: &Notice) {
        let kind = match notice.kind {
            Kind::Done => ToastKind::Done,
            Kind::Failed => ToastKind::Failed,
            Kind::NeedsAnswer => ToastKind::Needed,
        };
        let (go, to) = (self.go, notice.leads_to);
        let run = Callback::new(move |()| {
            go.to(to, Step::Forward);
            // What is typed from now on goes there, once it is here.
            go.led.set(Some(to));
        });
        let action = ToastAction { label: "Open".to_owned(), run };
        self.take_back(|about| about == to);
        let text = format!("{}: {}", notice.title, notice.body);
        let toast = self.toasts.push(kind, text, Some(action));
        self.said.update_value(|said| {
            if said.len() == SAID_MAX {
                said.remove(0);
            }
            said.push((to, toast));
        });
    }

    fn take_back(self, which: impl Fn(Wanted) -> bool) {
        let gone = self
            .said
            .try_update_value(|said| said.extract_if(.., |(about, _)| which(*about)).collect::<Vec<_>>());
        for (_, toast) in gone.unwrap_or_default() {
            self.toasts.dismiss(toast);
        }
    }

    /// Somebody came back, or has something else in front.
    fn look(self) {
        let sight = self.sight();
        self.take_back(|about| about.content().is_some_and(|content| sight.shows(content)));
        if !sight.is_away() && self.missed.get_untracked() > 0 {
            self.missed.set(0);
        }
    }

    fn sight(self) -> Sight {
        let content = if !self.address.0.get().is_of_a_session() {
            Vec::new()
        } else if self.panes.is_maximised.get() || device::is_narrow() {
            let layout = self.panes.layout.read();
            let focused = self.panes.focused.get().and_then(|pane| layout.pane(pane)?.shows());
            focused.into_iter().collect()
        } else {
            self.panes.layout.read().visible()
        };
        Sight { is_visible: device::is_visible(), is_focused: device::is_focused(), in_front: content }
    }
}

fn seen() -> Option<Seq> {
    device::remembered(SEEN)?.parse().ok()
}

/// Read anew each time, because another page may have changed it.
pub fn choice() -> Choice {
    Choice::of(device::remembered(CHOICE).as_deref())
}

pub fn choose(choice: &Choice) {
    device::remember(CHOICE, &choice.text());
}

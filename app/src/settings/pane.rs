//! The frame of a section: the menu beside it, and its data.

use std::time::Duration;

use domain::{
    page::Wanted,
    settings::{Section, Shown},
};
use leptos::{prelude::*, task::spawn_local};

use super::{ENTRIES, Entry, api, entry};
use crate::{
    device,
    erased::{Erase, Erased, effect},
    error::AppError,
    form::Submission,
    notice::Failure,
    ui::Skeleton,
};

/// Servers and browsers come and go; whoever looks on sees it this late.
const LOOK_EVERY_S: i64 = 10;
const TICK: Duration = Duration::from_secs(1);

/// Which section is in front, and how another gets there.
#[derive(Clone, Copy)]
pub struct Place {
    pub section: Signal<Section>,
    pub choose: Option<Callback<Section>>,
}

/// What the section in front shows.
#[derive(Clone, Copy)]
pub struct Data {
    shown: RwSignal<Option<Shown>>,
    failure: RwSignal<Option<AppError>>,
    section: Signal<Section>,
    /// Answers to questions that were given up are told by their number.
    asked: StoredValue<u32>,
    /// The browser's time, once a second; none on the server.
    pub now_ms: RwSignal<Option<i64>>,
}

impl Data {
    pub fn with<T: Default>(self, read: impl FnOnce(&Shown) -> Option<T>) -> T {
        self.shown.with(|shown| shown.as_ref().and_then(read)).unwrap_or_default()
    }

    /// Asks again; what is shown stays until the answer is there.
    pub fn reload(self) {
        let section = self.section.get_untracked();
        let asked = self.asked.try_update_value(|asked| {
            *asked += 1;
            *asked
        });
        spawn_local(async move {
            let answer = api::show_settings(section, None).await;
            if self.asked.try_get_value() != asked {
                return;
            }
            match answer {
                Ok(shown) => {
                    self.failure.set(None);
                    // Equal data must not make the page anew under somebody's hands.
                    if self.shown.with_untracked(|before| before.as_ref() != Some(&shown)) {
                        self.shown.set(Some(shown));
                    }
                }
                Err(error) => self.failure.set(Some(error)),
            }
        });
    }

    /// Shows what a form changed.
    pub fn reload_when_done(self, form: Submission) {
        effect(move || {
            if form.is_done() {
                self.reload();
            }
        });
    }
}

/// The whole pane. `first` is what the section in front shows, where the server has told.
pub fn view(place: Place, first: Option<Shown>, failure: Option<AppError>) -> Erased {
    let told = told(first.as_ref());
    let data = Data {
        shown: RwSignal::new(first),
        failure: RwSignal::new(failure),
        section: place.section,
        asked: StoredValue::new(0),
        now_ms: RwSignal::new(None),
    };
    keep(data);
    let shown = place.section;
    let is_there = Memo::new(move |_| data.shown.with(Option::is_some));
    let menu: Vec<_> = ENTRIES.iter().map(|entry| item(entry, place, shown).erase()).collect();
    let body = move || {
        let entry = entry(shown.get());
        let content = if is_there.get() {
            (entry.view)(data)
        } else if data.failure.with(Option::is_some) {
            ().erase()
        } else {
            view! { <Skeleton lines=4 label=format!("Loading {}", entry.title) /> }.erase()
        };
        view! {
            <header class="settings-head">
                <h2>{entry.title}</h2>
                <p>{entry.about}</p>
            </header>
            {content}
        }
        .erase()
    };
    view! {
        <div class="settings" data-first=told data-alive=cfg!(feature = "hydrate").then_some("")>
            <nav class="settings-menu" aria-label="Settings">
                <ul>{menu}</ul>
            </nav>
            <div class="settings-body">
                <Failure error=data.failure />
                {body}
            </div>
        </div>
    }
    .erase()
}

/// What the browser's half starts from, for an attribute of the page.
#[cfg(not(feature = "hydrate"))]
fn told(first: Option<&Shown>) -> Option<String> {
    first.and_then(|first| serde_json::to_string(first).ok())
}

#[cfg(feature = "hydrate")]
fn told(_first: Option<&Shown>) -> Option<String> {
    None
}

fn item(entry: &'static Entry, place: Place, shown: Signal<Section>) -> impl IntoView {
    let go = move |click: leptos::ev::MouseEvent| {
        if let Some(choose) = place.choose {
            click.prevent_default();
            choose.run(entry.section);
        }
    };
    view! {
        <li>
            <a
                class="nav-item"
                href=Wanted::SettingsPage(entry.section).path()
                aria-current=move || (shown.get() == entry.section).then_some("page")
                on:click=go
            >
                {entry.icon.view()}
                <span class="nav-label">{entry.title}</span>
            </a>
        </li>
    }
}

/// In the browser: another section is asked for when it comes to the front, and again now and then.
fn keep(data: Data) {
    Effect::new(move |before: Option<Section>| {
        let now = data.section.get();
        let is_other = before.is_some_and(|before| before != now);
        if is_other {
            data.failure.set(None);
            data.shown.set(None);
        }
        if is_other || data.shown.with_untracked(Option::is_none) {
            data.reload();
        }
        now
    });
    effect(move || {
        data.now_ms.set(device::now_ms());
        let tick = move || {
            let now_ms = device::now_ms();
            data.now_ms.try_set(now_ms);
            if now_ms.is_some_and(|now_ms| now_ms / 1_000 % LOOK_EVERY_S == 0) && device::is_visible() {
                data.reload();
            }
        };
        if let Ok(ticks) = set_interval_with_handle(tick, TICK) {
            on_cleanup(move || ticks.clear());
        }
    });
}

//! The wire: one `EventSource`, and the requests around it.
//!
//! The browser's own type is used rather than a stream for each event name, because one listener for all names
//! sees the frames in the order in which they were sent.

use std::{cell::RefCell, rc::Rc, time::Duration};

use domain::{
    feed::{Cursor, Envelope, Frame, Received, Seq, StreamId},
    layout::Content,
    page::{Fronts, Page, Viewed, Wanted},
};
use leptos::{prelude::*, task::spawn_local};
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{EventSource, MessageEvent};

use super::{
    Feed,
    line::{Age, Do, Line, Seen, Shown, TICK_MS},
};
use crate::{
    chat::api,
    device,
    erased::effect_first,
    error::AppError,
    notifications::Notifications,
    workspace::{Offered, api::page_snapshot},
};

const NAMES: [&str; 5] = ["event", "delta", "truncate", "reset", "beat"];
/// Frames are folded once an animation frame, or sooner when this many wait.
const WAITING_MAX: usize = 1_000;
/// One answer that cannot be read may have been cut off on its way; this many in a row are of another version.
const UNREADABLE_MAX: u32 = 2;

pub(super) fn keep(feed: Feed, wanted: Memo<Wanted>, fronts: StoredValue<Fronts>) {
    let offered = expect_context::<Offered>();
    let notifications = expect_context::<Notifications>();
    let wire = Rc::new(Wire { feed, wanted, fronts, offered, notifications, inner: RefCell::default() });
    // Whoever else opens something in this session brings it to the front here too.
    let is_here = Memo::new(move |_| feed.page(|page| page.holds(wanted.get())));
    // Effects run after hydration, so the first render on both sides is the snapshot's.
    effect_first(move |is_first| {
        wire.inner.borrow_mut().viewed.look_at(wanted.get());
        if is_first {
            wire.start();
        }
        // The first address is the snapshot's own.
        if !is_here.get() {
            wire.see(Seen::Navigated);
        } else if feed.problem.with_untracked(Option::is_some)
            && feed.connection.get_untracked() != Shown::Outdated
        {
            // Back where something is shown.
            feed.problem.set(None);
        }
    });
}

struct Wire {
    feed: Feed,
    wanted: Memo<Wanted>,
    fronts: StoredValue<Fronts>,
    offered: Offered,
    notifications: Notifications,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    line: Line,
    source: Option<Source>,
    watched: Vec<StreamId>,
    waiting: Vec<Frame>,
    /// The last event that was looked at for something to tell. None: wherever the page stands.
    told: Option<Seq>,
    is_frame_requested: bool,
    /// Answers to requests that were given up are told by their number.
    asked: u32,
    viewed: Viewed,
    /// How many snapshots in a row could not be read.
    unreadable: u32,
}

impl Wire {
    fn start(self: &Rc<Self>) {
        let wire = Rc::clone(self);
        set_interval(move || wire.tick(), Duration::from_millis(TICK_MS.unsigned_abs()));
        let wire = Rc::clone(self);
        window_event_listener_untyped("visibilitychange", move |_| wire.tick());
        self.tick();
    }

    fn tick(self: &Rc<Self>) {
        let keeps_watch = self.notifications.keep_watch();
        self.see(Seen::Tick { awake: device::is_visible() || keeps_watch });
    }

    fn see(self: &Rc<Self>, seen: Seen) {
        let now_ms = device::now_ms().unwrap_or_default();
        let (act, shown) = {
            let mut inner = self.inner.borrow_mut();
            if seen == Seen::Reset {
                inner.told = None;
            }
            (inner.line.next(seen, now_ms), inner.line.shown())
        };
        if self.feed.connection.get_untracked() != shown {
            self.feed.connection.set(shown);
        }
        match act {
            None => {}
            Some(Do::Connect) => self.connect(),
            Some(Do::Close) => self.close(),
            Some(Do::WaitMs(ms)) => {
                self.close();
                let wire = Rc::clone(self);
                set_timeout(move || wire.tick(), Duration::from_millis(ms.unsigned_abs()));
            }
            Some(Do::Fetch) => {
                self.close();
                self.fetch();
            }
            Some(Do::Probe) => self.probe(),
        }
    }

    fn connect(self: &Rc<Self>) {
        self.close();
        let mut cursor = self.feed.mirror.with_untracked(|mirror| mirror.cursor());
        {
            // What a new snapshot holds already is heard again: it may be worth telling.
            let told = &mut self.inner.borrow_mut().told;
            cursor.after = told.map_or(cursor.after, |told| told.min(cursor.after));
            *told = Some(cursor.after);
        }
        let source = Source::open(self, &cursor);
        let failed = source.is_none();
        {
            let mut inner = self.inner.borrow_mut();
            inner.watched = cursor.watch.keys().copied().collect();
            inner.source = source;
        }
        if failed {
            self.see(Seen::Failed);
        }
    }

    fn close(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.source = None;
        inner.waiting.clear();
        inner.asked += 1;
    }

    fn heard(self: &Rc<Self>, name: &str, data: &str) {
        let Ok(frame) = Frame::parse(name, data) else {
            // A frame of another version: the page that knows it has to be loaded.
            return self.see(Seen::Reset);
        };
        if frame == Frame::Beat {
            return self.beat();
        }
        let is_due = {
            let mut inner = self.inner.borrow_mut();
            inner.waiting.push(frame);
            inner.waiting.len() >= WAITING_MAX
        };
        self.see(Seen::Heard);
        // A hidden page gets no animation frames.
        if is_due || !device::is_visible() {
            self.fold();
        } else {
            self.request_fold();
        }
    }

    /// What came before a beat is folded before it: after it, nobody could tell what was missed from what is new.
    fn beat(self: &Rc<Self>) {
        let asked = self.inner.borrow().asked;
        self.fold();
        // Unless that led to another connection.
        if self.inner.borrow().asked != asked {
            return;
        }
        if self.age() == Age::Overslept {
            self.notifications.tell_overslept(self.feed.mirror.with_untracked(|mirror| mirror.seq));
        }
        self.see(Seen::Beat);
    }

    fn request_fold(self: &Rc<Self>) {
        let mut inner = self.inner.borrow_mut();
        if inner.waiting.is_empty() || std::mem::replace(&mut inner.is_frame_requested, true) {
            return;
        }
        let wire = Rc::clone(self);
        request_animation_frame(move || {
            wire.inner.borrow_mut().is_frame_requested = false;
            wire.fold();
        });
    }

    fn fold(self: &Rc<Self>) {
        let frames = std::mem::take(&mut self.inner.borrow_mut().waiting);
        if frames.is_empty() {
            return;
        }
        let received = self.feed.receive(&frames);
        self.tell(&frames);
        match received {
            Received::Gap => self.see(Seen::Gap),
            Received::Reset => self.see(Seen::Reset),
            Received::Applied | Received::Repeated => {
                let is_outgrown = {
                    let inner = self.inner.borrow();
                    self.feed.mirror.with_untracked(|mirror| mirror.outgrows(&inner.watched))
                };
                if is_outgrown {
                    self.see(Seen::WatchChanged);
                }
            }
        }
    }

    /// Each event once, as far as the page has come.
    fn tell(&self, frames: &[Frame]) {
        let here = self.feed.mirror.with_untracked(|mirror| mirror.seq);
        let mut told = self.inner.borrow().told.unwrap_or(here);
        let mut events: Vec<&Envelope> = Vec::new();
        for frame in frames {
            if let Frame::Event(envelope) = frame
                && envelope.seq > told
                && envelope.seq <= here
            {
                told = envelope.seq;
                events.push(envelope);
            }
        }
        self.inner.borrow_mut().told = Some(told);
        self.notifications.hear(&events, self.age());
    }

    fn age(&self) -> Age {
        self.inner.borrow().line.age(device::now_ms().unwrap_or_default())
    }

    fn fetch(self: &Rc<Self>) {
        let wanted = self.wanted.get_untracked();
        let keep = {
            let inner = self.inner.borrow();
            let kept =
                |page: &Page| self.fronts.with_value(|fronts| page.kept(wanted, fronts, &inner.viewed));
            let keep = untrack(|| self.feed.page(kept));
            let path = |content: &Content| match content {
                Content::Chat(chat) => Some(Wanted::Chat(*chat).path()),
                Content::Battle(battle) => Some(Wanted::Battle(*battle).path()),
                Content::Run(run) => Some(Wanted::Run(*run).path()),
                Content::Arena | Content::Orchestrator | Content::Artifact(_) | Content::Settings => None,
            };
            keep.iter().filter_map(path).collect::<Vec<_>>().join(",")
        };
        let (wire, asked) = (Rc::clone(self), self.inner.borrow().asked);
        spawn_local(async move {
            let answer = page_snapshot(wanted.path(), keep).await;
            if wire.inner.borrow().asked != asked {
                return;
            }
            let is_unreadable = matches!(answer, Err(AppError::Unreadable));
            let unreadable = {
                let mut inner = wire.inner.borrow_mut();
                inner.unreadable = if is_unreadable { inner.unreadable + 1 } else { 0 };
                inner.unreadable
            };
            match answer {
                // Somebody went back meanwhile, to what is still shown.
                Ok(_) | Err(AppError::Rejected(_) | AppError::Invalid(_))
                    if wire.wanted.get_untracked() != wanted =>
                {
                    wire.see(Seen::Navigated);
                }
                Ok(snapshot) => {
                    wire.feed.renew(snapshot);
                    wire.see(Seen::Answered);
                }
                Err(AppError::NotLoggedIn) => wire.see(Seen::SignedOut),
                Err(error @ (AppError::Rejected(_) | AppError::Invalid(_))) => {
                    wire.feed.problem.set(Some(error));
                    wire.see(Seen::Answered);
                }
                Err(error) if unreadable >= UNREADABLE_MAX => {
                    wire.feed.problem.set(Some(error));
                    wire.see(Seen::Outdated);
                }
                Err(_) => wire.see(Seen::Failed),
            }
        });
    }

    /// Asks for the catalogue: it is small, and after a restart it may be another one.
    fn probe(self: &Rc<Self>) {
        let (wire, asked) = (Rc::clone(self), self.inner.borrow().asked);
        spawn_local(async move {
            let answer = api::offered_models(false).await;
            if wire.inner.borrow().asked != asked {
                return;
            }
            match answer {
                Ok(models) => {
                    let Offered(shown) = wire.offered;
                    if shown.with_untracked(|shown| *shown != models) {
                        shown.set(models);
                    }
                    wire.see(if wire.is_elsewhere() { Seen::Navigated } else { Seen::Answered });
                }
                Err(AppError::NotLoggedIn) => wire.see(Seen::SignedOut),
                Err(_) => wire.see(Seen::Failed),
            }
        });
    }

    fn is_elsewhere(&self) -> bool {
        let wanted = self.wanted.get_untracked();
        !untrack(|| self.feed.page(|page| page.holds(wanted)))
    }
}

/// An open connection with its listeners; dropping it closes it, and nothing it says is heard any more.
struct Source {
    source: EventSource,
    on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_open: Closure<dyn FnMut()>,
    _on_error: Closure<dyn FnMut()>,
}

impl Source {
    fn open(wire: &Rc<Wire>, cursor: &Cursor) -> Option<Self> {
        let source = EventSource::new(&format!("/api/feed?{}", cursor.to_query())).ok()?;
        let (hears, opens, fails) = (Rc::clone(wire), Rc::clone(wire), Rc::clone(wire));
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            if let Some(data) = event.data().as_string() {
                hears.heard(&event.type_(), &data);
            }
        });
        let on_open = Closure::<dyn FnMut()>::new(move || opens.see(Seen::Opened));
        let on_error = Closure::<dyn FnMut()>::new(move || fails.see(Seen::Failed));
        for name in NAMES {
            source.add_event_listener_with_callback(name, on_message.as_ref().unchecked_ref()).ok()?;
        }
        source.set_onopen(Some(on_open.as_ref().unchecked_ref()));
        source.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Some(Self { source, on_message, _on_open: on_open, _on_error: on_error })
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        for name in NAMES {
            let listener = self.on_message.as_ref().unchecked_ref();
            self.source.remove_event_listener_with_callback(name, listener).ok();
        }
        self.source.set_onopen(None);
        self.source.set_onerror(None);
        self.source.close();
    }
}

//! The files that go with the next message: pasted, dropped or picked, and sent ahead of it one by one.

mod files;
mod intake;
mod list;

use std::collections::BTreeMap;

use domain::{
    attachment::{self, Attachment},
    id::{AttachmentId, ChatId},
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    api,
    kept::{self, By},
    upload::Picked,
};
use crate::{erased::effect, error::AppError, feed::Feed, form::Submission};
pub use files::{Kept, KeptFiles, SentFiles};
pub use intake::{AttachButton, Dropping, take_pasted};
pub use list::AttachedList;

/// What stands at the composer.
#[derive(Clone, Copy)]
pub struct Attached {
    chat: ChatId,
    items: RwSignal<Vec<Item>>,
    next: StoredValue<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    /// Tells files of one name apart.
    key: u32,
    name: String,
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    OnItsWay,
    There(Attachment),
    /// Why it does not go along.
    Refused(String),
}

impl State {
    fn there(&self) -> Option<&Attachment> {
        match self {
            Self::There(file) => Some(file),
            Self::OnItsWay | Self::Refused(_) => None,
        }
    }
}

/// Of all chats that a page has shown: a file goes on travelling when its chat is out of sight.
#[derive(Clone)]
pub struct AttachedByChat {
    owner: Owner,
    known: StoredValue<BTreeMap<ChatId, Attached>>,
}

impl AttachedByChat {
    /// They live as long as whoever provides this.
    pub fn provide() {
        let owner = Owner::current().unwrap_or_default();
        provide_context(Self { owner, known: StoredValue::new(BTreeMap::new()) });
    }

    pub fn of(&self, feed: Feed, chat: ChatId) -> Attached {
        if let Some(attached) = self.known.with_value(|known| known.get(&chat).copied()) {
            return attached;
        }
        let attached = self.owner.with(|| {
            let attached = Attached::new(chat);
            attached.keep(format!("attached:{chat}"));
            attached.follow(feed);
            attached
        });
        self.known.update_value(|known| {
            known.insert(chat, attached);
        });
        attached
    }
}

impl Attached {
    fn new(chat: ChatId) -> Self {
        Self { chat, items: RwSignal::new(Vec::new()), next: StoredValue::new(0) }
    }

    /// Those that the server has, in the order in which they were added.
    pub fn files(self) -> Vec<Attachment> {
        self.items.with(|items| items.iter().filter_map(|item| item.state.there().cloned()).collect())
    }

    pub fn ids(self) -> Vec<AttachmentId> {
        self.items.with(|items| items.iter().filter_map(|item| Some(item.state.there()?.id)).collect())
    }

    pub fn is_any_on_its_way(self) -> bool {
        self.items.with(|items| items.iter().any(|item| item.state == State::OnItsWay))
    }

    /// Those that a message has. They go with one.
    pub fn leave(self, sent: &[AttachmentId]) {
        let is_sent = |item: &Item| item.state.there().is_some_and(|file| sent.contains(&file.id));
        if self.items.with_untracked(|items| items.iter().any(is_sent)) {
            self.items.update(|items| items.retain(|item| !is_sent(item)));
        }
    }

    /// Nobody needs to hear why again once a message went without them.
    pub fn forget_refused(self) {
        let is_refused = |item: &Item| matches!(item.state, State::Refused(_));
        if self.items.with_untracked(|items| items.iter().any(is_refused)) {
            self.items.update(|items| items.retain(|item| !is_refused(item)));
        }
    }

    fn add(self, name: String, state: State) -> u32 {
        let key = self.next.get_value();
        self.next.set_value(key + 1);
        self.items.update(|items| items.push(Item { key, name, state }));
        key
    }

    /// Sends them ahead one by one, without those of which it is clear that they cannot go along.
    fn take(self, picked: Vec<Picked>) {
        let mut accepted = Vec::new();
        for file in picked {
            let name = attachment::name(&file.name());
            match attachment::check_arriving(&name, file.bytes(), self.count()) {
                Ok(()) => accepted.push((self.add(name.clone(), State::OnItsWay), name, file)),
                Err(rejected) => drop(self.add(name, State::Refused(rejected.to_string()))),
            }
        }
        spawn_local(async move {
            for (key, name, file) in accepted {
                let answer = file.upload(self.chat).await;
                self.settle(key, &name, answer);
            }
        });
    }

    /// How many go along, those that are on their way included.
    fn count(self) -> usize {
        let goes_along = |item: &&Item| !matches!(item.state, State::Refused(_));
        self.items.with_untracked(|items| items.iter().filter(goes_along).count())
    }

    fn settle(self, key: u32, name: &str, answer: Result<Attachment, AppError>) {
        // The page may be gone by now.
        self.items.try_update(|items| {
            let there = items.iter().filter_map(|item| item.state.there().cloned());
            let state = match answer {
                Ok(file) => {
                    let together: Vec<_> = there.chain([file.clone()]).collect();
                    match attachment::check_together(&together) {
                        Ok(()) => State::There(file),
                        Err(rejected) => State::Refused(format!("{name} does not go along. {rejected}")),
                    }
                }
                Err(AppError::Offline) => {
                    State::Refused(format!("{name} did not get through. Attach it again."))
                }
                // These say what is wrong with the file.
                Err(error @ (AppError::Rejected(_) | AppError::Invalid(_))) => {
                    State::Refused(error.to_string())
                }
                Err(error) => State::Refused(format!("{name} is not attached. {error}")),
            };
            if let Some(item) = items.iter_mut().find(|item| item.key == key) {
                item.state = state;
            }
        });
    }

    fn remove(self, key: u32) {
        let removed = self.items.try_update(|items| {
            let at = items.iter().position(|item| item.key == key)?;
            Some(items.remove(at))
        });
        let Some(file) = removed.flatten().and_then(|item| item.state.there().map(|file| file.id)) else {
            return;
        };
        let chat = self.chat;
        // One that stays behind is swept with the others that nobody sent.
        spawn_local(async move { drop(api::remove_attachment(chat, file).await) });
    }

    /// Files that nobody sends are swept after a day, and another page may have removed one.
    pub fn look_for_lost(self) {
        let ids = untrack(|| self.ids());
        if ids.is_empty() {
            return;
        }
        spawn_local(async move {
            if let Ok(present) = api::present_attachments(self.chat, ids.clone()).await {
                self.lose(|id| ids.contains(&id) && !present.contains(&id));
            }
        });
    }

    fn lose(self, is_lost: impl Fn(AttachmentId) -> bool) {
        self.items.try_update(|items| {
            for item in items {
                if item.state.there().is_some_and(|file| is_lost(file.id)) {
                    let reason = format!("{} is no longer there. Attach it again.", item.name);
                    item.state = State::Refused(reason);
                }
            }
        });
    }

    /// Remembers in this browser what is attached, as it does the text.
    fn keep(self, key: String) {
        let text = move || {
            let files = self.files();
            if files.is_empty() { String::new() } else { serde_json::to_string(&files).unwrap_or_default() }
        };
        kept::keep(key, text, move |text, by| {
            let files: Option<Vec<Attachment>> = text.and_then(|text| domain::json::read(&text).ok());
            self.take_over(files.unwrap_or_default());
            if by == By::Before {
                self.look_for_lost();
            }
        });
    }

    /// These are there now. What is on its way or was refused is this page's own.
    fn take_over(self, files: Vec<Attachment>) {
        let is_kept = |item: &Item| item.state.there().is_none_or(|file| files.contains(file));
        if !self.items.with_untracked(|items| items.iter().all(is_kept)) {
            self.items.update(|items| items.retain(is_kept));
        }
        let known = untrack(|| self.ids());
        for file in files.into_iter().filter(|file| !known.contains(&file.id)) {
            self.add(file.name.clone(), State::There(file));
        }
    }

    /// What was sent, from here or from another page, is no longer attached.
    fn follow(self, feed: Feed) {
        effect(move || {
            let ids = self.ids();
            let sent = feed.chat(self.chat, |chat| {
                ids.into_iter().filter(|id| chat.holder(*id).is_some()).collect::<Vec<_>>()
            });
            self.leave(&sent.unwrap_or_default());
        });
    }
}

/// The files that a form on its way names.
pub fn sent_files(form: Submission) -> Vec<AttachmentId> {
    (0..attachment::COUNT_MAX).map_while(|at| form.sent(&field_name(at))?.parse().ok()).collect()
}

/// The field of the file at this place.
fn field_name(at: usize) -> String {
    format!("attachments[{at}]")
}

#[cfg(all(test, feature = "ssr"))]
mod tests;

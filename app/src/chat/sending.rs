//! Under which id a message is sent: sent twice it is asked once, and other words are another message.

use domain::id::MessageId;
use leptos::prelude::*;

use crate::device;

#[derive(Clone, Copy)]
pub struct Sending {
    /// What was sent last, until it is known whether the server has it.
    unsure: RwSignal<Option<Sent>>,
    fresh: RwSignal<MessageId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub id: MessageId,
    pub text: String,
}

impl Sending {
    pub fn new() -> Self {
        Self { unsure: RwSignal::new(None), fresh: RwSignal::new(fresh()) }
    }

    pub fn id_for(&self, text: &str) -> MessageId {
        let known =
            self.unsure.with(|sent| sent.as_ref().filter(|sent| sent.text == text).map(|sent| sent.id));
        known.unwrap_or_else(|| self.fresh.get())
    }

    pub fn unsure(&self) -> Option<Sent> {
        self.unsure.get()
    }

    /// To be called whenever something is sent, the same or not.
    pub fn sent(&self, id: MessageId, text: &str) {
        // Some browsers put the line ends of the wire into a form.
        self.unsure.set(Some(Sent { id, text: text.replace("\r\n", "\n") }));
        self.fresh.set(fresh());
    }

    /// The server has it, or refused it for good: whatever is sent next is new. Returns what it was.
    pub fn settle(&self) -> Option<Sent> {
        let sent = self.unsure.get_untracked();
        if sent.is_some() {
            self.unsure.set(None);
        }
        sent
    }

    /// Remembers in this browser what is unsure, so that it is asked once even when it is sent again after a
    /// reload.
    pub fn keep(self, key: String) {
        Effect::new(move |kept: Option<()>| {
            if kept.is_some() {
                let sent = self.unsure.with(|sent| sent.as_ref().map(Sent::line).unwrap_or_default());
                device::remember(&key, &sent);
                return;
            }
            self.unsure.track();
            if let Some(sent) = device::remembered(&key).as_deref().and_then(Sent::from_line) {
                self.unsure.set(Some(sent));
            }
        });
    }
}

impl Sent {
    fn line(&self) -> String {
        format!("{} {}", self.id, self.text)
    }

    fn from_line(line: &str) -> Option<Self> {
        let (id, text) = line.split_once(' ')?;
        Some(Self { id: id.parse().ok()?, text: text.to_owned() })
    }
}

fn fresh() -> MessageId {
    MessageId(device::fresh_id())
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_keep_their_id_until_they_are_settled() {
        Owner::new().with(|| {
            let sending = Sending::new();
            let first = sending.id_for("one\ntwo");
            sending.sent(first, "one\r\ntwo");
            assert_eq!(sending.id_for("one\ntwo"), first);
            let other = sending.id_for("one");
            assert_ne!(other, first);
            // Back to the first words: the server may have them.
            assert_eq!(sending.id_for("one\ntwo"), first);
            sending.sent(other, "one");
            assert_eq!(sending.id_for("one"), other);
            assert_eq!(sending.settle().map(|sent| sent.text), Some("one".into()));
            assert_ne!(sending.id_for("one"), other);
            assert_eq!(sending.settle(), None);
        });
    }

    #[test]
    fn what_is_remembered_is_read_again() {
        let sent = Sent { id: fresh(), text: "two words\nand a line".into() };
        assert_eq!(Sent::from_line(&sent.line()), Some(sent));
        assert_eq!(Sent::from_line("nonsense"), None);
        assert_eq!(Sent::from_line("no id"), None);
    }
}

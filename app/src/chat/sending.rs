//! Under which id a message is sent: sent twice it is asked once, and other words are another message.

use domain::id::{AttachmentId, MessageId};
use leptos::prelude::*;

use super::kept::{self, By};
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
    pub files: Vec<AttachmentId>,
}

impl Sending {
    pub fn new() -> Self {
        Self { unsure: RwSignal::new(None), fresh: RwSignal::new(fresh()) }
    }

    pub fn id_for(&self, text: &str, files: &[AttachmentId]) -> MessageId {
        let is_same = |sent: &&Sent| sent.text == text && sent.files == files;
        let known = self.unsure.with(|sent| sent.as_ref().filter(is_same).map(|sent| sent.id));
        known.unwrap_or_else(|| self.fresh.get())
    }

    pub fn unsure(&self) -> Option<Sent> {
        self.unsure.get()
    }

    /// To be called whenever something is sent, the same or not.
    pub fn sent(&self, id: &str, text: &str, files: Vec<AttachmentId>) {
        let Ok(id) = id.parse() else { return };
        // Some browsers put the line ends of the wire into a form.
        self.unsure.set(Some(Sent { id, text: text.replace("\r\n", "\n"), files }));
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
        let line = move || self.unsure.with(|sent| sent.as_ref().map(Sent::line).unwrap_or_default());
        kept::keep(key, line, move |line, by| {
            // What another page is unsure about, it finds out.
            if let (By::Before, Some(sent)) = (by, line.as_deref().and_then(Sent::from_line)) {
                self.unsure.set(Some(sent));
            }
        });
    }
}

impl Sent {
    fn line(&self) -> String {
        let files: Vec<_> = self.files.iter().map(AttachmentId::to_string).collect();
        format!("{} [{}] {}", self.id, files.join(","), self.text)
    }

    fn from_line(line: &str) -> Option<Self> {
        let (id, rest) = line.split_once(" [")?;
        let (files, text) = rest.split_once("] ")?;
        let files = files.split_terminator(',').map(|file| file.parse().ok()).collect::<Option<_>>()?;
        Some(Self { id: id.parse().ok()?, text: text.to_owned(), files })
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
            let first = sending.id_for("one\ntwo", &[]);
            sending.sent(&first.to_string(), "one\r\ntwo", vec![]);
            assert_eq!(sending.id_for("one\ntwo", &[]), first);
            let other = sending.id_for("one", &[]);
            assert_ne!(other, first);
            // Back to the first words: the server may have them.
            assert_eq!(sending.id_for("one\ntwo", &[]), first);
            sending.sent(&other.to_string(), "one", vec![]);
            assert_eq!(sending.id_for("one", &[]), other);
            assert_eq!(sending.settle().map(|sent| sent.text), Some("one".into()));
            assert_ne!(sending.id_for("one", &[]), other);
            assert_eq!(sending.settle(), None);
            // With a file it is another message.
            let file = AttachmentId(uuid::Uuid::from_u128(1));
            let bare = sending.id_for("one", &[]);
            sending.sent(&bare.to_string(), "one", vec![]);
            assert_ne!(sending.id_for("one", &[file]), bare);
            assert_eq!(sending.id_for("one", &[]), bare);
        });
    }

    #[test]
    fn what_is_remembered_is_read_again() {
        let files = [1, 2].map(|n| AttachmentId(uuid::Uuid::from_u128(n)));
        for files in [&files[..], &files[1..], &[]] {
            let sent = Sent { id: fresh(), text: "two [words] \nand a line".into(), files: files.to_vec() };
            assert_eq!(Sent::from_line(&sent.line()), Some(sent));
        }
        assert_eq!(Sent::from_line("nonsense"), None);
        assert_eq!(Sent::from_line("no id"), None);
    }
}

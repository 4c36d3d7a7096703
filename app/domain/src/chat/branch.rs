//! The tree of messages: which branch is shown, and what stands beside it.

use super::{Chat, Message};
use crate::id::MessageId;

impl Chat {
    /// The shown messages, oldest first.
    pub fn branch(&self) -> Vec<&Message> {
        self.head.map(|head| self.path_to(head)).unwrap_or_default()
    }

    /// From the first message down to `id`. Parents come before children, so one walk backwards finds all.
    pub fn path_to(&self, id: MessageId) -> Vec<&Message> {
        let (mut wanted, mut path) = (Some(id), Vec::new());
        for message in self.messages.iter().rev() {
            if Some(message.id) == wanted {
                wanted = message.parent;
                path.push(message);
            }
        }
        path.reverse();
        path
    }

    /// The versions of a message, itself included, in the order in which they were made.
    pub fn siblings(&self, message: &Message) -> Vec<MessageId> {
        self.messages.iter().filter(|other| other.parent == message.parent).map(|other| other.id).collect()
    }

    /// The end of the newest branch through `id`.
    pub(super) fn newest_leaf(&self, id: MessageId) -> MessageId {
        let mut leaf = id;
        while let Some(child) = self.last_child(leaf) {
            leaf = child;
        }
        leaf
    }

    fn last_child(&self, id: MessageId) -> Option<MessageId> {
        self.messages.iter().rev().find(|message| message.parent == Some(id)).map(|message| message.id)
    }
}

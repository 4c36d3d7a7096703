//! What one browser page shows: the sidebar, and the chat that is open. One connection feeds both.

use serde::{Deserialize, Serialize};

use crate::{
    chat::Chat,
    feed::{Event, Fold, StreamId},
    workspace::Workspace,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    pub workspace: Workspace,
    pub chat: Option<Chat>,
}

impl Fold for Page {
    fn apply(&mut self, event: &Event) {
        self.workspace.apply(event);
        if let Some(chat) = &mut self.chat {
            chat.apply(event);
        }
    }

    fn streams(&self) -> Vec<(StreamId, Option<u64>)> {
        self.chat.as_ref().map(Chat::visible_streams).unwrap_or_default()
    }
}

//! What was shown as final: it has to stay.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use domain::{
    chat::Message,
    feed::{Fold as _, Mirror, StreamId},
    id::MessageId,
    page::Page,
};

#[derive(Default)]
pub struct Promises {
    pub messages: BTreeMap<MessageId, Message>,
    /// The texts of attempts that were over.
    pub texts: BTreeMap<StreamId, String>,
}

impl Promises {
    /// Takes down what is final in a page, and looks whether anything final has changed.
    pub fn note(&mut self, page: &Mirror<Page>) -> Result<()> {
        for message in
            page.state.session.iter().flat_map(|open| open.chats.values()).flat_map(|chat| &chat.messages)
        {
            let known = self.messages.entry(message.id).or_insert_with(|| message.clone());
            if known != message {
                bail!("a message changed from {known:?} to {message:?}");
            }
        }
        for (stream, len) in page.state.streams() {
            let Some(copy) = page.streams.get(&stream).filter(|copy| len == Some(copy.text.len() as u64))
            else {
                continue;
            };
            let known = self.texts.entry(stream).or_insert_with(|| copy.text.clone());
            if *known != copy.text {
                bail!("{stream} was over with {known:?} and is now {:?}", copy.text);
            }
        }
        Ok(())
    }
}

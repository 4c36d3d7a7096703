//! How much of a model's context a chat takes.

use crate::{
    attachment::{Attachment, Media},
    chat::{Body, Chat, Message},
    output::{Outcome, Usage},
    task::Status,
};

/// Most texts have about so many bytes a token.
const BYTES_A_TOKEN: u64 = 4;

/// What is known, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextUse {
    /// What the model server counted, up to the last answer that it measured.
    pub counted: Option<u64>,
    /// What came since, guessed from its length.
    pub guessed: u64,
    /// Images among what came since. What they cost differs too much to guess.
    pub images: usize,
    /// What the model takes, where its server says so.
    pub limit: Option<u32>,
}

impl ContextUse {
    /// Of the shown branch and of what is about to be sent.
    pub fn of(chat: &Chat, draft: &str, attached: &[Attachment], limit: Option<u32>) -> Self {
        let mut this = Self { limit, ..Self::default() };
        this.add_text(draft.len());
        this.add_files(attached);
        for message in chat.branch().into_iter().rev() {
            this.counted = counted(chat, message);
            if this.counted.is_some() {
                break;
            }
            match &message.body {
                Body::User { text, attachments, .. } => {
                    this.add_text(text.len());
                    this.add_files(attachments);
                }
                Body::Assistant { .. } => this.add_text(said(chat, message)),
            }
        }
        this
    }

    pub fn tokens(&self) -> u64 {
        self.counted.unwrap_or(0) + self.guessed
    }

    /// Whether nothing in it is a guess.
    pub fn is_exact(&self) -> bool {
        self.guessed == 0 && self.images == 0
    }

    /// How full the context is, in percent; more than 100 does not fit. Unknown without the model's limit.
    pub fn percent(&self) -> Option<u64> {
        let limit = self.limit.filter(|limit| *limit > 0)?;
        Some((self.tokens() * 100).div_ceil(limit.into()))
    }

    /// For a person: what is known, and what is not.
    pub fn words(&self) -> String {
        let about = if self.is_exact() { "" } else { "about " };
        let tokens = grouped(self.tokens());
        let of = match (self.limit, self.percent()) {
            (Some(limit), Some(percent)) => {
                format!("{tokens} of {} tokens ({percent} %)", grouped(limit.into()))
            }
            _ => format!("{tokens} tokens; how many the model takes is not known"),
        };
        let images = match self.images {
            0 => String::new(),
            1 => ", one image not counted".to_owned(),
            many => format!(", {many} images not counted"),
        };
        let words = format!("{about}{of}{images}");
        let mut chars = words.chars();
        chars
            .next()
            .map(|first| first.to_uppercase().collect::<String>() + chars.as_str())
            .unwrap_or_default()
    }

    fn add_text(&mut self, bytes: usize) {
        self.guessed += (bytes as u64).div_ceil(BYTES_A_TOKEN);
    }

    fn add_files(&mut self, files: &[Attachment]) {
        for file in files {
            match file.media {
                Media::Text => self.add_text(file.bytes as usize),
                Media::Image { .. } => self.images += 1,
            }
        }
    }
}

/// The whole conversation up to this answer, as the model server counted it.
fn counted(chat: &Chat, message: &Message) -> Option<u64> {
    match &chat.task_of(message)?.status {
        Status::Settled { outcome: Outcome::Done { measured }, .. } => match measured.usage? {
            Usage { prompt_tokens: Some(prompt), completion_tokens: Some(completion) } => {
                Some(prompt + completion)
            }
            _ => None,
        },
        _ => None,
    }
}

/// How long an answer is that nobody measured: the text of its last attempt.
fn said(chat: &Chat, message: &Message) -> usize {
    let lengths = chat.task_of(message).map(|task| task.attempts()).unwrap_or_default();
    lengths.last().and_then(|(_, len)| *len).unwrap_or(0) as usize
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests;

//! What is sent again, because its answer never reached the browser, is there once. Other words under an id that is
//! known were never asked, which must not look like success.

use super::{Body, Chat, Input};
use crate::{
    Rejected,
    catalogue::ModelRef,
    id::{AttachmentId, MessageId},
    task::Task,
};

impl Chat {
    pub(super) fn is_again(&self, input: &Input) -> Result<bool, Rejected> {
        match input {
            Input::Ask { turn, text, enclosed, .. } | Input::Resend { turn, text, enclosed, .. } => {
                let files: Vec<_> = enclosed.attached.iter().map(|file| file.id).collect();
                self.asks_again(turn.message, text, &files)
            }
            Input::Retry { of, reply, choice, .. } => {
                self.retries_again(*of, *reply, &choice.model, choice.persona.as_deref())
            }
            _ => Ok(false),
        }
    }

    /// What is mentioned may have been read again meanwhile, so only what was attached by hand counts.
    pub fn asks_again(
        &self,
        message: MessageId,
        words: &str,
        files: &[AttachmentId],
    ) -> Result<bool, Rejected> {
        let queued = || self.queue.iter().find(|queued| queued.turn.message == message);
        let (text, attachments) = match self.message(message).map(|message| &message.body) {
            Some(Body::User { text, attachments, .. }) => (Some(text), attachments.as_slice()),
            Some(Body::Assistant { .. }) => (None, [].as_slice()),
            None => match queued() {
                Some(queued) => (Some(&queued.text), queued.attachments.as_slice()),
                None => return Ok(false),
            },
        };
        let has = |file: &AttachmentId| attachments.iter().any(|known| known.id == *file);
        if text.is_some_and(|text| text == words) && files.iter().all(has) {
            return Ok(true);
        }
        Err(Rejected::Invalid("This message was sent already. Send it again as a new one.".into()))
    }

    /// Whether `reply` is there, another answer beside the answer `of`, as it is wanted now.
    pub fn retries_again(
        &self,
        of: MessageId,
        reply: MessageId,
        model: &ModelRef,
        persona: Option<&str>,
    ) -> Result<bool, Rejected> {
        let Some(known) = self.message(reply) else { return Ok(false) };
        let chosen = |task: &Task| task.model == *model && task.persona.as_deref() == persona;
        let is_beside = self.message(of).is_some_and(|of| of.id != reply && of.parent == known.parent);
        if is_beside && self.task_of(known).is_some_and(chosen) {
            return Ok(true);
        }
        Err(Rejected::Invalid("This answer was asked for already. Ask for another one.".into()))
    }
}

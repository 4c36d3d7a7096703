//! The turns of chats and Coders, and their titles.

use std::sync::Arc;

use domain::{feed::StreamId, id::ChatId, task::Task};

use super::{
    super::{Engine, Running, execute::Backend, prompt},
    Unprepared, Work,
};
use crate::coder::Place;

impl Engine {
    pub(super) async fn for_chat(
        &self,
        task: &Task,
        chat: ChatId,
        stream: StreamId,
        running: &Running,
    ) -> Result<Arc<dyn Backend>, Unprepared> {
        let conversation = store::conversation(&self.0.db, task.id).await?;
        let endpoint = self.endpoint(&task.model)?;
        let persona = match task.persona {
            Some(_) => {
                self.persona(task, store::workspace::project_of_chat(&self.0.db, chat).await?.path).await?
            }
            None => None,
        };
        match task.coder.clone() {
            Some(coder) => {
                let place = Place::Chat(chat);
                self.agent(task, stream, running, Work { coder, place, endpoint, conversation, persona })
            }
            None => {
                let request = prompt::request(conversation, endpoint, persona).map_err(Unprepared::Told)?;
                Ok(self.completion(request))
            }
        }
    }
}

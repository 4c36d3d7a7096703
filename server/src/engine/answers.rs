//! What people say to agents that wait for them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use domain::tool::Permit;
use tokio::sync::oneshot;

use crate::live::guard;

/// The questions of one attempt, by their numbers.
#[derive(Clone, Default)]
pub(crate) struct Answers(Arc<Mutex<HashMap<u32, oneshot::Sender<Permit>>>>);

impl Answers {
    /// To be called before anybody can hear of the question.
    pub fn expect(&self, number: u32) -> oneshot::Receiver<Permit> {
        let (said, heard) = oneshot::channel();
        guard(&self.0).insert(number, said);
        heard
    }

    pub fn say(&self, number: u32, permit: Permit) {
        if let Some(waits) = guard(&self.0).remove(&number) {
            // Whoever asked may be gone by now.
            let _ = waits.send(permit);
        }
    }
}

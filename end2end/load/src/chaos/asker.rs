//! Somebody who asks one question after the other, whatever happens to the server.

use std::time::Duration;

use anyhow::{Context as _, Result};
use domain::{id::ChatId, task::Work};
use tokio::{sync::watch, time::sleep};

use super::dice::Dice;
use crate::{
    boocode::{Browser, Question},
    watcher::Watcher,
};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// One that is answered and one that waits.
const OPEN_MAX: usize = 2;
/// At the model's 200 a second, answers take up to a third of a second: most kills hit one.
const NUMBERS_MAX: u64 = 64;

/// A question that the server accepted, and how far it is to be counted.
#[derive(Clone, Debug)]
pub struct Asked {
    pub question: Question,
    pub numbers: u64,
}

/// What the asker sees of its chat.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Glance {
    settled: usize,
    /// Nothing runs, but something waits: after a failure a person lets the queue go on.
    held: bool,
    /// Nothing is at work, not even a title.
    at_rest: bool,
}

impl Glance {
    pub fn of(watcher: &Watcher) -> Self {
        let Some(chat) = watcher.chat() else { return Self::default() };
        let turns = chat.tasks.values().filter(|task| task.work == Work::ChatTurn);
        Self {
            settled: turns.filter(|task| task.is_settled()).count(),
            held: chat.active_turn().is_none() && !chat.queue.is_empty(),
            at_rest: chat.queue.is_empty() && chat.tasks.values().all(|task| task.is_settled()),
        }
    }
}

pub async fn run(
    browser: Browser,
    chat: ChatId,
    model: &'static str,
    mut dice: Dice,
    glance: watch::Receiver<Glance>,
    stopping: watch::Receiver<bool>,
) -> Result<Vec<Asked>> {
    let mut asked: Vec<Asked> = Vec::new();
    loop {
        let (seen, stop) = (*glance.borrow(), *stopping.borrow());
        if seen.held {
            // Refused where the page is behind and the queue goes on already.
            let _ = browser.call("send_queued", &[("chat", chat.to_string())]).await;
        }
        if stop && seen.at_rest && seen.settled == asked.len() {
            return Ok(asked);
        }
        if stop || asked.len() >= seen.settled + OPEN_MAX {
            sleep(LOOK_EVERY).await;
            continue;
        }
        let numbers = 1 + dice.below(NUMBERS_MAX);
        let text = format!("[[count {numbers}]] question {} of {chat}", asked.len() + 1);
        let question = Question::new(chat, model, text);
        browser.ask(&question).await.with_context(|| format!("never accepted: {}", question.text))?;
        asked.push(Asked { question, numbers });
        sleep(Duration::from_millis(dice.below(100))).await;
    }
}

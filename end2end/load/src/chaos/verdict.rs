//! What is left after the last kill, held against what was asked and shown.

use std::collections::BTreeMap;

use domain::{
    chat::{Body, Chat},
    feed::{Snapshot, StreamId},
    output::Outcome,
    page::Page,
    task::{Status, Task},
    transcript::Transcript,
};

use super::{asker::Asked, faults::Faults, journal::Record, promises::Promises};
use crate::watcher::Watcher;

#[derive(Default)]
pub struct Verdict {
    asked: usize,
    done: usize,
    /// Turns that were killed as often as they may be tried, and say so.
    given_up: usize,
    retried: usize,
    pub faults: Faults,
    /// By question: in how many attempts it was put to a model, and whether one of them brought an answer.
    attempts: BTreeMap<String, (usize, bool)>,
}

impl Verdict {
    pub fn look_at(&mut self, page: &Watcher, promises: &Promises, fresh: &Snapshot<Page>, asked: &[Asked]) {
        self.asked += asked.len();
        let Some(chat) = fresh.state.chat(page.chat) else {
            return self.faults.lost.push(format!("chat {} is gone", page.chat));
        };
        let texts: BTreeMap<StreamId, &str> =
            fresh.streams.iter().map(|(stream, text)| (*stream, text.as_str())).collect();
        for one in asked {
            self.judge(chat, &texts, one);
        }
        let questions = chat.messages.iter().filter(|message| matches!(message.body, Body::User { .. }));
        if questions.count() > asked.len() {
            self.faults.double.push(format!("{} holds more questions than were asked", page.chat));
        }
        for (id, message) in &promises.messages {
            if chat.message(*id) != Some(message) {
                self.faults.lost.push(format!("a message that was shown is gone: {message:?}"));
            }
        }
        for (stream, text) in &promises.texts {
            if texts.get(stream) != Some(&text.as_str()) {
                self.faults.lost.push(format!("{stream} was shown as over and is no longer the same"));
            }
        }
        self.compare_page(page, fresh, &texts);
    }

    /// The page has to show what a reload shows.
    fn compare_page(&mut self, page: &Watcher, fresh: &Snapshot<Page>, texts: &BTreeMap<StreamId, &str>) {
        let shown = |state: &Page| (state.workspace.clone(), state.chat(page.chat).cloned());
        if shown(&page.mirror.state) != shown(&fresh.state) {
            self.faults.lost.push(format!("the page of {} is not what a reload shows", page.chat));
        }
        for (stream, text) in texts {
            let shown = page.mirror.streams.get(stream).map_or("", |copy| &copy.text);
            if shown != *text {
                self.faults
                    .lost
                    .push(format!("{stream} is {shown:?} on the page and {text:?} after a reload"));
            }
        }
    }

    fn judge(&mut self, chat: &Chat, texts: &BTreeMap<StreamId, &str>, asked: &Asked) {
        let Asked { question, numbers } = asked;
        let words = &question.text;
        let there = chat.messages.iter().filter(|message| message.id == question.message);
        match there.count() {
            1 => {}
            0 => return self.faults.lost.push(format!("never arrived: {words}")),
            _ => self.faults.double.push(format!("asked twice: {words}")),
        }
        let answers: Vec<&Task> = chat
            .messages
            .iter()
            .filter(|message| message.parent == Some(question.message))
            .filter_map(|message| chat.task_of(message))
            .collect();
        let [task] = answers[..] else {
            let side = if answers.is_empty() { &mut self.faults.lost } else { &mut self.faults.double };
            return side.push(format!("{} answers: {words}", answers.len()));
        };
        let attempts = task.attempts();
        let done = matches!(task.status, Status::Settled { outcome: Outcome::Done { .. }, .. });
        self.attempts.insert(words.clone(), (attempts.len(), done));
        self.retried += usize::from(attempts.len() > 1);
        let said = |attempt| {
            let text = texts.get(&StreamId { task: task.id, attempt }).copied().unwrap_or_default();
            Transcript::read(text).text()
        };
        let due: String = (1..=*numbers).map(|number| format!("{number} ")).collect();
        for (attempt, _) in &attempts {
            if !due.starts_with(&said(*attempt)) {
                self.faults.double.push(format!("{words}: attempt {attempt} says {:?}", said(*attempt)));
            }
        }
        match &task.status {
            Status::Settled { outcome: Outcome::Done { .. }, attempt, .. } => {
                self.done += 1;
                let answer = attempt.map(said).unwrap_or_default();
                if answer != due {
                    self.faults.lost.push(format!("{words}: the whole answer is {answer:?}"));
                }
            }
            Status::Settled { outcome: Outcome::Lost, .. } => {
                self.given_up += 1;
                if attempts.len() < task.attempts_max as usize {
                    self.faults.lost.push(format!("{words}: given up after {} attempts", attempts.len()));
                }
            }
            // Only BooCode and its Postgres are killed: no model or model server is to blame for anything.
            Status::Settled {
                outcome: outcome @ (Outcome::Failed { .. } | Outcome::Void { .. }), ..
            } => {
                self.faults.failed.push(format!("{words}: {outcome:?}"));
            }
            status => self.faults.lost.push(format!("{words}: {status:?}")),
        }
    }

    /// Nothing may have been put to a model more often than there are attempts to show for it, and an answer
    /// comes from a request that was answered to its end.
    pub fn compare(&mut self, records: &[Record]) {
        let mut requests: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
        for record in records.iter().filter(|record| record.system.is_empty()) {
            let (count, whole) = requests.entry(&record.last_user_message).or_default();
            *count += 1;
            *whole |= !record.disconnected;
            if record.finished_unix_ms.is_none() {
                self.faults.double.push(format!("still being answered: {}", record.last_user_message));
            }
        }
        for (question, (count, whole)) in requests {
            let (attempts, done) = self.attempts.get(question).copied().unwrap_or_default();
            if count > attempts {
                self.faults.double.push(format!("{question}: {count} requests for {attempts} attempts"));
            }
            if done && !whole {
                self.faults.lost.push(format!("{question}: done, but no request was answered to its end"));
            }
        }
    }

    /// Of what was always given up nothing is known.
    pub fn look_back(&mut self) {
        let Self { asked, done, .. } = self;
        if *done == 0 || *done * 2 < *asked {
            self.faults.lost.push(format!("only {done} of {asked} questions were answered"));
        }
    }

    pub fn summary(&self) -> String {
        let Self { asked, done, given_up, retried, faults, .. } = self;
        let counted = faults.counted();
        format!(
            "{asked} asked · {done} answered, {retried} of all in more than one attempt, {given_up} given up, {counted}"
        )
    }
}

#[cfg(test)]
mod tests;

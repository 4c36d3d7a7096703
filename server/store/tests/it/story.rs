//! Stories: whatever may happen to chats, drawn with a seed, so that the same seed tells the same story.

use std::sync::atomic::{AtomicUsize, Ordering};

use domain::{
    attachment::{Attachment, Enclosed, LeftOut, Media},
    chat::{Chat, Input},
    feed::StreamId,
    id::{AttachmentId, Attempt, ChatId, MessageId, TaskId},
    output::{Outcome, Phase},
    task::Status,
};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use store::{
    commit::{self, Ended},
    slots, streams, tasks,
};
use uuid::Uuid;

use super::scene::{HERE, LEASE, Scene, attempt, choice, done, reachable, turn, unless_refused};

pub struct Story<'a> {
    scene: &'a Scene,
    dice: StdRng,
    by: Uuid,
    /// How many steps changed something; a story of refusals would prove nothing.
    pub changes: &'a AtomicUsize,
}

impl<'a> Story<'a> {
    pub fn new(scene: &'a Scene, seed: u64, changes: &'a AtomicUsize) -> Self {
        Self { scene, dice: StdRng::seed_from_u64(seed), by: Uuid::now_v7(), changes }
    }

    /// One thing that a person, a server or a successor does. `chat` is what whoever does it last saw, which
    /// may be out of date.
    pub async fn step(&mut self, chat: &Chat) {
        let db = &self.scene.db;
        let changed = match self.dice.random_range(0..20) {
            0..10 => {
                let input = self.input(chat);
                unless_refused(commit::chat(db, chat.id, input).await).is_some()
            }
            10..13 => {
                let (reachable, at) = (reachable(&["local", "cloud"]), self.scene.now());
                tasks::claim(db, self.by, HERE, &reachable, LEASE, LEASE, at).await.unwrap().is_some()
            }
            13..17 => match self.attempt(chat) {
                Some(stream) => self.report(stream).await,
                None => false,
            },
            17 => match self.attempt(chat) {
                Some(stream) => self.output(stream).await,
                None => false,
            },
            18 => match self.attempt(chat) {
                Some(stream) => {
                    let phases = [Phase::Loading, Phase::Waiting { seconds: 3 }, Phase::Generating];
                    let phase = phases.choose(&mut self.dice).unwrap().clone();
                    unless_refused(commit::phase(db, stream, phase, 5).await).is_some()
                }
                None => false,
            },
            _ => {
                self.housekeeping().await;
                false
            }
        };
        self.changes.fetch_add(usize::from(changed), Ordering::Relaxed);
    }

    fn input(&mut self, chat: &Chat) -> Input {
        let (at_ms, turn) = (self.scene.now(), turn());
        let choice = choice(if self.dice.random() { "local" } else { "cloud" });
        let text = format!("Question {at_ms}, schön?");
        let enclosed = self.enclosed();
        let queued = chat.queue.choose(&mut self.dice).map_or(turn.message, |queued| queued.turn.message);
        match self.dice.random_range(0..15) {
            0..4 => Input::Ask { turn, text, choice, enclosed, at_ms },
            4 => Input::Resend { of: self.message(chat), turn, text, choice, enclosed, at_ms },
            5..7 => {
                Input::Retry { of: self.message(chat), reply: turn.reply, task: turn.task, choice, at_ms }
            }
            7..9 => Input::Switch { to: self.message(chat) },
            9 => {
                let Enclosed { mentioned, left_out, .. } = enclosed;
                Input::EditQueued { message: queued, text, mentioned, left_out }
            }
            10 => Input::Unqueue { message: queued },
            11 => Input::SendQueued { at_ms },
            12 => Input::SendNow { message: queued, at_ms },
            13 => Input::Stop,
            _ => Input::Rename { title: if self.dice.random() { text } else { " ".into() } },
        }
    }

    /// Sometimes files, as far as a chat knows of them.
    fn enclosed(&mut self) -> Enclosed {
        if self.dice.random_ratio(2, 3) {
            return Enclosed::default();
        }
        let mut file = |is_mention| Attachment {
            id: AttachmentId(Uuid::from_u128(self.dice.random())),
            name: "schön.txt".into(),
            media: Media::Text,
            bytes: 1,
            is_mention,
        };
        let left_out = LeftOut { name: "big".into(), reason: "It is too large.".into() };
        Enclosed { attached: vec![file(false)], mentioned: vec![file(true)], left_out: vec![left_out] }
    }

    fn message(&mut self, chat: &Chat) -> MessageId {
        chat.messages.choose(&mut self.dice).map_or(MessageId(Uuid::now_v7()), |message| message.id)
    }

    /// Mostly the attempt that runs, sometimes one that does not.
    fn attempt(&mut self, chat: &Chat) -> Option<StreamId> {
        let running = |task: &domain::task::Task| match task.status {
            Status::Running { attempt, .. } => Some(StreamId { task: task.id, attempt }),
            _ => None,
        };
        let running = chat.tasks.values().filter_map(running).collect::<Vec<_>>();
        let stream = running.choose(&mut self.dice).copied();
        if self.dice.random_ratio(1, 6) {
            let tasks: Vec<TaskId> = chat.tasks.keys().copied().collect();
            let task = tasks.choose(&mut self.dice).copied()?;
            return Some(attempt(StreamId { task, attempt: Attempt(1) }, self.dice.random_range(0..4)));
        }
        stream
    }

    async fn report(&mut self, StreamId { task, attempt }: StreamId) -> bool {
        let outcome = match self.dice.random_range(0..8) {
            0..4 => done(),
            4 => Outcome::Failed { reason: "no".into() },
            5 => Outcome::Void { reason: "down".into() },
            6 => Outcome::Lost,
            _ => Outcome::Cancelled,
        };
        let (at_ms, title) = (self.scene.now(), Some(choice("cloud")));
        let said = Some(format!("Title {at_ms}"));
        let ended = Ended { task, attempt, outcome, said, title, at_ms };
        unless_refused(commit::report(&self.scene.db, ended).await).is_some()
    }

    async fn output(&mut self, stream: StreamId) -> bool {
        let Some(extent) = streams::extent(&self.scene.db, stream).await.unwrap() else { return false };
        streams::append(&self.scene.db, stream, extent.len, "schöner Text ").await.unwrap()
    }

    async fn housekeeping(&mut self) {
        let db = &self.scene.db;
        tasks::renew(db, self.by, &self.scene.running().await, LEASE).await.unwrap();
        tasks::expired(db).await.unwrap();
        for stream in streams::unfolded(db).await.unwrap() {
            streams::fold(db, stream).await.unwrap();
        }
        let limits = [("cloud".into(), self.dice.random_range(1..5)), ("local".into(), 1)];
        slots::provide(db, &limits).await.unwrap();
    }
}

/// The chat in `chats` that the dice choose.
pub fn any(chats: &[ChatId], dice: &mut StdRng) -> ChatId {
    *chats.choose(dice).unwrap()
}

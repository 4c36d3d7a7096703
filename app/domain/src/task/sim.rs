//! Servers that crash, lose, repeat and delay, around many chats on one local and one cloud server. What must
//! hold whatever happens: see `World::check`.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::{
    chat::{Chat, Choice, Input as Ask, NewTurn, Report},
    id::{MessageId, SessionId},
    sim::{Dice, for_each_seed},
    slot::rank,
};

const LOCAL: &str = "local";
const CLOUD: &str = "cloud";
const CLOUD_LIMIT: usize = 2;
const LEASE: i64 = 10;
const SERVERS: usize = 2;

/// What a server process believes it is running. It may be wrong: its lease can be gone.
#[derive(Clone)]
struct Work {
    server: usize,
    task: TaskId,
    chat: ChatId,
    attempt: Attempt,
}

/// A report on its way; networks repeat and delay.
struct Letter {
    chat: ChatId,
    report: Report,
}

struct World {
    dice: Dice,
    now: i64,
    ids: u128,
    chats: BTreeMap<ChatId, Chat>,
    log: Vec<Event>,
    leases: BTreeMap<TaskId, (usize, i64)>,
    running: Vec<Work>,
    letters: Vec<Letter>,
    asked: usize,
    executions: BTreeMap<TaskId, BTreeSet<Attempt>>,
}

#[test]
fn nothing_breaks_the_machine() {
    for_each_seed(10_000, |seed| World::new(seed).live());
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            dice: Dice::new(seed),
            now: 0,
            ids: 1,
            chats: BTreeMap::new(),
            log: Vec::new(),
            leases: BTreeMap::new(),
            running: Vec::new(),
            letters: Vec::new(),
            asked: 0,
            executions: BTreeMap::new(),
        };
        for _ in 0..3 {
            let (id, session) = (ChatId(world.id()), SessionId(world.id()));
            world.chats.insert(id, Chat::new(id, session, "New chat".into()));
        }
        world
    }

    fn live(&mut self) {
        for _ in 0..60 {
            self.now += 1;
            match self.dice.roll(13) {
                0 | 1 => self.ask(),
                2..=4 => self.claim(),
                5 | 6 => self.finish(),
                7 => self.deliver(),
                8 => self.stop(),
                9 => self.crash(),
                10 => self.reap(),
                11 => self.send_now(),
                _ => self.send_queued(),
            }
            self.check();
        }
        // The weather clears: everything that was asked for comes to an end.
        for _ in 0..400 {
            if self.is_over() {
                break;
            }
            self.now += 1;
            self.reap();
            self.claim();
            self.finish();
            self.deliver();
            self.send_queued();
            self.check();
        }
        self.check_over();
    }

    fn id(&mut self) -> uuid::Uuid {
        self.ids += 1;
        uuid::Uuid::from_u128(self.ids)
    }

    fn pick_chat(&mut self) -> ChatId {
        let nth = self.dice.roll(self.chats.len());
        self.chats.keys().nth(nth).copied().unwrap()
    }

    fn commit(&mut self, chat: ChatId, events: Vec<Event>) {
        for event in events {
            if let Event::TaskSettled { task, .. } | Event::TaskRequeued { task, .. } = &event {
                self.leases.remove(task);
            }
            let chat = self.chats.get_mut(&chat).unwrap();
            if let (Some(chosen), Event::MessageAdded { message, .. }) = (chat.chosen, &event) {
                assert_eq!(message.id, chosen, "another message went before the one that is sent now");
            }
            chat.apply(&event);
            self.log.push(event);
        }
    }

    fn ask(&mut self) {
        let chat = self.pick_chat();
        let turn =
            NewTurn { message: MessageId(self.id()), reply: MessageId(self.id()), task: TaskId(self.id()) };
        let server = if self.dice.chance(60) { LOCAL } else { CLOUD };
        let model = ModelRef { server: server.into(), model: "m".into() };
        let choice = Choice { model, paid: server == CLOUD, persona: None, coder: None, machine: None };
        let input =
            Ask::Ask { turn, text: "why".into(), choice, enclosed: Default::default(), at_ms: self.now };
        if let Ok(events) = self.chats[&chat].decide(input) {
            self.asked += 1;
            self.commit(chat, events);
        }
    }

    fn send_queued(&mut self) {
        let chat = self.pick_chat();
        if let Ok(events) = self.chats[&chat].decide(Ask::SendQueued { at_ms: self.now }) {
            self.commit(chat, events);
        }
    }

    fn send_now(&mut self) {
        let chat = self.pick_chat();
        let waiting = self.chats[&chat].queue.len();
        if waiting == 0 {
            return;
        }
        let message = self.chats[&chat].queue[self.dice.roll(waiting)].turn.message;
        let events = self.chats[&chat].decide(Ask::SendNow { message, at_ms: self.now }).unwrap();
        self.commit(chat, events);
    }

    fn stop(&mut self) {
        let chat = self.pick_chat();
        if let Ok(events) = self.chats[&chat].decide(Ask::Stop) {
            self.commit(chat, events);
        }
    }

    /// What the claim statement does, but for ageing: the queued task of the lowest rank whose server has a free place.
    fn claim(&mut self) {
        let queued = |task: &&Task| matches!(task.status, Status::Queued);
        let tasks = self.chats.values().flat_map(|chat| chat.tasks.values()).filter(queued);
        let free = |task: &&Task| self.in_use(&task.model.server) < limit(&task.model.server);
        let next = tasks.filter(free).min_by_key(|task| (rank(task.priority(), task.queued_at_ms), task.id));
        let Some(task) = next.cloned() else { return };
        let server = self.dice.roll(SERVERS);
        let events = task.decide(Input::Claim { at_ms: self.now }).unwrap();
        let Owner::Chat(chat) = task.owner else { panic!("a task of no chat") };
        self.commit(chat, events);
        self.leases.insert(task.id, (server, self.now + LEASE));
        let attempt = task.next_attempt();
        assert!(self.executions.entry(task.id).or_default().insert(attempt), "an attempt started twice");
        self.running.push(Work { server, task: task.id, chat, attempt });
    }

    fn in_use(&self, server: &str) -> usize {
        let running =
            |task: &&Task| matches!(task.status, Status::Running { .. }) && task.model.server == server;
        self.chats.values().flat_map(|chat| chat.tasks.values()).filter(running).count()
    }

    /// A server ends one piece of work and sends its report, perhaps twice.
    fn finish(&mut self) {
        if self.running.is_empty() {
            return;
        }
        let nth = self.dice.roll(self.running.len());
        let work = self.running.remove(nth);
        let cancelling = matches!(
            self.chats[&work.chat].tasks[&work.task].status,
            Status::Running { cancelling: true, .. }
        );
        let outcome = match self.dice.roll(10) {
            _ if cancelling => Outcome::Cancelled,
            0 => Outcome::Failed { reason: "no".into() },
            1 => Outcome::Void { reason: "down".into() },
            _ => Outcome::Done { measured: Default::default() },
        };
        let copies = 1 + usize::from(self.dice.chance(25));
        for _ in 0..copies {
            self.post(&work, outcome.clone());
        }
    }

    fn post(&mut self, work: &Work, outcome: Outcome) {
        let model = ModelRef { server: LOCAL.into(), model: "m".into() };
        let choice = Choice { model, paid: false, persona: None, coder: None, machine: None };
        let title = Some((TaskId(self.id()), choice));
        let (task, attempt, at_ms) = (work.task, work.attempt, self.now);
        let report = Report { task, attempt, outcome, stream_len: 5, said: None, title, at_ms };
        self.letters.push(Letter { chat: work.chat, report });
    }

    /// Letters arrive in any order, and some never do.
    fn deliver(&mut self) {
        if self.letters.is_empty() {
            return;
        }
        let nth = self.dice.roll(self.letters.len());
        let letter = self.letters.remove(nth);
        if self.dice.chance(10) {
            return;
        }
        let before = self.chats[&letter.chat].clone();
        let task = &before.tasks[&letter.report.task];
        let current =
            matches!(task.status, Status::Running { attempt, .. } if attempt == letter.report.attempt);
        match before.decide(Ask::Report(letter.report)) {
            Ok(events) => {
                assert!(current, "a stale report was accepted");
                self.commit(letter.chat, events);
            }
            Err(no) => assert!(!current && no == Rejected::Stale, "a current report was refused: {no}"),
        }
    }

    /// A server dies: what it ran is never heard of again.
    fn crash(&mut self) {
        let dead = self.dice.roll(SERVERS);
        self.running.retain(|work| work.server != dead);
    }

    /// Leases of the living are renewed; what nobody renews is reported lost. Sometimes a living server is
    /// merely slow, and its lease runs out under it.
    fn reap(&mut self) {
        let slow = self.dice.chance(10);
        for work in self.running.iter().filter(|_| !slow) {
            let current = self.chats[&work.chat].tasks[&work.task].attempts().last().map(|last| last.0);
            if let Some(lease) = self.leases.get_mut(&work.task).filter(|_| current == Some(work.attempt)) {
                lease.1 = self.now + LEASE;
            }
        }
        let expired: Vec<_> =
            self.leases.iter().filter(|(_, lease)| lease.1 < self.now).map(|(task, _)| *task).collect();
        for task in expired {
            let owner = self.chats.values().find(|chat| chat.tasks.contains_key(&task)).unwrap();
            let (chat, Status::Running { attempt, .. }) = (owner.id, &owner.tasks[&task].status) else {
                panic!("a lease without a running task")
            };
            let report = Report {
                task,
                attempt: *attempt,
                outcome: Outcome::Lost,
                stream_len: 2,
                said: None,
                title: None,
                at_ms: self.now,
            };
            let events = owner.decide(Ask::Report(report)).unwrap();
            self.commit(chat, events);
        }
    }

    fn check(&self) {
        assert!(self.in_use(LOCAL) <= 1, "two tasks on the local server");
        assert!(self.in_use(CLOUD) <= CLOUD_LIMIT, "too many tasks on the cloud server");
        for chat in self.chats.values() {
            let turns = chat.tasks.values().filter(|task| task.work == super::Work::ChatTurn);
            assert!(turns.filter(|task| !task.is_settled()).count() <= 1, "two turns at once in a chat");
            if let Some(chosen) = chat.chosen {
                assert!(chat.queue.iter().any(|queued| queued.turn.message == chosen), "chosen, not queued");
                let turn = chat.active_turn().map(|turn| &turn.status);
                let stopping = matches!(turn, Some(Status::Running { cancelling: true, .. }));
                assert!(stopping, "a chosen message waits for nothing");
            }
            for task in chat.tasks.values() {
                let tried = task.attempts().last().map_or(0, |last| last.0.0);
                assert!(tried <= task.attempts_max, "more attempts than allowed");
                let running = matches!(task.status, Status::Running { .. });
                assert_eq!(running, self.leases.contains_key(&task.id), "running means leased");
            }
        }
    }

    fn is_over(&self) -> bool {
        let over = |chat: &Chat| chat.queue.is_empty() && chat.tasks.values().all(Task::is_settled);
        self.chats.values().all(over)
    }

    fn check_over(&self) {
        assert!(self.is_over(), "work or a queued message was left behind");
        for chat in self.chats.values() {
            let mut replayed = Chat::new(chat.id, chat.session, "New chat".into());
            self.log.iter().for_each(|event| replayed.apply(event));
            assert_eq!(&replayed, chat, "replay equals state");
        }
        let answered: usize = self.chats.values().map(|chat| chat.messages.len() / 2).sum();
        assert_eq!(answered, self.asked, "each question has exactly one turn");
    }
}

fn limit(server: &str) -> usize {
    if server == LOCAL { 1 } else { CLOUD_LIMIT }
}

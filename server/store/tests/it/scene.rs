//! What the tests share: a database with a session in it, and short words for what happens there.

use std::{
    fmt::Debug,
    future::Future,
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use domain::{
    Rejected,
    catalogue::ModelRef,
    chat::{Chat, Choice, Input, Kind, NewTurn},
    feed::{Envelope, StreamId},
    id::{Attempt, ChatId, MessageId, SessionId, TaskId},
    output::Outcome,
    page::Wanted,
    task::{Status, Task},
};
use sqlx::{AssertSqlSafe, PgPool};
use store::{
    Db, Error,
    commit::{self, Committed, Ended},
    feed, slots, snapshot,
    tasks::{self, Reachable, Site},
    workspace,
};
use uuid::Uuid;

/// Longer than anything here takes; shorter than a lease that a test wants to run out.
pub const LEASE: Duration = Duration::from_secs(60);
/// No test waits longer than this for anything.
const WAIT_MAX: Duration = Duration::from_secs(30);

pub const HERE: Site = Site { host: "here", machine: "box" };

pub struct Scene {
    pub db: Db,
    /// For what the store has no words for.
    pub pool: PgPool,
    pub session: SessionId,
    clock: AtomicI64,
}

impl Scene {
    /// Every attempt that runs, whoever claimed it.
    pub async fn running(&self) -> Vec<StreamId> {
        let rows: Vec<(Uuid, i32)> =
            sqlx::query_as("select id, attempt from tasks where status = 'running' order by id")
                .fetch_all(&self.pool)
                .await
                .unwrap();
        let stream = |(task, attempt)| StreamId { task: TaskId(task), attempt: Attempt(attempt as u32) };
        rows.into_iter().map(stream).collect()
    }

    /// One session; places for one task at `local` and for four at `cloud`.
    pub async fn new(pool: PgPool) -> Self {
        Self::with(Db::from(pool.clone()), pool).await
    }

    /// With as many connections as a server has, so that what a test does at once really is at once.
    pub async fn wide(pool: PgPool) -> Self {
        Self::with(Db::attach((*pool.connect_options()).clone()).await.unwrap(), pool).await
    }

    async fn with(db: Db, pool: PgPool) -> Self {
        let (_, session) = workspace::add_project(&db, "Project", "/project").await.unwrap();
        slots::provide(&db, &[("local".into(), 1), ("cloud".into(), 4)]).await.unwrap();
        Self { db, pool, session: session.id, clock: AtomicI64::new(0) }
    }

    /// A time later than every one before.
    pub fn now(&self) -> i64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    pub async fn chat(&self) -> ChatId {
        workspace::add_chat(&self.db, self.session, Kind::Chat).await.unwrap().id
    }

    pub async fn load(&self, chat: ChatId) -> Chat {
        snapshot::page(&self.db, Wanted::Chat(chat), &[]).await.unwrap().state.chat(chat).unwrap().clone()
    }

    pub async fn task(&self, chat: ChatId, task: TaskId) -> Task {
        self.load(chat).await.tasks[&task].clone()
    }

    /// Asks in an idle chat; gives the task.
    pub async fn ask(&self, chat: ChatId, server: &str) -> TaskId {
        let turn = turn();
        commit::chat(&self.db, chat, ask(turn, server, self.now())).await.unwrap();
        turn.task
    }

    /// Asks in a chat of its own.
    pub async fn ask_anew(&self, server: &str) -> (ChatId, TaskId) {
        let chat = self.chat().await;
        (chat, self.ask(chat, server).await)
    }

    pub async fn claim(&self, by: Uuid) -> Option<Task> {
        self.claim_at(by, &["local", "cloud"]).await
    }

    pub async fn claim_at(&self, by: Uuid, servers: &[&str]) -> Option<Task> {
        let reachable = reachable(servers);
        tasks::claim(&self.db, by, HERE, &reachable, LEASE, LEASE, self.now()).await.unwrap()
    }

    /// Asks and claims; gives the stream of the attempt.
    pub async fn start(&self, server: &str) -> (ChatId, StreamId) {
        let (chat, task) = self.ask_anew(server).await;
        let claimed = self.claim_at(Uuid::now_v7(), &[server]).await.expect("a free place");
        assert_eq!(claimed.id, task);
        (chat, stream_of(&claimed))
    }

    pub async fn report(&self, of: StreamId, outcome: Outcome) -> store::Result<Committed> {
        commit::report(&self.db, ended(of, outcome, self.now())).await
    }

    /// All rows of all tables.
    pub async fn dump(&self) -> Vec<(String, serde_json::Value)> {
        let tables: Vec<String> = sqlx::query_scalar(
            "select table_name::text from information_schema.tables where table_schema = 'public' order by 1",
        )
        .fetch_all(&self.pool)
        .await
        .unwrap();
        let mut dump = Vec::new();
        for table in tables {
            let sql = format!(
                "select coalesce(jsonb_agg(to_jsonb(line) order by line::text), '[]') from {table} line"
            );
            let rows = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&self.pool).await.unwrap();
            dump.push((table, rows));
        }
        dump
    }

    /// What must hold whenever nothing is under way.
    pub async fn assert_consistent(&self) {
        let broken = [
            (
                "a place is held by exactly what runs",
                "select count(*) from tasks left join slots on slots.task_id = tasks.id
                 where (status = 'running') <> (slots.task_id is not null)",
            ),
            (
                "a stream is open exactly while its attempt runs",
                "select count(*) from streams join tasks on id = task_id
                 where ended = (status = 'running' and streams.attempt = tasks.attempt)",
            ),
            (
                "a chat works on one turn at a time",
                "select count(*) from (select from tasks where work = 'chat_turn' and status <> 'settled'
                 group by chat_id having count(*) > 1) busy",
            ),
            (
                "a stream is as long as what it holds",
                "select count(*) from streams where len <> coalesce(length(body), (
                     select sum(length(body)) from stream_chunks chunk
                     where chunk.task_id = streams.task_id and chunk.attempt = streams.attempt), 0)",
            ),
            (
                "whatever was said is found, and nothing else",
                "select count(*) from messages left join tasks on tasks.id = task_id
                 full join search_entries entry on entry.id = messages.id
                 where (entry.id is not null) <> coalesce(messages.body is not null or status = 'settled', false)
                   and not exists (select from chats where chats.id = entry.id)",
            ),
            (
                "a chat is found by the title that it has",
                "select count(*) from chats left join search_entries entry on entry.id = chats.id
                 where (titled_by is not null) <> (entry.id is not null) or title <> entry.body",
            ),
        ];
        for (what, sql) in broken {
            let count: i64 = sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap();
            assert_eq!(count, 0, "broken: {what}");
        }
    }

    /// The whole feed.
    pub async fn events(&self) -> Vec<Envelope> {
        feed::read_after(&self.db, 0, i64::MAX).await.unwrap().expect("nothing is trimmed")
    }
}

pub fn turn() -> NewTurn {
    NewTurn {
        message: MessageId(Uuid::now_v7()),
        reply: MessageId(Uuid::now_v7()),
        task: TaskId(Uuid::now_v7()),
    }
}

pub fn model(server: &str) -> ModelRef {
    ModelRef { server: server.into(), model: "small".into() }
}

pub fn choice(server: &str) -> Choice {
    Choice { model: model(server), paid: server == "cloud", persona: None, coder: None, machine: None }
}

pub fn ask(turn: NewTurn, server: &str, at_ms: i64) -> Input {
    Input::Ask { turn, text: "Why?".into(), choice: choice(server), enclosed: Default::default(), at_ms }
}

pub fn ended(of: StreamId, outcome: Outcome, at_ms: i64) -> Ended {
    Ended { task: of.task, attempt: of.attempt, outcome, said: None, title: None, at_ms }
}

pub fn done() -> Outcome {
    Outcome::Done { measured: Default::default() }
}

/// Each server's places go by its name.
pub fn reachable(servers: &[&str]) -> Vec<Reachable> {
    let at = |server: &&str| Reachable { server: server.to_string(), slot_key: server.to_string() };
    servers.iter().map(at).collect()
}

pub fn stream_of(task: &Task) -> StreamId {
    match task.status {
        Status::Running { attempt, .. } => StreamId { task: task.id, attempt },
        ref other => panic!("not running but {other:?}"),
    }
}

pub fn attempt(of: StreamId, number: u32) -> StreamId {
    StreamId { attempt: Attempt(number), ..of }
}

/// The refusal in `result`; anything else is the test's failure.
pub fn rejected<T: Debug>(result: store::Result<T>) -> Rejected {
    match result {
        Err(Error::Rejected(rejected)) => rejected,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

/// Refusals are part of racing; nothing else that goes wrong is.
pub fn unless_refused<T>(result: store::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Rejected(_)) => None,
        Err(error) => panic!("{error:?}"),
    }
}

pub async fn within_limit<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(WAIT_MAX, what).await.expect("it takes too long")
}

/// Runs all at once and gives what each gave, in order.
pub async fn all_at_once<T: Send + 'static>(
    each: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let running: Vec<_> = each.into_iter().map(tokio::spawn).collect();
    let mut gave = Vec::new();
    for one in running {
        gave.push(within_limit(one).await.unwrap());
    }
    gave
}

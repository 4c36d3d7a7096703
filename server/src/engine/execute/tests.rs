//! Timing, batching and stopping, on a paused clock and without a database.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use domain::{
    id::{Attempt, TaskId},
    output::Phase,
    tool,
    transcript::Transcript,
};
use futures::future::FutureExt as _;
use tokio::time::{Instant, advance};

use super::*;
use crate::live::{Live, guard};

const LIMIT: Duration = Duration::from_secs(60);

/// What the backend does, one step after the other.
enum Step {
    Enter(Phase),
    Say(&'static str),
    Think(&'static str),
    SayMuch(usize),
    Wait(u64),
    Fail,
    FailWith(&'static str),
    Plan(&'static str),
    /// Neither ends nor listens.
    Ignore,
}

/// `keeping` is how long it takes to keep what it made, and whether that works.
struct Scripted<'m> {
    steps: Vec<Step>,
    keeping: (Duration, bool),
    working: &'m AtomicUsize,
}

impl Backend for Scripted<'_> {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        _: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async move {
            let _working = Working::new(self.working);
            for step in &self.steps {
                match step {
                    Step::Enter(phase) => outputs.send(Output::Phase(phase.clone())).await.unwrap(),
                    Step::Say(text) => outputs.send(Output::Text((*text).into())).await.unwrap(),
                    Step::Think(text) => outputs.send(Output::Reasoning((*text).into())).await.unwrap(),
                    Step::SayMuch(bytes) => outputs.send(Output::Text("x".repeat(*bytes))).await.unwrap(),
                    Step::Wait(ms) => sleep(Duration::from_millis(*ms)).await,
                    Step::Fail => return Err(backend::Error::Unreachable { server: "there".into() }),
                    Step::FailWith(words) => return Err(backend::Error::Agent { words: (*words).into() }),
                    Step::Plan(text) => {
                        let item = tool::Item { text: (*text).into(), status: tool::ItemStatus::Pending };
                        outputs.send(Output::Plan(tool::Plan(vec![item]))).await.unwrap();
                    }
                    Step::Ignore => std::future::pending().await,
                }
            }
            Ok(Measured::default())
        }
        .boxed()
    }

    fn keep(&self) -> BoxFuture<'_, Result<(), backend::Error>> {
        async {
            sleep(self.keeping.0).await;
            if self.keeping.1 { Ok(()) } else { Err(backend::Error::Unprepared("the disk is full".into())) }
        }
        .boxed()
    }
}

/// Remembers what was written, and when.
#[derive(Default)]
struct Memory {
    began: Option<Instant>,
    appended: Mutex<Vec<(u64, u128, String)>>,
    reports: Mutex<Vec<Outcome>>,
    said: Mutex<Option<String>>,
    append_takes: Duration,
    fenced: bool,
    append_failures: Mutex<u32>,
    /// Whether that is for good.
    refuses: bool,
    report_failures: Mutex<u32>,
    /// How many reports there were when what ran was ended.
    ended: Mutex<Vec<usize>>,
    /// How many backends are at work.
    working: AtomicUsize,
}

struct Working<'a>(&'a AtomicUsize);

impl<'a> Working<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Processes for Memory {
    fn end(&self, _: StreamId) -> BoxFuture<'_, ()> {
        async {
            assert_eq!(self.working.load(Ordering::Relaxed), 0, "what is given up could start more");
            guard(&self.ended).push(guard(&self.reports).len());
        }
        .boxed()
    }
}

impl Ledger for Memory {
    fn append(&self, _: StreamId, start: u64, text: String) -> BoxFuture<'_, store::Result<bool>> {
        async move {
            sleep(self.append_takes).await;
            let mut failures = guard(&self.append_failures);
            if *failures > 0 {
                *failures -= 1;
                return Err(match self.refuses {
                    true => store::Error::Unknown("no such table".into()),
                    false => store::Error::Sql(sqlx::Error::PoolTimedOut),
                });
            }
            drop(failures);
            let at = self.began.unwrap().elapsed().as_millis();
            guard(&self.appended).push((start, at, text));
            Ok(!self.fenced)
        }
        .boxed()
    }

    fn phase(&self, _: StreamId, _: Phase) -> BoxFuture<'_, store::Result<()>> {
        async { Ok(()) }.boxed()
    }

    fn used(&self, _: StreamId, _: u64) -> BoxFuture<'_, store::Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn report(&self, report: Report) -> BoxFuture<'_, store::Result<()>> {
        async move {
            let mut failures = guard(&self.report_failures);
            if *failures > 0 {
                *failures -= 1;
                return Err(store::Error::Sql(sqlx::Error::PoolTimedOut));
            }
            guard(&self.reports).push(report.outcome);
            *guard(&self.said) = report.said;
            Ok(())
        }
        .boxed()
    }
}

impl Memory {
    fn new() -> Self {
        Self { began: Some(Instant::now()), ..Self::default() }
    }

    async fn run(&self, stop: &Stop, steps: Vec<Step>) {
        self.run_and_keep(stop, steps, (Duration::ZERO, true)).await;
    }

    async fn run_and_keep(&self, stop: &Stop, steps: Vec<Step>, keeping: (Duration, bool)) {
        let stream = StreamId { task: TaskId(uuid::Uuid::nil()), attempt: Attempt(1) };
        let live = Live::default().stream(stream);
        let execution = Execution {
            stream,
            limit: LIMIT,
            live,
            ledger: self,
            processes: self,
            clock: &Clock::default(),
            tally: &Tally::default(),
            stop,
            secrets: super::super::redact::secrets(["hunter2hunter2".to_owned()]),
            title: None,
        };
        execution.run(&Scripted { steps, keeping, working: &self.working }).await;
    }

    fn text(&self) -> String {
        let appended = guard(&self.appended);
        let mut stream = String::new();
        for (start, _, text) in appended.iter() {
            assert_eq!(*start, stream.len() as u64, "a batch starts where the one before it ended");
            stream.push_str(text);
        }
        Transcript::read(&stream).text()
    }

    fn outcomes(&self) -> Vec<Outcome> {
        guard(&self.reports).clone()
    }
}

fn done() -> Outcome {
    Outcome::Done { measured: Measured::default() }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_is_written_before_the_report() {
    let memory = Memory::new();
    memory.run(&Stop::default(), vec![Step::Say("hello "), Step::Wait(250), Step::Say("world")]).await;
    assert_eq!((memory.text().as_str(), memory.outcomes()), ("hello world", vec![done()]));
}

#[tokio::test(start_paused = true)]
async fn a_batch_waits_at_most_a_twentieth_of_a_second() {
    let memory = Memory::new();
    let steps = (0..50).flat_map(|_| [Step::Say("tick "), Step::Wait(10)]).collect();
    memory.run(&Stop::default(), steps).await;
    let times: Vec<u128> = guard(&memory.appended).iter().map(|(_, at, _)| *at).collect();
    assert!((10..=11).contains(&times.len()), "half a second in batches of 50 ms: {times:?}");
    assert_eq!(times[0], 50);
}

#[tokio::test(start_paused = true)]
async fn a_long_batch_does_not_wait() {
    let memory = Memory::new();
    memory.run(&Stop::default(), vec![Step::SayMuch(5_000), Step::Wait(50)]).await;
    assert_eq!(guard(&memory.appended)[0].1, 0);
}

#[tokio::test(start_paused = true)]
async fn a_slow_database_holds_the_model_back_and_loses_nothing() {
    let memory = Memory { append_takes: Duration::from_secs(1), ..Memory::new() };
    let steps = (0..2_000).map(|_| Step::SayMuch(4_096)).collect();
    memory.run(&Stop::default(), steps).await;
    assert_eq!((memory.text().len(), memory.outcomes()), (2_000 * 4_096, vec![done()]));
    let largest = guard(&memory.appended).iter().map(|(_, _, text)| text.len()).max().unwrap();
    assert!(largest <= 1024 * 1024 + 4_096 + 16, "unwritten text is bounded, this was {largest}");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_even_a_backend_that_does_not_listen() {
    let memory = Memory::new();
    memory.run(&Stop::default(), vec![Step::Say("so far"), Step::Ignore]).await;
    assert_eq!(memory.text(), "so far");
    assert!(
        matches!(&memory.outcomes()[..], [Outcome::Failed { reason }] if reason == "It was not done within 1 minute.")
    );
    assert!(memory.began.unwrap().elapsed() <= LIMIT + STOP_WAIT_MAX + Duration::from_secs(1));
    assert_eq!(*guard(&memory.ended), [0], "what it left running is gone before anybody hears of it");
}

/// A folder that takes long to make, or a model to load, is nobody's failure.
#[tokio::test(start_paused = true)]
async fn what_comes_before_the_work_is_not_charged() {
    let check = async |steps: Vec<Step>, expected: &str| {
        let memory = Memory::new();
        memory.run(&Stop::default(), steps).await;
        let told = match &memory.outcomes()[..] {
            [Outcome::Done { .. }] => "done".to_owned(),
            [Outcome::Failed { reason }] => format!("failed: {reason}"),
            [Outcome::Void { reason }] => format!("void: {reason}"),
            other => panic!("{other:?}"),
        };
        assert_eq!(told, expected);
    };
    let ten_times = 10 * LIMIT.as_millis() as u64;
    let made_ready =
        || vec![Step::Enter(Phase::Preparing), Step::Wait(ten_times), Step::Enter(Phase::Starting)];
    let with = |more: Vec<Step>| made_ready().into_iter().chain(more).collect::<Vec<_>>();
    check(with(vec![Step::Enter(Phase::Loading), Step::Wait(ten_times), Step::Say("It is there.")]), "done")
        .await;
    check(
        with(vec![Step::Enter(Phase::Generating), Step::Ignore]),
        "failed: It was not done within 1 minute.",
    )
    .await;
    let never = "void: Its folder or its model was not ready within 1 minute.";
    check(with(vec![Step::Ignore]), never).await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_keeps_what_was_said() {
    let (memory, stop) = (Memory::new(), Stop::default());
    let ask = async {
        advance(Duration::from_millis(500)).await;
        stop.ask(StopReason::Asked);
    };
    tokio::join!(memory.run(&stop, vec![Step::Say("partial"), Step::Ignore]), ask);
    assert_eq!((memory.text().as_str(), memory.outcomes()), ("partial", vec![Outcome::Cancelled]));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_gives_the_attempt_back() {
    let (memory, stop) = (Memory::new(), Stop::default());
    stop.ask(StopReason::Shutdown);
    memory.run(&stop, vec![Step::Ignore]).await;
    assert_eq!(memory.outcomes(), [Outcome::Lost]);
}

#[tokio::test(start_paused = true)]
async fn a_fenced_attempt_stops_and_reports_nothing() {
    let memory = Memory { fenced: true, ..Memory::new() };
    memory.run(&Stop::default(), vec![Step::Say("late"), Step::Ignore]).await;
    assert_eq!(memory.outcomes(), []);
}

#[tokio::test(start_paused = true)]
async fn a_dead_server_is_not_the_models_loss() {
    let memory = Memory::new();
    memory.run(&Stop::default(), vec![Step::Fail]).await;
    assert!(matches!(&memory.outcomes()[..], [Outcome::Void { .. }]));
}

#[tokio::test(start_paused = true)]
async fn a_report_is_tried_again_while_the_database_is_away() {
    let memory = Memory { report_failures: Mutex::new(3), ..Memory::new() };
    memory.run(&Stop::default(), vec![Step::Say("x")]).await;
    assert_eq!(memory.outcomes(), [done()]);
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_comes_in_pieces_is_not_written() {
    let memory = Memory::new();
    memory
        .run(&Stop::default(), vec![Step::Say("it is hunter2"), Step::Wait(500), Step::Say("hunter2.")])
        .await;
    assert_eq!(memory.text(), "it is [redacted].");
}

#[tokio::test(start_paused = true)]
async fn a_secret_passes_nowhere_else_either() {
    let memory = Memory::new();
    let steps = vec![
        Step::Say("it is hunter2"),
        Step::Think("Hm."),
        Step::Say("hunter2."),
        Step::Plan("use hunter2hunter2"),
        Step::FailWith("hunter2hunter2 was refused"),
    ];
    memory.run(&Stop::default(), steps).await;
    let stream: String = guard(&memory.appended).iter().map(|(_, _, text)| text.clone()).collect();
    assert!(stream.contains("use [redacted]") && !stream.contains("hunter2hunter2"), "{stream}");
    assert_eq!(memory.text(), "it is [redacted][redacted].");
    assert_eq!(memory.outcomes(), [Outcome::Failed { reason: "[redacted] was refused".into() }]);
    assert!(guard(&memory.ended).is_empty(), "it ended by itself");
}

#[tokio::test(start_paused = true)]
async fn after_a_batch_that_was_not_written_nothing_is_written_behind_the_gap() {
    let memory = Memory { append_failures: Mutex::new(1), refuses: true, ..Memory::new() };
    memory
        .run(&Stop::default(), vec![Step::Say("lost "), Step::Wait(500), Step::Say("later"), Step::Ignore])
        .await;
    assert_eq!((memory.text().as_str(), memory.outcomes()), ("", vec![Outcome::Lost]));
}

#[tokio::test(start_paused = true)]
async fn output_is_written_again_while_the_database_is_away_but_not_beyond_the_lease() {
    let steps = || vec![Step::Say("first "), Step::Wait(500), Step::Say("last")];
    let memory = Memory { append_failures: Mutex::new(20), ..Memory::new() };
    memory.run(&Stop::default(), steps()).await;
    assert_eq!((memory.text().as_str(), memory.outcomes()), ("first last", vec![done()]));

    let memory = Memory { append_failures: Mutex::new(1_000), ..Memory::new() };
    memory.run(&Stop::default(), steps()).await;
    assert_eq!((memory.text().as_str(), memory.outcomes()), ("", vec![Outcome::Lost]));
    assert!(memory.began.unwrap().elapsed() < super::super::LEASE);
}

#[tokio::test(start_paused = true)]
async fn a_database_that_hangs_does_not_hang_the_attempt() {
    let memory = Memory { append_takes: Duration::from_secs(3600), ..Memory::new() };
    memory.run(&Stop::default(), vec![Step::Say("x"), Step::Ignore]).await;
    assert_eq!(memory.outcomes(), [Outcome::Lost]);
    assert!(memory.began.unwrap().elapsed() < LIMIT);
}

#[tokio::test(start_paused = true)]
async fn what_was_held_back_stays_in_its_place() {
    let memory = Memory::new();
    // The reasoning ends as the secret begins; it must not come out behind the answer.
    let steps = vec![Step::Think("thoughts h"), Step::Wait(200), Step::Say("the answer ends in h")];
    memory.run(&Stop::default(), steps).await;
    let stream: String = guard(&memory.appended).iter().map(|(_, _, text)| text.clone()).collect();
    let read = Transcript::read(&stream);
    let segments: Vec<_> = read.segments.iter().map(|segment| segment.text.as_str()).collect();
    assert_eq!(segments, ["thoughts h", "the answer ends in h"]);
    assert_eq!(guard(&memory.said).as_deref(), Some("the answer ends in h"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_done_counts_although_it_is_stopped_or_the_server_goes_down() {
    for reason in [StopReason::Shutdown, StopReason::Asked] {
        let memory = Memory { append_takes: Duration::from_secs(2), ..Memory::new() };
        let stop = Stop::default();
        let end = async {
            sleep(Duration::from_secs(1)).await;
            stop.ask(reason);
        };
        tokio::join!(memory.run(&stop, vec![Step::Say("all of it")]), end);
        assert_eq!((memory.text().as_str(), memory.outcomes()), ("all of it", vec![done()]), "{reason:?}");
    }
}

/// What was made has a time of its own to be kept in, much longer than the one to stop.
#[tokio::test(start_paused = true)]
async fn what_was_made_is_kept_however_the_work_ended() {
    let check =
        async |steps: Vec<Step>, reason: Option<StopReason>, keeping: (Duration, bool), expected: &str| {
            let (memory, stop) = (Memory::new(), Stop::default());
            reason.into_iter().for_each(|reason| stop.ask(reason));
            memory.run_and_keep(&stop, steps, keeping).await;
            let told = match &memory.outcomes()[..] {
                [Outcome::Done { .. }] => "done".to_owned(),
                [Outcome::Void { reason } | Outcome::Failed { reason }] => reason.clone(),
                [Outcome::Cancelled] => "cancelled".to_owned(),
                [Outcome::Lost] => "lost".to_owned(),
                other => panic!("{other:?}"),
            };
            assert_eq!(told, expected, "{reason:?}");
            memory.began.unwrap().elapsed()
        };
    let (slow, endless) = (Duration::from_secs(100), Duration::from_secs(10_000));
    let stopped = Some(StopReason::Asked);
    assert!(check(vec![Step::Ignore], stopped, (slow, true), "cancelled").await >= slow);
    check(vec![Step::Ignore], stopped, (slow, false), "cancelled").await;
    let took = check(vec![Step::Ignore], stopped, (endless, true), "cancelled").await;
    assert!(took <= STOP_WAIT_MAX + KEEP_WAIT_MAX + Duration::from_secs(1), "{took:?}");
    check(vec![], None, (slow, true), "done").await;
    check(vec![], None, (slow, false), "the disk is full").await;
    check(vec![], None, (endless, true), "lost").await;
    // What is begun anew needs nothing of before.
    assert!(check(vec![Step::Ignore], Some(StopReason::Shutdown), (slow, false), "lost").await < slow);
}

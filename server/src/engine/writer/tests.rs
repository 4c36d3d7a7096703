//! When viewers are woken, how much a crash takes back, and what becomes of tokens that were not counted, on a paused
//! clock.

use std::sync::Mutex;

use bytes::BytesMut;
use domain::{
    Rejected,
    id::{Attempt, TaskId},
    output::Usage,
};
use tokio::{sync::Notify, time::sleep};

use super::{super::ledger::Report, *};
use crate::live::{Kept, Live, guard};

/// A database that takes everything at once.
struct Willing;

impl Ledger for Willing {
    fn append(&self, _: StreamId, _: u64, _: String) -> BoxFuture<'_, store::Result<bool>> {
        async { Ok(true) }.boxed()
    }

    fn phase(&self, _: StreamId, _: Phase) -> BoxFuture<'_, store::Result<()>> {
        async { Ok(()) }.boxed()
    }

    fn used(&self, _: StreamId, _: u64) -> BoxFuture<'_, store::Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn report(&self, _: Report) -> BoxFuture<'_, store::Result<()>> {
        async { Ok(()) }.boxed()
    }
}

/// The model says a word at each of these milliseconds. A viewer that reads whenever it is woken has this many
/// bytes of words at each of these.
async fn check(said: &[u64], seen: &[(u64, usize)]) {
    let stream = StreamId { task: TaskId(uuid::Uuid::nil()), attempt: Attempt(1) };
    let live = Live::default().stream(stream);
    live.open();
    let (stop, clock, secrets) = (Stop::default(), Clock::default(), Vec::new().into());
    let writer = Writer::new(stream, Arc::clone(&live), &Willing, &stop, &clock, &secrets);
    let (outputs, written) = mpsc::channel(8);
    let began = Instant::now();
    let speak = async move {
        for at in said {
            sleep_until(began + Duration::from_millis(*at)).await;
            outputs.send(Output::Text("word ".into())).await.unwrap();
        }
        sleep(Duration::from_millis(50)).await;
    };
    let bell = Arc::new(Notify::new());
    live.listen(&bell);
    let (mut story, mut offset) = (Vec::new(), 0);
    let view = async {
        loop {
            bell.notified().await;
            if let Kept::Until(until) = live.read(offset, 1024, &mut BytesMut::new()) {
                offset = until;
                story.push((began.elapsed().as_millis() as u64, until as usize - "\u{1e}text\n".len()));
            }
        }
    };
    tokio::select! {
        _ = async { tokio::join!(speak, writer.write(written)) } => {}
        () = view => {}
    }
    assert_eq!(story, seen, "said at {said:?}");
}

#[tokio::test(start_paused = true)]
async fn a_word_alone_is_shown_at_once() {
    check(&[0, 5, 10], &[(0, 5), (5, 10), (10, 15)]).await;
}

#[tokio::test(start_paused = true)]
async fn words_in_quick_succession_are_shown_together() {
    check(&[0, 1, 1, 1, 10], &[(0, 5), (2, 20), (10, 25)]).await;
}

/// A database that takes its time, and what it has.
struct Slow {
    takes: Duration,
    kept: Mutex<usize>,
}

impl Ledger for Slow {
    fn append(&self, _: StreamId, start: u64, text: String) -> BoxFuture<'_, store::Result<bool>> {
        async move {
            sleep(self.takes).await;
            *guard(&self.kept) = start as usize + text.len();
            Ok(true)
        }
        .boxed()
    }

    fn phase(&self, _: StreamId, _: Phase) -> BoxFuture<'_, store::Result<()>> {
        async { Ok(()) }.boxed()
    }

    fn used(&self, _: StreamId, _: u64) -> BoxFuture<'_, store::Result<()>> {
        async { Ok(()) }.boxed()
    }

    fn report(&self, _: Report) -> BoxFuture<'_, store::Result<()>> {
        async { Ok(()) }.boxed()
    }
}

/// How old, in milliseconds, the oldest of what was shown and not kept ever is. A crash at that moment takes it back.
async fn oldest_unkept(takes_ms: u64, word_every_ms: u64) -> u64 {
    let stream = StreamId { task: TaskId(uuid::Uuid::nil()), attempt: Attempt(1) };
    let live = Live::default().stream(stream);
    live.open();
    let (stop, clock, secrets) = (Stop::default(), Clock::default(), Vec::new().into());
    let ledger = Slow { takes: Duration::from_millis(takes_ms), kept: Mutex::default() };
    let writer = Writer::new(stream, Arc::clone(&live), &ledger, &stop, &clock, &secrets);
    let (outputs, written) = mpsc::channel(8);
    let speak = async move {
        for _ in 0..1_000 / word_every_ms {
            outputs.send(Output::Text("word ".into())).await.unwrap();
            sleep(Duration::from_millis(word_every_ms)).await;
        }
    };
    let (mut shown, mut oldest, mut offset) = (Vec::new(), Duration::ZERO, 0);
    let view = async {
        loop {
            sleep(Duration::from_millis(1)).await;
            if let Kept::Until(until) = live.read(offset, 4096, &mut BytesMut::new()) {
                offset = until;
                shown.push((Instant::now(), until as usize));
            }
            let kept = *guard(&ledger.kept);
            if let Some((at, _)) = shown.iter().find(|(_, until)| *until > kept) {
                oldest = oldest.max(at.elapsed());
            }
        }
    };
    tokio::select! {
        _ = async { tokio::join!(speak, writer.write(written)) } => {}
        () = view => {}
    }
    oldest.as_millis() as u64
}

#[tokio::test(start_paused = true)]
async fn a_crash_takes_back_less_than_a_tenth_of_a_second() {
    for (takes_ms, word_every_ms) in [(0, 1), (5, 5), (20, 5), (45, 2), (45, 5), (45, 30)] {
        let oldest = oldest_unkept(takes_ms, word_every_ms).await;
        assert!(oldest > 40 && oldest <= 100, "{takes_ms} {word_every_ms}: {oldest} ms");
    }
    assert!(oldest_unkept(200, 5).await > 200, "the control: a database that is slow keeps less");
}

/// What a database makes of tokens that it is told of.
#[derive(Clone, Copy)]
enum Count {
    Takes,
    IsAway,
    Hangs,
    Refuses,
}

/// Counts as its script says, and takes everything once that is over.
#[derive(Default)]
struct Counting {
    script: Mutex<Vec<Count>>,
    told: Mutex<u32>,
    counted: Mutex<u64>,
}

impl Ledger for Counting {
    fn append(&self, _: StreamId, _: u64, _: String) -> BoxFuture<'_, store::Result<bool>> {
        async { Ok(true) }.boxed()
    }

    fn phase(&self, _: StreamId, _: Phase) -> BoxFuture<'_, store::Result<()>> {
        async { Ok(()) }.boxed()
    }

    fn used(&self, _: StreamId, tokens: u64) -> BoxFuture<'_, store::Result<()>> {
        async move {
            *guard(&self.told) += 1;
            let next = guard(&self.script).pop().unwrap_or(Count::Takes);
            match next {
                Count::Takes => *guard(&self.counted) += tokens,
                Count::IsAway => return Err(store::Error::Sql(sqlx::Error::PoolTimedOut)),
                Count::Hangs => std::future::pending().await,
                Count::Refuses => return Err(Rejected::Stale.into()),
            }
            Ok(())
        }
        .boxed()
    }

    fn report(&self, _: Report) -> BoxFuture<'_, store::Result<()>> {
        async { Ok(()) }.boxed()
    }
}

/// A model uses ten tokens twice, and then works so many seconds more. Gives how many are counted, how often somebody
/// was told of them, and how many seconds it took.
async fn count(script: &[Count], works_s: u64) -> (u64, u32, u64) {
    let stream = StreamId { task: TaskId(uuid::Uuid::nil()), attempt: Attempt(1) };
    let live = Live::default().stream(stream);
    let (stop, clock, secrets) = (Stop::default(), Clock::default(), Vec::new().into());
    let ledger =
        Counting { script: script.iter().rev().copied().collect::<Vec<_>>().into(), ..Counting::default() };
    let writer = Writer::new(stream, live, &ledger, &stop, &clock, &secrets);
    let (outputs, written) = mpsc::channel(8);
    let began = Instant::now();
    let work = async move {
        for _ in 0..2 {
            let usage = Usage { prompt_tokens: Some(7), completion_tokens: Some(3) };
            outputs.send(Output::Usage(usage)).await.unwrap();
            sleep(Duration::from_millis(10)).await;
        }
        sleep(Duration::from_secs(works_s)).await;
    };
    tokio::join!(work, writer.write(written));
    (*guard(&ledger.counted), *guard(&ledger.told), began.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_although_the_database_was_away() {
    use Count::{Hangs, IsAway, Refuses, Takes};
    assert_eq!(count(&[], 5).await, (20, 2, 5));
    assert_eq!(count(&[IsAway], 5).await, (20, 2, 5), "those that came meanwhile go with them");
    assert_eq!(count(&[Takes, IsAway], 5).await, (20, 3, 5));
    assert_eq!(count(&[Takes, IsAway], 0).await, (20, 3, 1), "also once the model is done");
    assert_eq!(count(&[Takes, Hangs], 0).await, (20, 3, 9));
    assert_eq!(count(&[Refuses], 0).await, (10, 2, 0), "what is not wanted is not told again");
    let took_s = count(&[IsAway; 500], 100).await.2;
    assert!((130..=131).contains(&took_s), "a database that stays away is not waited for longer: {took_s} s");
}

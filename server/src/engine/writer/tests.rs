//! When viewers are woken, on a paused clock.

use bytes::BytesMut;
use domain::id::{Attempt, TaskId};
use tokio::{sync::Notify, time::sleep};

use super::{super::ledger::Report, *};
use crate::live::{Kept, Live};

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
    let (stop, secrets) = (Stop::default(), Vec::new().into());
    let writer = Writer::new(stream, Arc::clone(&live), &Willing, &stop, &secrets);
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

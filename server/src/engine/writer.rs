//! Turns what a backend says into a stream: at once for whoever watches, in batches for Postgres.

use std::{sync::Arc, time::Duration};

use domain::{
    feed::StreamId,
    output::{Output, Phase},
    tool::{Item, Plan, Update},
    transcript::Encoder,
};
use futures::future::{BoxFuture, FutureExt as _, OptionFuture};
use tokio::{
    sync::mpsc,
    task::yield_now,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{Clock, Stop, StopReason, answered, ledger::Ledger, redact::Redactor};
use crate::live::Stream;

/// A batch is written when it is this old or this long, whichever comes first. What a crash takes back of what was shown
/// is a batch and what came while it was being written: less than a tenth of a second.
const BATCH_AGE_MAX: Duration = Duration::from_millis(50);
const BATCH_BYTES_MAX: usize = 4 * 1024;
/// What comes faster than this is shown together: no eye sees the difference, and every waking costs each viewer
/// a write to its socket.
const SHOW_EVERY: Duration = Duration::from_millis(2);
/// Longer than any commit takes, shorter than the lease.
const WRITE_WAIT_MAX: Duration = Duration::from_secs(8);
/// How long one try at a batch may take, and the pause before the next one while the database is away: it may only
/// have broken a connection, or be back in a moment.
const APPEND_WAIT_MAX: Duration = Duration::from_secs(3);
const APPEND_AGAIN: Duration = Duration::from_millis(100);
/// Between two tries to count tokens, and how long they are tried once the model is done. A limit of spending holds only
/// for what is counted.
const COUNT_AGAIN: Duration = Duration::from_secs(1);
const COUNT_WAIT_MAX: Duration = Duration::from_secs(30);
/// When Postgres is slower than the model, the model waits here.
const UNWRITTEN_BYTES_MAX: usize = 256 * 1024;
/// A model that says this much at once lets others have their turn, and the network its word: a worker that
/// always finds something to do looks at its sockets rarely.
const TURN_BYTES_MAX: usize = 16 * 1024;
/// An answer longer than this is a runaway.
const STREAM_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Only a title is read back by us, and a title is short.
const SAID_CHARS_MAX: usize = 4 * 1024;

pub(crate) struct Writer<'a> {
    stream: StreamId,
    live: Arc<Stream>,
    ledger: &'a dyn Ledger,
    stop: &'a Stop,
    clock: &'a Clock,
    encoder: Encoder,
    text: Redactor,
    reasoning: Redactor,
    /// The beginning of the answer.
    said: String,
    pending: String,
    /// When the oldest pending byte came.
    since: Option<Instant>,
    durable: u64,
    /// The phase to record next; only the newest matters.
    phase: Option<Phase>,
    /// Tokens that were used and are not counted yet.
    used: u64,
    /// When they are tried again, after a try that failed, and until when.
    count_at: Option<Instant>,
    count_until: Option<Instant>,
    /// When viewers were woken last, and whether something came since.
    shown_at: Option<Instant>,
    unshown: bool,
    /// How much was taken since others had their turn.
    turn: usize,
    /// A batch did not get through: whatever came behind it would leave a gap.
    broken: bool,
}

/// What is being written, with its length.
type Flush<'a> = OptionFuture<BoxFuture<'a, (u64, store::Result<bool>)>>;

impl<'a> Writer<'a> {
    pub fn new(
        stream: StreamId,
        live: Arc<Stream>,
        ledger: &'a dyn Ledger,
        stop: &'a Stop,
        clock: &'a Clock,
        secrets: &Arc<[String]>,
    ) -> Self {
        Self {
            stream,
            live,
            ledger,
            stop,
            clock,
            encoder: Encoder::default(),
            text: Redactor::new(Arc::clone(secrets)),
            reasoning: Redactor::new(Arc::clone(secrets)),
            said: String::new(),
            pending: String::new(),
            since: None,
            durable: 0,
            phase: None,
            used: 0,
            count_at: None,
            count_until: None,
            shown_at: None,
            unshown: false,
            turn: 0,
            broken: false,
        }
    }

    /// Takes everything until the backend hangs up, and leaves nothing unwritten. Gives the answer's start.
    pub async fn write(mut self, mut outputs: mpsc::Receiver<Output>) -> String {
        let mut flush: Flush<'a> = None.into();
        let mut note: OptionFuture<BoxFuture<'a, u64>> = None.into();
        let (mut flushing, mut noting, mut open) = (false, false, true);
        loop {
            self.show_when_due();
            if !noting && let Some(next) = self.next_note() {
                (note, noting) = (Some(next).into(), true);
            }
            if !flushing && self.is_due(open) {
                (flush, flushing) = (Some(self.flush()).into(), true);
            }
            if !open && !flushing && !noting && !self.is_counting() {
                self.live.wake();
                return self.said;
            }
            let batch = self.since.filter(|_| !flushing).map(|since| since + BATCH_AGE_MAX);
            let show = self.shown_at.filter(|_| self.unshown).map(|shown| shown + SHOW_EVERY);
            let count = self.count_at.filter(|_| !noting && self.used > 0);
            let due = batch.into_iter().chain(show).chain(count).min();
            tokio::select! {
                Some((len, result)) = &mut flush, if flushing => {
                    flushing = false;
                    self.flushed(len, result);
                }
                Some(uncounted) = &mut note, if noting => {
                    noting = false;
                    self.noted(uncounted);
                }
                output = outputs.recv(), if open && self.pending.len() < UNWRITTEN_BYTES_MAX => match output {
                    Some(output) => {
                        self.take(output);
                        self.give_way().await;
                    }
                    None => {
                        open = false;
                        self.take_last();
                    }
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
            }
        }
    }

    fn is_due(&self, open: bool) -> bool {
        let old = self.since.is_some_and(|since| since.elapsed() >= BATCH_AGE_MAX);
        !self.pending.is_empty() && (!open || old || self.pending.len() >= BATCH_BYTES_MAX)
    }

    fn flush(&mut self) -> BoxFuture<'a, (u64, store::Result<bool>)> {
        let text = std::mem::take(&mut self.pending);
        self.since = None;
        let (len, ledger, stream, start) = (text.len() as u64, self.ledger, self.stream, self.durable);
        let append = async move {
            loop {
                let append = answered(APPEND_WAIT_MAX, ledger.append(stream, start, text.clone()));
                match append.await {
                    Err(error) if error.is_away() => {
                        tracing::debug!(%stream, %error, "output will be written again");
                        sleep(APPEND_AGAIN).await;
                    }
                    done => return done,
                }
            }
        };
        async move { (len, answered(WRITE_WAIT_MAX, append).await) }.boxed()
    }

    fn flushed(&mut self, len: u64, result: store::Result<bool>) {
        match result {
            Ok(true) => {
                self.durable += len;
                return;
            }
            Ok(false) => self.stop.ask(StopReason::Fenced),
            Err(error) => {
                // What is not durable must not be shown as if it were, so the attempt ends here and is tried
                // again; what was written of it stays.
                tracing::error!(stream = %self.stream, %error, "output could not be written");
                self.stop.ask(StopReason::Unwritten);
            }
        }
        self.broken = true;
        self.pending.clear();
        self.since = None;
    }

    fn take(&mut self, output: Output) {
        match output {
            Output::Phase(phase) => {
                self.clock.enter(&phase);
                self.phase = Some(phase);
            }
            Output::Usage(usage) => self.used += usage.tokens(),
            Output::Text(text) => {
                self.release_reasoning();
                let text = self.text.push(&text);
                self.say(text);
            }
            Output::Tool(update) => {
                self.take_rest();
                let update = self.tool(update);
                self.append(&Output::Tool(update));
            }
            Output::Plan(Plan(items)) => {
                self.take_rest();
                let hide = |item: Item| Item { text: self.text.redact(&item.text), ..item };
                let plan = Plan(items.into_iter().map(hide).collect());
                self.append(&Output::Plan(plan));
            }
            Output::Reasoning(text) => {
                let rest = self.text.interrupt();
                self.say(rest);
                let text = self.reasoning.push(&text);
                self.append(&Output::Reasoning(text));
            }
        }
    }

    /// What tools are given and give may hold a secret too. Each comes whole, so nothing is held back.
    fn tool(&mut self, update: Update) -> Update {
        let hide = |text: Option<String>| text.map(|text| self.text.redact(&text));
        Update { title: hide(update.title), input: hide(update.input), output: hide(update.output), ..update }
    }

    fn take_rest(&mut self) {
        self.release_reasoning();
        let rest = self.text.interrupt();
        self.say(rest);
    }

    fn take_last(&mut self) {
        self.count_until = Some(Instant::now() + COUNT_WAIT_MAX);
        let rest = self.reasoning.finish();
        self.append(&Output::Reasoning(rest));
        let rest = self.text.finish();
        self.say(rest);
    }

    /// What was held back is let go before the other kind of text begins, so that each stays in its place.
    fn release_reasoning(&mut self) {
        let rest = self.reasoning.interrupt();
        self.append(&Output::Reasoning(rest));
    }

    fn say(&mut self, text: String) {
        self.said.extend(text.chars().take(SAID_CHARS_MAX.saturating_sub(self.said.len())));
        self.append(&Output::Text(text));
    }

    fn append(&mut self, output: &Output) {
        let piece = self.encoder.encode(output);
        if piece.is_empty() || self.broken {
            return;
        }
        if self.durable + self.pending.len() as u64 > STREAM_BYTES_MAX {
            self.stop.ask(StopReason::TooLong);
            return;
        }
        self.since.get_or_insert_with(Instant::now);
        self.turn += piece.len();
        self.pending.push_str(&piece);
        self.live.push(piece);
        self.unshown = true;
    }

    fn show_when_due(&mut self) {
        let now = Instant::now();
        if self.unshown && self.shown_at.is_none_or(|shown| now >= shown + SHOW_EVERY) {
            self.live.wake();
            (self.shown_at, self.unshown) = (Some(now), false);
        }
    }

    async fn give_way(&mut self) {
        if self.turn >= TURN_BYTES_MAX {
            self.turn = 0;
            yield_now().await;
        }
    }

    /// What is told besides the text, which does not wait for it: tokens first, because somebody may stop it for
    /// them. Gives how many of them have to be told again.
    fn next_note(&mut self) -> Option<BoxFuture<'a, u64>> {
        let (ledger, stream) = (self.ledger, self.stream);
        let may_count = self.count_at.is_none_or(|at| Instant::now() >= at);
        let tokens = if may_count { std::mem::take(&mut self.used) } else { 0 };
        let told = match tokens {
            0 => ledger.phase(stream, self.phase.take()?),
            tokens => ledger.used(stream, tokens),
        };
        let note = async move {
            match timeout(WRITE_WAIT_MAX, told).await {
                Ok(Ok(())) => 0,
                Ok(Err(store::Error::Rejected(no))) => {
                    tracing::debug!(%stream, %no, "a phase or its tokens were not wanted any more");
                    0
                }
                Ok(Err(error)) => {
                    tracing::debug!(%stream, %error, tokens, "a phase or its tokens were not recorded");
                    tokens
                }
                // It may have been recorded after all, and then these count twice. A battle that stops too early can
                // be begun anew; what is spent beyond its limit is gone.
                Err(_) => {
                    tracing::debug!(%stream, tokens, "a phase or its tokens were not recorded in time");
                    tokens
                }
            }
        };
        Some(note.boxed())
    }

    fn noted(&mut self, uncounted: u64) {
        if uncounted > 0 {
            self.used += uncounted;
            self.count_at = Some(Instant::now() + COUNT_AGAIN);
        }
    }

    fn is_counting(&self) -> bool {
        let is_late = self.count_until.is_some_and(|until| Instant::now() >= until);
        if self.used > 0 && is_late {
            tracing::warn!(stream = %self.stream, tokens = self.used, "what an attempt used was not counted");
        }
        self.used > 0 && !is_late
    }
}

#[cfg(test)]
mod tests;

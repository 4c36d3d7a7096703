//! Many viewers of one stream.

use std::{fmt, ops::AddAssign, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, bail};
use domain::{
    feed::{Cursor, Frame},
    id::ChatId,
};
use futures::future::try_join_all;
use reqwest::{Client, RequestBuilder};
use tokio::{
    sync::Barrier,
    time::{Instant, timeout},
};

use super::{MODEL, feed};
use crate::{
    boocode::{Browser, PATIENCE, Question, Server},
    machine,
    part::Part,
    sse::Blocks,
};

pub const VIEWERS: usize = 500;
pub const ROUNDS: u32 = 2;
/// One stream as it usually comes, and one that is more than either way delivers.
pub const PACES: [Pace; 2] = [Pace { tokens: 600, rate: 200 }, Pace { tokens: 2_000, rate: 2_000 }];
/// Long enough for every viewer to be there before the first token.
const CONNECTING_MS: u64 = 4_000;

#[derive(Clone, Copy, Debug)]
pub struct Pace {
    tokens: usize,
    pub rate: usize,
}

impl Pace {
    fn question(self) -> String {
        let Self { tokens, rate } = self;
        format!("[[loading {CONNECTING_MS}]][[stamp {tokens}]][[rate {rate}]]")
    }
}

/// What was delivered, within which time and for how much work of the server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total {
    tokens: usize,
    elapsed: Duration,
    cpu: Duration,
}

impl Total {
    pub fn a_second(&self) -> f64 {
        self.tokens as f64 / self.elapsed.as_secs_f64()
    }

    pub fn a_cpu_second(&self) -> f64 {
        self.tokens as f64 / self.cpu.as_secs_f64()
    }
}

impl AddAssign for Total {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.elapsed += other.elapsed;
        self.cpu += other.cpu;
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (speed, economy) = (self.a_second() / 1e3, self.a_cpu_second() / 1e3);
        write!(f, "{speed:.0} k a second, {economy:.0} k a second of cpu ({} tokens)", self.tokens)
    }
}

pub async fn of_broadcast(reference: &Part, pace: Pace) -> Result<Total> {
    let client = Client::builder().no_proxy().tcp_nodelay(true).build()?;
    let url = format!("{}/feed", reference.url);
    let go = format!("{}/go?count={}&rate={}", reference.url, pace.tokens, pace.rate);
    let begin = async { client.post(&go).send().await.map(drop) };
    watched(reference.pid()?, pace, || client.get(&url), begin).await
}

pub async fn of_feed(server: &Server, browser: &Browser, chat: ChatId, pace: Pace) -> Result<Total> {
    let question = Question::new(chat, MODEL, pace.question());
    let (stream, after) = feed::begin(browser, &question).await?;
    let cursor = Cursor { after, watch: [(stream, 0)].into() };
    let path = format!("/api/feed?{}", cursor.to_query());
    // The model was asked before and begins by itself.
    watched(server.pid, pace, || browser.get(&path), async { Ok(()) }).await
}

/// Connects everyone, lets it begin, and waits until everyone has everything.
async fn watched(
    pid: u32,
    pace: Pace,
    request: impl Fn() -> RequestBuilder,
    begin: impl Future<Output = reqwest::Result<()>>,
) -> Result<Total> {
    let connected = Arc::new(Barrier::new(VIEWERS + 1));
    let viewers: Vec<_> =
        (0..VIEWERS).map(|_| tokio::spawn(view(request(), pace.tokens, Arc::clone(&connected)))).collect();
    timeout(PATIENCE, connected.wait()).await.context("the viewers do not get connected")?;
    let (all_there, before) = (Instant::now(), machine::cpu(pid)?);
    begin.await?;
    let seen = timeout(PATIENCE, try_join_all(viewers)).await.context("the viewers do not get everything")?;
    let cpu = machine::cpu(pid)? - before;
    let seen = seen?.into_iter().collect::<Result<Vec<_>>>()?;
    let first = seen.iter().map(|(first, _)| *first).min().context("nobody looked on")?;
    let last = seen.iter().map(|(_, last)| *last).max().context("nobody looked on")?;
    if first < all_there {
        bail!("the stream began before every viewer was there");
    }
    Ok(Total { tokens: VIEWERS * pace.tokens, elapsed: last - first, cpu })
}

/// Reads until the last token; when the first came, and the last.
async fn view(request: RequestBuilder, wanted: usize, connected: Arc<Barrier>) -> Result<(Instant, Instant)> {
    let mut response = request.send().await?.error_for_status()?;
    let (mut blocks, mut tokens, mut due) = (Blocks::default(), 0, 0);
    let (mut first, mut waiting) = (None, true);
    while tokens < wanted {
        let bytes = timeout(PATIENCE, response.chunk()).await??.context("a viewer's connection ended")?;
        blocks.push(&bytes);
        while let Some(block) = blocks.next_block() {
            match block.event.as_str() {
                "beat" if waiting => {
                    waiting = false;
                    connected.wait().await;
                }
                "delta" => {
                    first.get_or_insert_with(Instant::now);
                    let Ok(Frame::Delta(delta)) = Frame::parse("delta", &block.data) else {
                        bail!("{:?} is no delta", block.data);
                    };
                    if delta.offset != due {
                        bail!("bytes from {} came where {due} were due", delta.offset);
                    }
                    due += delta.text.len() as u64;
                    // A viewer that fell behind may get several at once.
                    tokens += delta.text.matches(';').count();
                }
                _ => {}
            }
        }
    }
    Ok((first.context("no token came")?, Instant::now()))
}

//! How big the server is at rest, and how much it grows while long streams pass.

use std::{pin::pin, time::Duration};

use anyhow::{Context as _, Result, bail};
use domain::{
    feed::{Cursor, Event, Frame, Seq, StreamId},
    output::Outcome,
};
use futures::future::try_join_all;
use reqwest::header;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpSocket,
    task::JoinSet,
    time::{Instant, interval, sleep},
};

use crate::{
    Goal, Programs,
    boocode::{Browser, Home, ModelServer, Question},
    machine::{self, Resident},
    part::Part,
    stream::{
        MODEL,
        feed::{self, Feed},
    },
};

const MB: u64 = 1_000_000;
const IDLE_MAX: u64 = 40 * MB;
const GROWTH_MAX: u64 = 50 * MB;
const IDLE_FOR: Duration = Duration::from_secs(10);

const STREAMS: u32 = 6;
const STREAM_BYTES: u64 = 50 * MB;
/// Numbered lines, so that any offset tells what must stand there.
const LINE_BYTES: u64 = 16;
const SAMPLE_EVERY: Duration = Duration::from_millis(50);

/// The slow page: this much, this often, and no buffer to speak of.
const SLOW_BYTES: usize = 1_000;
const SLOW_EVERY: Duration = Duration::from_millis(100);
const SLOW_BUFFER_BYTES: u32 = 4 * 1024;

pub async fn measure(programs: &Programs) -> Result<Vec<Goal>> {
    let model = Part::start(&["model"]).await?;
    let servers = [ModelServer { name: "scripted", url: model.url.clone(), parallel: 2 * STREAMS }];
    let mut home = Home::new(programs, &servers)?;
    let outcome = measure_at(&home).await;
    home.explain(outcome)
}

async fn measure_at(home: &Home) -> Result<Vec<Goal>> {
    let (server, browser) = home.start().await?;
    load_page(&browser).await?;
    sleep(IDLE_FOR).await;
    let idle = machine::resident(server.pid)?;
    println!("idle: {}", words(&idle));

    let mut chats = Vec::new();
    for _ in 0..STREAMS {
        chats.push(home.new_chat(&browser).await?);
    }
    let before = machine::resident(server.pid)?;
    machine::forget_peak(server.pid)?;
    let began = Instant::now();
    let mut slow = JoinSet::new();
    let questions: Vec<_> = chats.iter().map(|chat| Question::new(*chat, MODEL, question())).collect();
    let begun = try_join_all(questions.iter().map(|question| feed::begin(&browser, question))).await?;
    if let Some((stream, after)) = begun.first() {
        slow.spawn(read_slowly(browser.clone(), cursor(*stream, *after)));
    }
    let passing = begun.iter().map(|(stream, after)| pass(&browser, *stream, *after));
    let mut passing = pin!(try_join_all(passing));
    let (mut samples, mut highest) = (interval(SAMPLE_EVERY), before);
    loop {
        tokio::select! {
            passed = &mut passing => break passed.map(drop)?,
            Some(ended) = slow.join_next() => ended?.context("the slow page")?,
            _ = samples.tick() => {
                let now = machine::resident(server.pid)?;
                if now.total > highest.total {
                    highest = now;
                }
            }
        }
    }
    let (took, after) = (began.elapsed(), machine::resident(server.pid)?);
    let growth = after.peak.saturating_sub(before.total);
    println!(
        "{STREAMS} streams of {} MB passed in {:.1} s, with a page each and a slow one: grown by {}",
        STREAM_BYTES / MB,
        took.as_secs_f64(),
        megabytes(growth)
    );
    println!("before: {}\nat most: {}\nafter: {}", words(&before), words(&highest), words(&after));
    server.stop().await?;
    Ok(vec![
        Goal { text: format!("idle at most {}", megabytes(IDLE_MAX)), reached: idle.total <= IDLE_MAX },
        Goal { text: format!("growth at most {}", megabytes(GROWTH_MAX)), reached: growth <= GROWTH_MAX },
    ])
}

fn question() -> String {
    format!("[[bytes {STREAM_BYTES}]][[rate 0]]")
}

fn cursor(stream: StreamId, after: Seq) -> Cursor {
    Cursor { after, watch: [(stream, 0)].into() }
}

/// What a browser fetches for a first page.
async fn load_page(browser: &Browser) -> Result<()> {
    for path in ["/", "/pkg/boocode.js", "/pkg/boocode_bg.wasm", "/pkg/boocode.css"] {
        let answer = browser.get(path).header(header::ACCEPT_ENCODING, "br").send().await?;
        answer.error_for_status()?.bytes().await?;
    }
    Ok(())
}

/// Reads a stream to its end and looks at every byte, but keeps none.
async fn pass(browser: &Browser, stream: StreamId, after: Seq) -> Result<()> {
    let mut feed = Feed::open(browser, &cursor(stream, after)).await?;
    let (mut have, mut end) = (0, None);
    while end != Some(have) {
        match feed.next().await? {
            Frame::Delta(delta) => {
                if delta.offset != have || delta.text != expected(have, delta.text.len()) {
                    bail!(
                        "{stream}: {} bytes from {} are not what is due at {have}",
                        delta.text.len(),
                        delta.offset
                    );
                }
                have += delta.text.len() as u64;
            }
            Frame::Event(envelope) => match envelope.event {
                Event::TaskSettled { task, outcome: Outcome::Done { .. }, stream_len, .. }
                    if task == stream.task =>
                {
                    end = Some(stream_len);
                }
                Event::TaskSettled { task, outcome, .. } if task == stream.task => {
                    bail!("{stream} ended with {outcome:?}");
                }
                _ => {}
            },
            Frame::Beat => {}
            Frame::Truncate(_) | Frame::Reset => bail!("{stream}: something was taken back"),
        }
    }
    Ok(())
}

/// What the stream has at `offset`: the mark of its only segment, then numbered lines.
fn expected(offset: u64, length: usize) -> String {
    const MARK: &str = "\u{1e}text\n";
    let (mark, start) = match usize::try_from(offset) {
        Ok(offset) if offset < MARK.len() => (&MARK[offset..], 0),
        _ => ("", offset - MARK.len() as u64),
    };
    let mut text = String::with_capacity(length + 2 * LINE_BYTES as usize);
    for line in start / LINE_BYTES.. {
        if mark.len() + text.len() >= length + LINE_BYTES as usize {
            break;
        }
        text.push_str(&format!("{line:015}\n"));
    }
    let skipped = (start % LINE_BYTES) as usize;
    let mut all = format!("{mark}{}", &text[skipped..]);
    all.truncate(length);
    all
}

/// A page on a bad line. It never gets to the end, and nobody waits for it.
async fn read_slowly(browser: Browser, cursor: Cursor) -> Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(SLOW_BUFFER_BYTES)?;
    let host = browser.url.trim_start_matches("http://");
    let mut stream = socket.connect(host.parse()?).await?;
    let request = format!(
        "GET /api/feed?{} HTTP/1.1\r\nHost: {host}\r\nCookie: {}\r\n\r\n",
        cursor.to_query(),
        browser.cookie
    );
    stream.write_all(request.as_bytes()).await?;
    let (mut buffer, mut ticks) = ([0; SLOW_BYTES], interval(SLOW_EVERY));
    loop {
        ticks.tick().await;
        stream.read_exact(&mut buffer).await?;
    }
}

fn words(resident: &Resident) -> String {
    let Resident { total, anonymous, mapped, .. } = *resident;
    format!("{} ({} its data, {} the program)", megabytes(total), megabytes(anonymous), megabytes(mapped))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / MB as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_piece_of_the_stream_is_known() {
        let whole = expected(0, 100);
        assert!(whole.starts_with("\u{1e}text\n000000000000000\n000000000000001\n"));
        for offset in 0..60 {
            for length in 0..40 {
                assert_eq!(
                    expected(offset as u64, length),
                    whole[offset..offset + length],
                    "{offset} {length}"
                );
            }
        }
    }
}

//! One turn read through BooCode's feed, as a page reads it.

use anyhow::{Context as _, Result, bail};
use domain::{
    feed::{Cursor, Event, Frame, Seq, StreamId},
    id::ChatId,
    output::Outcome,
    task::Owner,
};
use reqwest::Response;
use tokio::time::timeout;

use super::{
    MODEL,
    stamp::{Stamps, micros},
};
use crate::{
    boocode::{Browser, PATIENCE, Question},
    sse::Blocks,
};

/// A connection to the feed.
pub struct Feed {
    response: Response,
    blocks: Blocks,
    /// When the bytes of the last frame came.
    pub at: u64,
}

impl Feed {
    pub async fn open(browser: &Browser, cursor: &Cursor) -> Result<Self> {
        let request = browser.get(&format!("/api/feed?{}", cursor.to_query()));
        let response = request.send().await?.error_for_status()?;
        Ok(Self { response, blocks: Blocks::default(), at: 0 })
    }

    pub async fn next(&mut self) -> Result<Frame> {
        loop {
            if let Some(block) = self.blocks.next_block() {
                return Frame::parse(&block.event, &block.data).map_err(anyhow::Error::msg);
            }
            let bytes = timeout(PATIENCE, self.response.chunk()).await.context("the feed is silent")??;
            self.at = micros();
            self.blocks.push(&bytes.context("the feed ended")?);
        }
    }
}

/// Asks and reads the answer to its end. Every byte has to come once, and in its place.
pub async fn follow(browser: &Browser, chat: ChatId, question: String) -> Result<Stamps> {
    let (stream, after) = begin(browser, &Question::new(chat, MODEL, question)).await?;
    let mut feed = Feed::open(browser, &Cursor { after, watch: [(stream, 0)].into() }).await?;
    let (mut stamps, mut text, mut end) = (Stamps::default(), String::new(), None);
    while end != Some(text.len() as u64) {
        match feed.next().await? {
            Frame::Delta(delta) if delta.stream == stream => {
                if delta.offset != text.len() as u64 {
                    bail!("{stream}: bytes from {} came where {} were due", delta.offset, text.len());
                }
                text.push_str(&delta.text);
                let said = delta.text.rsplit('\n').next().unwrap_or_default();
                stamps.push(said, feed.at)?;
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
            Frame::Delta(_) | Frame::Beat => {}
            Frame::Truncate(_) | Frame::Reset => bail!("{stream}: something was taken back"),
        }
    }
    let kept = browser.snapshot(Some(chat)).await?.streams.into_iter().find(|(id, _)| *id == stream);
    if kept.is_none_or(|(_, kept)| kept != text) {
        bail!("{stream}: what was kept is not what was read");
    }
    Ok(stamps)
}

/// Asks, and waits until it runs. Gives the stream, and the place in the feed at which that was known.
pub async fn begin(browser: &Browser, question: &Question) -> Result<(StreamId, Seq)> {
    let before = browser.snapshot(Some(question.chat)).await?;
    let mut feed = Feed::open(browser, &Cursor { after: before.seq, ..Cursor::default() }).await?;
    browser.ask(question).await?;
    loop {
        if let Frame::Event(envelope) = feed.next().await?
            && let Event::TaskStarted { owner: Owner::Chat(chat), task, attempt, .. } = envelope.event
            && chat == question.chat
        {
            return Ok((StreamId { task, attempt }, envelope.seq));
        }
    }
}

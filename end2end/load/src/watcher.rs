//! A browser page without a browser: a snapshot, the feed, and the same fold.

use std::time::Duration;

use anyhow::{Result, bail};
use domain::{
    chat::Chat,
    feed::{Frame, Mirror, Received, StreamId},
    id::ChatId,
    page::Page,
};
use reqwest::{Response, StatusCode};
use tokio::time::{sleep, timeout};

use crate::{boocode::Browser, sse::Blocks};

/// As long as a page waits for a beat.
const SILENCE_MAX: Duration = Duration::from_secs(5);
const RECONNECT_EVERY: Duration = Duration::from_millis(20);

pub struct Watcher {
    pub chat: ChatId,
    pub mirror: Mirror<Page>,
    connection: Option<Connection>,
}

struct Connection {
    response: Response,
    blocks: Blocks,
    watching: Vec<StreamId>,
}

impl Watcher {
    pub async fn new(browser: &Browser, chat: ChatId) -> Result<Self> {
        Ok(Self::showing(chat, Mirror::new(browser.snapshot(Some(chat)).await?)))
    }

    /// A page that is not connected yet.
    pub fn showing(chat: ChatId, mirror: Mirror<Page>) -> Self {
        Self { chat, mirror, connection: None }
    }

    pub fn chat(&self) -> Option<&Chat> {
        self.mirror.state.chat(self.chat)
    }

    /// Reads on, or connects again. What a dead server does is no error; what a live one says wrongly is.
    /// Tells whether events came.
    pub async fn step(&mut self, browser: &Browser) -> Result<bool> {
        let wanted: Vec<StreamId> = self.mirror.cursor().watch.keys().copied().collect();
        if self.connection.as_ref().is_some_and(|connection| connection.watching != wanted) {
            self.connection = None;
        }
        let Some(connection) = &mut self.connection else {
            self.connect(browser, wanted).await?;
            return Ok(false);
        };
        match timeout(SILENCE_MAX, connection.response.chunk()).await {
            Ok(Ok(Some(bytes))) => connection.blocks.push(&bytes),
            _ => {
                self.connection = None;
                return Ok(false);
            }
        }
        let mut events = false;
        while let Some(block) = self.connection.as_mut().and_then(|connection| connection.blocks.next_block())
        {
            let frame = Frame::parse(&block.event, &block.data).map_err(anyhow::Error::msg)?;
            events |= matches!(frame, Frame::Event(_));
            match self.mirror.receive(&frame) {
                Received::Applied | Received::Repeated => {}
                Received::Gap => self.connection = None,
                Received::Reset => {
                    self.connection = None;
                    if let Ok(snapshot) = browser.snapshot(Some(self.chat)).await {
                        self.mirror.renew(snapshot);
                    }
                    events = true;
                }
            }
        }
        Ok(events)
    }

    async fn connect(&mut self, browser: &Browser, watching: Vec<StreamId>) -> Result<()> {
        let request = browser.get(&format!("/api/feed?{}", self.mirror.cursor().to_query()));
        match timeout(SILENCE_MAX, request.send()).await {
            Ok(Ok(response)) if response.status() == StatusCode::OK => {
                self.connection = Some(Connection { response, blocks: Blocks::default(), watching });
            }
            Ok(Ok(response)) if response.status().is_client_error() => {
                let (status, text) = (response.status(), response.text().await.unwrap_or_default());
                bail!("the feed refuses a page that was logged in: {status} {text}");
            }
            _ => sleep(RECONNECT_EVERY).await,
        }
        Ok(())
    }
}

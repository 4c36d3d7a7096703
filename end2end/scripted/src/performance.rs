//! A reply played at its pace, one event at a time, whatever API it goes out by.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep, sleep_until};

use crate::directive::Fault;
use crate::plan::{Part, Reply};
use crate::wire::{Call, Finish};

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Reasoning(String),
    Text(String),
    Call(Call),
    Finished(Finish),
    /// The answer stops here as if it were complete, but it is not.
    Truncated,
    /// The connection breaks.
    Cut,
}

pub struct Performance {
    parts: VecDeque<Part>,
    rate: f64,
    fault: Option<Fault>,
    tokens_max: Option<u64>,
    begun: Instant,
    said: u64,
    called: bool,
}

/// Nothing waits for ever, not even a hang.
const HANG_MAX: Duration = Duration::from_secs(600);

impl Performance {
    pub fn new(reply: &Reply, tokens_max: Option<u64>) -> Self {
        Self {
            parts: reply.parts.clone(),
            rate: reply.rate,
            fault: reply.fault.clone(),
            tokens_max: tokens_max.into_iter().chain(reply.limit).min(),
            begun: Instant::now(),
            said: 0,
            called: false,
        }
    }

    /// How many tokens were said so far.
    pub fn said(&self) -> u64 {
        self.said
    }

    pub async fn next(&mut self) -> Event {
        while let Some(Part::Reasoning(tokens) | Part::Text(tokens)) = self.parts.front()
            && tokens.is_done()
        {
            self.parts.pop_front();
        }
        if let Some(broken) = self.fault_due().await {
            return broken;
        }
        if self.tokens_max.is_some_and(|most| self.said >= most) {
            return Event::Finished(Finish::Length);
        }
        if self.rate > 0.0 && !self.parts.is_empty() {
            sleep_until(self.begun + Duration::from_secs_f64(self.said as f64 / self.rate)).await;
        }
        let event = match self.parts.front_mut() {
            Some(Part::Reasoning(tokens)) => tokens.next(unix_micros()).map(Event::Reasoning),
            Some(Part::Text(tokens)) => tokens.next(unix_micros()).map(Event::Text),
            Some(Part::Call(call)) => {
                let event = Event::Call(call.clone());
                self.called = true;
                self.parts.pop_front();
                Some(event)
            }
            None => None,
        };
        match event {
            Some(event) => {
                self.said += 1;
                event
            }
            None if self.called => Event::Finished(Finish::Calls),
            None => Event::Finished(Finish::Stop),
        }
    }

    /// A fault strikes after its number of tokens, or at the end of an answer that is shorter.
    async fn fault_due(&mut self) -> Option<Event> {
        let over = self.parts.is_empty();
        match self.fault {
            Some(Fault::Truncate { after }) if over || self.said >= after => Some(Event::Truncated),
            Some(Fault::Cut { after }) if over || self.said >= after => Some(Event::Cut),
            Some(Fault::Hang { after }) if over || self.said >= after => {
                sleep(HANG_MAX).await;
                Some(Event::Truncated)
            }
            _ => None,
        }
    }
}

fn unix_micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

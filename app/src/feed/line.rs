//! When to connect, to wait, to sleep and to ask for a new snapshot. Pure: time and sight are inputs, so every
//! rule is tested without a browser.

/// The server sends a beat every two seconds, so this long a silence means a dead connection.
const SILENCE_MS_MAX: i64 = 3_500;
/// How often that is looked at. A connection that dies alone is given up within four seconds, which leaves the new one
/// a second to be there in five.
pub const TICK_MS: i64 = 500;
/// What a connection may take to open.
const OPEN_MS_MAX: i64 = 5_000;
/// A browser keeps up to five more connections to a host, which may be as dead as the one that fell silent. Each
/// try uses one of them up, so these are short; the next one is new and gets its time.
const SHORT_TRIES: u32 = 5;
const SHORT_TRY_MS: i64 = 1_000;
/// A browser allows six connections to a host; a page nobody looks at gives its own back.
const HIDDEN_MS_MAX: i64 = 10_000;
/// What comes longer than this after the last beat was missed, not heard: it is shown, but it is no news.
const NEWS_MS_MAX: i64 = 15_000;
const ANSWER_MS_MAX: i64 = 15_000;
const BACKOFF_MS_MIN: i64 = 200;
const BACKOFF_MS_MAX: i64 = 5_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// `TICK_MS` passed, or something may have changed.
    Tick {
        /// The page is looked at, or keeps watch for others.
        awake: bool,
    },
    Opened,
    Heard,
    Beat,
    /// The connection broke, or a request of ours did not get through.
    Failed,
    /// A frame is missing.
    Gap,
    /// The server cannot go on from our place.
    Reset,
    /// The page shows other streams than the connection watches.
    WatchChanged,
    /// The page is to show something else.
    Navigated,
    /// The answer to `Do::Probe` or `Do::Fetch`.
    Answered,
    SignedOut,
    /// The server speaks another version than this page.
    Outdated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Do {
    /// Open a connection from the mirror's place; an open one is closed.
    Connect,
    Close,
    /// Get a new snapshot.
    Fetch,
    /// Ask for something small: an `EventSource` cannot tell a server that is away from a login that ended.
    Probe,
    /// Close, and tick again after this long.
    WaitMs(i64),
}

/// What the reader is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Connecting,
    Live,
    Offline,
    SignedOut,
    Outdated,
}

impl Shown {
    pub fn words(self) -> &'static str {
        match self {
            Self::Connecting => "Connecting…",
            Self::Live => "Live",
            Self::Offline => "Offline, trying again…",
            Self::SignedOut => "Signed out",
            Self::Outdated => "Reload the page",
        }
    }

    /// What the look of it depends on.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Live => "live",
            Self::Offline | Self::SignedOut | Self::Outdated => "lost",
        }
    }
}

/// What an event is to the reader when it is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// It happened now.
    News,
    /// It happened while the page slept, because nobody looked at it.
    Overslept,
    /// It happened before the page was there, or while there was no connection.
    Missed,
}

#[derive(Clone, Debug)]
pub struct Line {
    state: State,
    /// In a row, until a connection lasts from one beat to the next: the first comes with it, whatever else does.
    failures: u32,
    hidden_since_ms: Option<i64>,
    beat_at_ms: Option<i64>,
    /// Until what happened meanwhile was said.
    has_slept: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    New,
    Connecting {
        since_ms: i64,
        /// It takes the place of one that is fine, which is no news to the reader.
        replaces: bool,
    },
    Open {
        heard_at_ms: i64,
        has_beaten: bool,
    },
    Waiting {
        until_ms: i64,
        then: Do,
    },
    /// A request of ours is under way.
    Asking {
        since_ms: i64,
    },
    Asleep,
    SignedOut,
    Outdated,
}

impl Default for Line {
    fn default() -> Self {
        Self { state: State::New, failures: 0, hidden_since_ms: None, beat_at_ms: None, has_slept: false }
    }
}

impl Line {
    pub fn next(&mut self, seen: Seen, now_ms: i64) -> Option<Do> {
        match (self.state, seen) {
            (State::SignedOut | State::Outdated, _) => None,
            (_, Seen::SignedOut) => {
                self.state = State::SignedOut;
                Some(Do::Close)
            }
            (_, Seen::Outdated) => {
                self.state = State::Outdated;
                Some(Do::Close)
            }
            (_, Seen::Navigated) => self.ask(Do::Fetch, now_ms),
            (State::Asking { .. }, Seen::Answered) => self.connect(now_ms),
            (State::Asking { .. }, Seen::Failed) => self.wait(Do::Probe, now_ms),
            // What a connection still says while its successor is being prepared does not count.
            (State::Asking { .. } | State::Waiting { .. } | State::Asleep, seen)
                if !matches!(seen, Seen::Tick { .. }) =>
            {
                None
            }
            (_, Seen::Opened | Seen::Heard) => self.heard(now_ms),
            (_, Seen::Beat) => {
                if matches!(self.state, State::Open { has_beaten: true, .. }) {
                    self.failures = 0;
                }
                self.state = State::Open { heard_at_ms: now_ms, has_beaten: true };
                self.beat_at_ms = Some(now_ms);
                self.has_slept = false;
                None
            }
            // The first failure may be a restart or a hiccup; then it is worth asking why.
            (_, Seen::Failed) if self.failures == 0 => self.wait(Do::Connect, now_ms),
            (_, Seen::Failed) => self.wait(Do::Probe, now_ms),
            (_, Seen::Gap) => self.wait(Do::Connect, now_ms),
            (_, Seen::Reset) if self.failures == 0 => {
                self.failures = 1;
                self.ask(Do::Fetch, now_ms)
            }
            (_, Seen::Reset) => self.wait(Do::Fetch, now_ms),
            (_, Seen::WatchChanged) => {
                let replaces = self.shown() == Shown::Live;
                self.state = State::Connecting { since_ms: now_ms, replaces };
                Some(Do::Connect)
            }
            (_, Seen::Answered) => None,
            (_, Seen::Tick { awake }) => self.tick(awake, now_ms),
        }
    }

    pub fn shown(&self) -> Shown {
        match self.state {
            State::SignedOut => Shown::SignedOut,
            State::Outdated => Shown::Outdated,
            State::Open { .. } | State::Connecting { replaces: true, .. } => Shown::Live,
            // A short hiccup is not worth a word.
            State::New | State::Connecting { .. } | State::Waiting { .. } | State::Asking { .. }
                if self.failures > 1 =>
            {
                Shown::Offline
            }
            _ => Shown::Connecting,
        }
    }

    /// Of an event that is heard now. A connection says what was missed before its first beat.
    pub fn age(&self, now_ms: i64) -> Age {
        let is_news = self.beat_at_ms.is_some_and(|beat_at_ms| now_ms - beat_at_ms <= NEWS_MS_MAX);
        match (self.has_slept, is_news) {
            (true, _) => Age::Overslept,
            (false, true) => Age::News,
            (false, false) => Age::Missed,
        }
    }

    fn tick(&mut self, awake: bool, now_ms: i64) -> Option<Do> {
        if awake {
            self.hidden_since_ms = None;
        } else {
            let since = *self.hidden_since_ms.get_or_insert(now_ms);
            let open = matches!(self.state, State::Connecting { .. } | State::Open { .. });
            if open && now_ms - since >= HIDDEN_MS_MAX {
                self.state = State::Asleep;
                // A page that was never up to date has nothing that it would have heard.
                self.has_slept |= self.beat_at_ms.is_some();
                return Some(Do::Close);
            }
            return None;
        }
        match self.state {
            State::New | State::Asleep => self.connect(now_ms),
            State::Connecting { since_ms, .. } if now_ms - since_ms >= self.opens_within_ms() => {
                self.failures += 1;
                self.connect(now_ms)
            }
            State::Open { heard_at_ms, .. } if now_ms - heard_at_ms >= SILENCE_MS_MAX => {
                self.failures += 1;
                self.connect(now_ms)
            }
            State::Waiting { until_ms, then } if now_ms >= until_ms => match then {
                Do::Connect => self.connect(now_ms),
                other => self.ask(other, now_ms),
            },
            State::Asking { since_ms } if now_ms - since_ms >= ANSWER_MS_MAX => self.wait(Do::Probe, now_ms),
            _ => None,
        }
    }

    fn opens_within_ms(&self) -> i64 {
        if (1..=SHORT_TRIES).contains(&self.failures) { SHORT_TRY_MS } else { OPEN_MS_MAX }
    }

    fn heard(&mut self, now_ms: i64) -> Option<Do> {
        let has_beaten = matches!(self.state, State::Open { has_beaten: true, .. });
        self.state = State::Open { heard_at_ms: now_ms, has_beaten };
        None
    }

    fn connect(&mut self, now_ms: i64) -> Option<Do> {
        self.state = State::Connecting { since_ms: now_ms, replaces: false };
        Some(Do::Connect)
    }

    fn ask(&mut self, what: Do, now_ms: i64) -> Option<Do> {
        self.state = State::Asking { since_ms: now_ms };
        Some(what)
    }

    fn wait(&mut self, then: Do, now_ms: i64) -> Option<Do> {
        let wait_ms = (BACKOFF_MS_MIN << self.failures.min(8)).min(BACKOFF_MS_MAX);
        self.failures = self.failures.saturating_add(1);
        self.state = State::Waiting { until_ms: now_ms + wait_ms, then };
        Some(Do::WaitMs(wait_ms))
    }
}

#[cfg(test)]
mod tests;

//! What a person wants to be told, and by whom.

/// What there is to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Done,
    Failed,
    /// Nothing goes on until a person does something.
    NeedsAnswer,
}

/// Who tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Page,
    /// The browser, to one who is away from the page.
    Browser,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Done, Self::Failed, Self::NeedsAnswer];

    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::NeedsAnswer => "needs-answer",
        }
    }
}

impl Channel {
    pub const ALL: [Self; 2] = [Self::Page, Self::Browser];

    fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Browser => "browser",
        }
    }
}

/// What is switched on, each kind for each channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice(Vec<(Kind, Channel)>);

/// The page tells all; the browser nothing, until somebody allows it.
impl Default for Choice {
    fn default() -> Self {
        Self(Kind::ALL.map(|kind| (kind, Channel::Page)).to_vec())
    }
}

const NOTHING: &str = "nothing";

impl Choice {
    pub fn is_on(&self, kind: Kind, channel: Channel) -> bool {
        self.0.contains(&(kind, channel))
    }

    /// Whether any kind is.
    pub fn uses(&self, channel: Channel) -> bool {
        self.0.iter().any(|(_, on)| *on == channel)
    }

    pub fn set(&mut self, kind: Kind, channel: Channel, is_on: bool) {
        self.0.retain(|on| *on != (kind, channel));
        if is_on {
            self.0.push((kind, channel));
        }
    }

    /// `done.page failed.browser`, as a browser remembers it.
    pub fn text(&self) -> String {
        let words: Vec<_> = self.0.iter().map(|(kind, channel)| word(*kind, *channel)).collect();
        if words.is_empty() { NOTHING.to_owned() } else { words.join(" ") }
    }

    /// Words that mean nothing are left out; where nothing is remembered, it is as nobody chose.
    pub fn of(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::default() };
        let all = Channel::ALL.into_iter().flat_map(|channel| Kind::ALL.map(|kind| (kind, channel)));
        Self(all.filter(|(kind, channel)| text.split(' ').any(|on| on == word(*kind, *channel))).collect())
    }
}

fn word(kind: Kind, channel: Channel) -> String {
    format!("{}.{}", kind.name(), channel.name())
}

/// Whether the browser tells what a page asks it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// It has no notifications, or none for a page like this.
    Missing,
    /// Nobody was asked yet.
    Open,
    Granted,
    Denied,
    /// It was granted, and the browser refused nevertheless, as those of Android phones do.
    Refused,
}

impl Permission {
    /// What it means, and what can be done.
    pub fn words(self) -> &'static str {
        match self {
            Self::Missing => {
                "This browser offers no notifications to pages. What is switched on above is still told in the page."
            }
            Self::Open => "The browser has to allow it first. It asks when you press the button.",
            Self::Granted => "Told while you look at something else than BooCode.",
            Self::Denied => {
                "This browser blocks notifications from BooCode. Allow them in its settings for this site, beside \
                 the address, and come back. What is switched on above is still told in the page."
            }
            Self::Refused => {
                "This browser allows notifications but does not show those of an open page, as browsers on phones \
                 do. What is switched on above is still told in the page."
            }
        }
    }
}

//! A small mark with a word.

use leptos::prelude::*;

use crate::{erased::Erase, icon::Icon};

/// What a badge says beside its word. Each status has an icon of its own, because hue alone is not seen by all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Neutral,
    Accent,
    Running,
    Waiting,
    /// Goes on only when a person answers.
    Needed,
    Done,
    Failed,
    Cancelled,
}

impl Tone {
    pub fn icon(self) -> Option<Icon> {
        match self {
            Self::Neutral | Self::Accent => None,
            Self::Running => Some(Icon::Loader),
            Self::Waiting => Some(Icon::Waiting),
            Self::Needed => Some(Icon::Hand),
            Self::Done => Some(Icon::Ok),
            Self::Failed => Some(Icon::Failed),
            Self::Cancelled => Some(Icon::Cancelled),
        }
    }

    pub fn class(self) -> &'static str {
        match self {
            Self::Neutral => "",
            Self::Accent => "accent",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Needed => "needed",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

#[component]
pub fn Badge(#[prop(optional)] tone: Tone, #[prop(into)] text: Signal<String>) -> impl IntoView {
    view! {
        <span class=format!("badge {}", tone.class())>
            {tone.icon().map(Icon::view)}
            <span>{text}</span>
        </span>
    }
    .erase()
}

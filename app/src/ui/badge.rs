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

/// The same without a word, for rows; the words stand beside it, or are read aloud.
#[component]
pub fn Dot(tone: Tone) -> impl IntoView {
    view! { <span class=format!("dot {}", tone.class())></span> }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_look_of_its_own() {
        let style = include_str!("../../../style/ui/badge.css");
        for tone in [Tone::Running, Tone::Waiting, Tone::Needed, Tone::Done, Tone::Failed] {
            for part in ["badge", "dot"] {
                let rule = format!(".{part}.{} {{", tone.class());
                assert!(style.contains(&rule), "{rule}");
            }
        }
    }
}

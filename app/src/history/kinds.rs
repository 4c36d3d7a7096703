//! The registry of what is listed. A new kind is a line here, a variant in `domain`, and an arm of the query.

use domain::{
    history::{Kind, Worded as _},
    id::{BattleId, ChatId, RunId, SessionId},
    page::Wanted,
};
use uuid::Uuid;

use crate::icon::Icon;

pub struct Look {
    pub icon: Icon,
    /// One of them, and many.
    pub names: (&'static str, &'static str),
    /// Where it is opened.
    pub path: fn(Uuid) -> String,
    /// What its parts are called, one and many.
    pub parts: (&'static str, &'static str),
}

pub fn look(kind: Kind) -> Look {
    match kind {
        Kind::Chat => Look {
            icon: Icon::Chat,
            names: ("Chat", "Chats"),
            path: |id| Wanted::Chat(ChatId(id)).path(),
            parts: ("message", "messages"),
        },
        Kind::Battle => Look {
            icon: Icon::Swords,
            names: ("Battle", "Battles"),
            path: |id| Wanted::Battle(BattleId(id)).path(),
            parts: ("contestant", "contestants"),
        },
        Kind::Run => Look {
            icon: Icon::Workflow,
            names: ("Run", "Runs"),
            path: |id| Wanted::Run(RunId(id)).path(),
            parts: ("agent", "agents"),
        },
        Kind::Session => Look {
            icon: Icon::PanelLeft,
            names: ("Session", "Sessions"),
            path: |id| Wanted::Session(SessionId(id)).path(),
            parts: ("chat", "chats"),
        },
    }
}

/// What can be chosen from, as `(value, name)`.
pub fn choices() -> Vec<(String, String)> {
    Kind::ALL.iter().map(|(kind, word)| (word.to_string(), look(*kind).names.1.to_owned())).collect()
}

/// `1 message`, `2 messages`.
pub fn count(count: u64, (one, many): (&str, &str)) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

//! What was put away: out of every list, readable where it is, found in the history, and brought back as it was.

use std::{fmt, str::FromStr};

use crate::{
    Rejected,
    id::{ChatId, ProjectId, SessionId},
    workspace::{Activity, ChatEntry, Lines},
};

/// What can be put away by itself. Battles and runs follow their session. Written `chat.<id>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Chat(ChatId),
    Session(SessionId),
    Project(ProjectId),
}

impl Of {
    pub fn word(self) -> &'static str {
        match self {
            Self::Chat(_) => "chat",
            Self::Session(_) => "session",
            Self::Project(_) => "project",
        }
    }
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = match self {
            Self::Chat(chat) => chat.0,
            Self::Session(session) => session.0,
            Self::Project(project) => project.0,
        };
        write!(f, "{}.{id}", self.word())
    }
}

impl FromStr for Of {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || "Only a chat, a session or a project can be put away.".to_owned();
        let (word, id) = text.split_once('.').ok_or_else(bad)?;
        let id = id.parse().map_err(|_| bad())?;
        match word {
            "chat" => Ok(Self::Chat(ChatId(id))),
            "session" => Ok(Self::Session(SessionId(id))),
            "project" => Ok(Self::Project(ProjectId(id))),
            _ => Err(bad()),
        }
    }
}

/// What of something and of all that it lies in is put away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Away {
    pub chat: bool,
    pub session: bool,
    pub project: bool,
}

impl Away {
    /// Nothing begins in what is put away.
    pub fn need_none(self) -> Result<(), Rejected> {
        let word = match self {
            Self { project: true, .. } => "project",
            Self { session: true, .. } => "session",
            Self { chat: true, .. } => "chat",
            Self { chat: false, session: false, project: false } => return Ok(()),
        };
        Err(Rejected::NotNow(format!("This {word} is archived. Bring it back first.")))
    }
}

/// Whether a chat may be put away: what is at work would go on where nobody sees it.
pub fn need_idle_chat(chat: &ChatEntry) -> Result<(), Rejected> {
    let words = match (chat.activity(), chat.turn) {
        (Activity::Idle, _) => return Ok(()),
        (Activity::NeedsPerson, None) => "Messages wait in this chat. Send or remove them first.",
        _ => "This chat is at work. Stop it first.",
    };
    Err(Rejected::NotNow(words.to_owned()))
}

pub fn stop_first(title: &str) -> Rejected {
    Rejected::NotNow(format!("“{title}” is at work. Stop it first."))
}

/// Whether all of these may be put away with what they belong to.
pub fn need_idle(lines: &Lines) -> Result<(), Rejected> {
    let chats = lines.chats.iter().map(|chat| (&chat.title, chat.activity()));
    let battles = lines.battles.iter().map(|battle| (&battle.title, battle.activity()));
    let runs = lines.runs.iter().map(|run| (&run.title, run.activity()));
    match chats.chain(battles).chain(runs).find(|(_, activity)| *activity != Activity::Idle) {
        None => Ok(()),
        Some((title, Activity::NeedsPerson)) => Err(Rejected::NotNow(format!(
            "“{title}” waits for you. Answer it, or stop it and empty its queue, first."
        ))),
        Some((title, _)) => Err(stop_first(title)),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        battle,
        id::{BattleId, MessageId, TaskId},
        workspace::{BattleEntry, Turn},
    };

    fn chat() -> ChatEntry {
        ChatEntry::new(ChatId(Uuid::nil()), SessionId(Uuid::nil()), "Sorting".into())
    }

    fn at_work(running: bool, asking: bool) -> ChatEntry {
        ChatEntry { turn: Some(Turn { task: TaskId(Uuid::nil()), running, asking }), ..chat() }
    }

    fn waiting() -> ChatEntry {
        ChatEntry { queued: vec![MessageId(Uuid::nil())], ..chat() }
    }

    #[test]
    fn a_chat_at_work_is_not_put_away() {
        let check = |chat: ChatEntry, refused: Option<&str>| {
            let words = need_idle_chat(&chat).err().map(|error| error.to_string());
            assert_eq!(words.as_deref(), refused);
        };
        check(chat(), None);
        for (running, asking) in [(false, false), (true, false), (true, true)] {
            check(at_work(running, asking), Some("This chat is at work. Stop it first."));
        }
        check(waiting(), Some("Messages wait in this chat. Send or remove them first."));
    }

    #[test]
    fn a_session_with_something_at_work_is_not_put_away() {
        let check = |lines: Lines, refused: Option<&str>| {
            let words = need_idle(&lines).err().map(|error| error.to_string());
            assert_eq!(words.as_deref(), refused);
        };
        let battle = |status| {
            let (id, session) = (BattleId(Uuid::nil()), SessionId(Uuid::nil()));
            vec![BattleEntry { id, session, title: "Which sort".into(), status, begun: true }]
        };
        check(
            Lines { chats: vec![chat()], battles: battle(battle::Status::Completed), ..Lines::default() },
            None,
        );
        let stop = Some("“Sorting” is at work. Stop it first.");
        check(Lines { chats: vec![chat(), at_work(false, false)], ..Lines::default() }, stop);
        let answer = Some("“Sorting” waits for you. Answer it, or stop it and empty its queue, first.");
        check(Lines { chats: vec![waiting()], ..Lines::default() }, answer);
        let battles = battle(battle::Status::Analysing);
        check(Lines { battles, ..Lines::default() }, Some("“Which sort” is at work. Stop it first."));
    }

    #[test]
    fn nothing_begins_in_what_is_put_away() {
        let check = |away: Away, refused: Option<&str>| {
            let words = away.need_none().err().map(|error| error.to_string());
            assert_eq!(words, refused.map(|what| format!("This {what} is archived. Bring it back first.")));
        };
        check(Away::default(), None);
        check(Away { chat: true, ..Away::default() }, Some("chat"));
        check(Away { chat: true, session: true, project: false }, Some("session"));
        check(Away { session: true, project: true, ..Away::default() }, Some("project"));
    }

    #[test]
    fn it_is_named_in_a_word_and_an_id() {
        for of in [
            Of::Chat(ChatId(Uuid::max())),
            Of::Session(SessionId(Uuid::nil())),
            Of::Project(ProjectId(Uuid::nil())),
        ] {
            assert_eq!(of.to_string().parse(), Ok(of));
        }
        for bad in ["", "chat", "chat.x", "battle.00000000-0000-0000-0000-000000000001"] {
            assert!(bad.parse::<Of>().is_err(), "{bad}");
        }
    }
}

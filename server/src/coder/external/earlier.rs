//! Whether an agent can go on from where it was, and what is said where it cannot.

use acp::Ended;
use domain::id::{TaskId, WorktreeId};
use store::worktrees::AgentSession;

/// What an agent knows from its earlier turns in a worktree.
pub(super) enum Earlier {
    None,
    GoesOn {
        worktree: WorktreeId,
        session: String,
    },
    /// It was here, and others spoke since, or another branch of the conversation is gone on with.
    MissedSome,
    /// It was here, and has nothing to go on from.
    Forgot,
}

impl Earlier {
    pub fn of(known: Option<AgentSession>, worktree: WorktreeId, after: Option<TaskId>) -> Self {
        match known {
            None => Self::None,
            Some(known) if known.session.is_empty() => Self::Forgot,
            Some(known) if known.after == after => Self::GoesOn { worktree, session: known.session },
            Some(_) => Self::MissedSome,
        }
    }

    pub fn session(&self) -> Option<String> {
        match self {
            Self::GoesOn { session, .. } => Some(session.clone()),
            Self::None | Self::MissedSome | Self::Forgot => None,
        }
    }

    /// What a person has to know of an agent that was here before and does not remember.
    pub fn began_anew(&self, title: &str, ended: &Ended) -> Option<String> {
        let why = match self {
            Self::None => return None,
            Self::GoesOn { .. } if ended.resumed => return None,
            Self::MissedSome => "has not heard all of this conversation",
            Self::GoesOn { .. } | Self::Forgot if ended.can_resume => {
                "could not go on from its earlier session"
            }
            Self::GoesOn { .. } | Self::Forgot => "cannot go on from an earlier session",
        };
        Some(format!("{title} {why}. It began anew, and was told what was said before."))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// Turns are numbered. `kept` is what the agent's last turn left: its session, and the turn that it is known after.
    /// `after` is the turn that the new one follows.
    #[track_caller]
    fn check(kept: Option<(&str, Option<u128>)>, after: Option<u128>, expected: &str) {
        let turn = |number: u128| TaskId(Uuid::from_u128(number));
        let known =
            kept.map(|(session, after)| AgentSession { session: session.into(), after: after.map(turn) });
        let found = match Earlier::of(known, WorktreeId(Uuid::nil()), after.map(turn)) {
            Earlier::None => "new".to_owned(),
            Earlier::GoesOn { session, .. } => format!("goes on in {session}"),
            Earlier::MissedSome => "missed some".to_owned(),
            Earlier::Forgot => "forgot".to_owned(),
        };
        assert_eq!(found, expected, "{kept:?} {after:?}");
    }

    #[test]
    fn a_session_is_gone_on_with_only_where_it_holds_the_conversation() {
        check(None, None, "new");
        check(None, Some(1), "new");
        check(Some(("s", Some(1))), Some(1), "goes on in s");
        // The first turn again, and the second: the session holds an answer that the conversation does not.
        check(Some(("s", Some(1))), None, "missed some");
        check(Some(("s", Some(2))), Some(1), "missed some");
        // Another branch is gone on with, or another agent spoke since.
        check(Some(("s", Some(3))), Some(2), "missed some");
        check(Some(("s", Some(1))), Some(2), "missed some");
        // A turn that resumed and was cut off left nothing to go on from.
        check(Some(("", Some(2))), Some(1), "forgot");
        check(Some(("", Some(2))), Some(2), "forgot");
        // A battle's worktree, which somebody goes on in for the first time.
        check(Some(("s", None)), None, "goes on in s");
    }
}

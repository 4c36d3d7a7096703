//! Lines that leave the lists together, and come back together.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{BattleEntry, ChatEntry, Project, RunEntry, Session, Workspace};
use crate::{
    archive::Of,
    id::{ChatId, ProjectId, SessionId},
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<Project>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<Session>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chats: Vec<ChatEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub battles: Vec<BattleEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunEntry>,
}

impl Lines {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Workspace {
    /// The outermost of what was put away that this belongs to.
    pub fn away(&self, session: SessionId, chat: Option<ChatId>) -> Option<Of> {
        let Lines { projects, sessions, .. } = &self.archived;
        let project = self.session(session)?.project;
        if projects.iter().any(|other| other.id == project) {
            return Some(Of::Project(project));
        }
        if sessions.iter().any(|other| other.id == session) {
            return Some(Of::Session(session));
        }
        chat.filter(|chat| self.chat(*chat).is_some_and(|chat| chat.archived)).map(Of::Chat)
    }

    /// What it is called, wherever it is.
    pub fn name(&self, of: Of) -> String {
        let name = match of {
            Of::Chat(chat) => self.chat(chat).map(|chat| &chat.title),
            Of::Session(session) => self.session(session).map(|session| &session.name),
            Of::Project(project) => self.project(project).map(|project| &project.name),
        };
        name.cloned().unwrap_or_default()
    }

    pub(super) fn archive_project(&mut self, project: ProjectId) {
        let own = self.sessions.iter().filter(|session| session.project == project);
        let own: Vec<_> = own.map(|session| session.id).collect();
        self.archive(Some(project), &own);
    }

    pub(super) fn archive(&mut self, project: Option<ProjectId>, sessions: &[SessionId]) {
        let to = &mut self.archived;
        take(&mut self.projects, &mut to.projects, |it| Some(it.id) == project);
        take(&mut self.sessions, &mut to.sessions, |it| sessions.contains(&it.id));
        take(&mut self.chats, &mut to.chats, |it| sessions.contains(&it.session));
        take(&mut self.battles, &mut to.battles, |it| sessions.contains(&it.session));
        take(&mut self.runs, &mut to.runs, |it| sessions.contains(&it.session));
    }

    pub(super) fn restore(&mut self, lines: &Lines) {
        let from = &mut self.archived;
        bring_back(&mut from.projects, &mut self.projects, &lines.projects);
        bring_back(&mut from.sessions, &mut self.sessions, &lines.sessions);
        bring_back(&mut from.chats, &mut self.chats, &lines.chats);
        bring_back(&mut from.battles, &mut self.battles, &lines.battles);
        bring_back(&mut from.runs, &mut self.runs, &lines.runs);
        // Older ones are not told of, and may be open here. What was put away by itself stays so.
        take(&mut from.chats, &mut self.chats, |chat| {
            !chat.archived && lines.sessions.iter().any(|session| session.id == chat.session)
        });
    }
}

pub(super) trait Line: Clone {
    fn id(&self) -> Uuid;
}

macro_rules! lines {
    ($($name:ident),+) => {$(
        impl Line for $name {
            fn id(&self) -> Uuid {
                self.id.0
            }
        }
    )+};
}

lines!(Project, Session, ChatEntry, BattleEntry, RunEntry);

/// Ids are in the order of time, so the order is the same live and after a reload. Looked for from the end, where what
/// is new belongs; sorting anew would cost the page a sort for each of the lists.
pub(super) fn put<T: Line>(lines: &mut Vec<T>, line: T) {
    let place = lines.iter().rposition(|other| other.id() <= line.id());
    match place.and_then(|place| lines.get_mut(place)).filter(|other| other.id() == line.id()) {
        Some(same) => *same = line,
        None => lines.insert(place.map_or(0, |last| last + 1), line),
    }
}

pub(super) fn take<T: Line>(from: &mut Vec<T>, to: &mut Vec<T>, is_meant: impl Fn(&T) -> bool) {
    from.retain(|line| {
        let is_meant = is_meant(line);
        if is_meant {
            put(to, line.clone());
        }
        !is_meant
    });
}

fn bring_back<T: Line>(from: &mut Vec<T>, to: &mut Vec<T>, lines: &[T]) {
    for line in lines {
        from.retain(|other| other.id() != line.id());
        put(to, line.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        feed::{Event, Fold as _},
        id::{ChatId, ProjectId},
    };

    fn id(n: u128) -> Uuid {
        Uuid::from_u128(n)
    }

    fn chat(n: u128, session: u128) -> ChatEntry {
        ChatEntry::new(ChatId(id(n)), SessionId(id(session)), format!("Chat {n}"))
    }

    fn session(n: u128, project: u128) -> Session {
        Session { id: SessionId(id(n)), project: ProjectId(id(project)), name: format!("Session {n}") }
    }

    fn project(n: u128) -> Project {
        Project { id: ProjectId(id(n)), name: format!("Project {n}"), path: format!("/{n}") }
    }

    fn before() -> Workspace {
        Workspace {
            projects: vec![project(1), project(2)],
            sessions: vec![session(3, 1), session(4, 1), session(5, 2)],
            chats: vec![chat(6, 3), chat(7, 4), chat(8, 5), chat(9, 3)],
            ..Workspace::default()
        }
    }

    /// The chats that are listed, and those that are known beside.
    #[track_caller]
    fn check(all: &Workspace, listed: &[u128], away: &[u128]) {
        let ids = |chats: &[ChatEntry]| chats.iter().map(|chat| chat.id.0.as_u128()).collect::<Vec<_>>();
        assert_eq!((ids(&all.chats), ids(&all.archived.chats)), (listed.to_vec(), away.to_vec()));
    }

    #[test]
    fn what_is_put_away_leaves_the_lists_and_comes_back_to_its_place() {
        let mut all = before();
        let first = chat(6, 3);
        all.apply(&Event::ChatArchived { chat: first.id });
        check(&all, &[7, 8, 9], &[6]);
        assert_eq!(
            all.chat(first.id).map(|chat| &chat.title),
            Some(&first.title),
            "it is still called something"
        );
        assert_eq!(all.away(first.session, Some(first.id)), Some(Of::Chat(first.id)));

        all.apply(&Event::SessionArchived { session: first.session });
        check(&all, &[7, 8], &[6, 9]);
        assert_eq!(all.away(first.session, Some(first.id)), Some(Of::Session(first.session)));
        all.apply(&Event::ProjectArchived { project: ProjectId(id(1)) });
        check(&all, &[8], &[6, 7, 9]);
        assert_eq!(all.away(first.session, None), Some(Of::Project(ProjectId(id(1)))));
        assert_eq!(
            (all.projects.as_slice(), all.sessions.as_slice()),
            (&[project(2)][..], &[session(5, 2)][..])
        );

        // The session was put away by itself, and stays so.
        let lines = Lines {
            projects: vec![project(1)],
            sessions: vec![session(4, 1)],
            chats: vec![chat(7, 4)],
            ..Lines::default()
        };
        all.apply(&Event::ProjectRestored { project: ProjectId(id(1)), lines: lines.into() });
        check(&all, &[7, 8], &[6, 9]);
        let lines = Lines { sessions: vec![session(3, 1)], chats: vec![chat(9, 3)], ..Lines::default() };
        all.apply(&Event::SessionRestored { session: first.session, lines: lines.into() });
        check(&all, &[7, 8, 9], &[6]);
        assert_eq!(all.away(first.session, Some(first.id)), Some(Of::Chat(first.id)));
        all.apply(&Event::ChatRestored { chat: first });
        assert_eq!(all, before());
    }

    #[test]
    fn what_a_page_never_knew_comes_back_with_the_event() {
        let mut all = Workspace::default();
        let lines = Lines {
            projects: vec![project(1)],
            sessions: vec![session(3, 1)],
            chats: vec![chat(6, 3), chat(9, 3)],
            ..Lines::default()
        };
        all.apply(&Event::ProjectRestored { project: ProjectId(id(1)), lines: lines.clone().into() });
        let Workspace { projects, sessions, chats, .. } = all;
        assert_eq!(Lines { projects, sessions, chats, ..Lines::default() }, lines);
    }

    #[test]
    fn an_older_chat_that_is_open_comes_back_with_its_session() {
        let mut all = before();
        let (of, open) = (SessionId(id(3)), chat(6, 3));
        all.apply(&Event::SessionArchived { session: of });
        let newest = Lines { sessions: vec![session(3, 1)], chats: vec![chat(9, 3)], ..Lines::default() };
        all.apply(&Event::SessionRestored { session: of, lines: newest.into() });
        check(&all, &[6, 7, 8, 9], &[]);
        assert_eq!(all.away(of, Some(open.id)), None);
    }

    #[test]
    fn a_name_changes_in_the_lists_and_out_of_them() {
        let mut all = before();
        all.apply(&Event::SessionArchived { session: SessionId(id(3)) });
        all.apply(&Event::SessionRenamed { session: SessionId(id(3)), name: "Old".into() });
        all.apply(&Event::ProjectRenamed { project: ProjectId(id(2)), name: "Shop".into() });
        assert_eq!(all.session(SessionId(id(3))).map(|session| session.name.as_str()), Some("Old"));
        assert_eq!(all.project(ProjectId(id(2))).map(|project| project.name.as_str()), Some("Shop"));
    }
}

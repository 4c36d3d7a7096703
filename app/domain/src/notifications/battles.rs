//! How battles end, for whoever looks elsewhere.

use super::{Channel, Choice, Kind, Notice, Notifier, Sight, line};
use crate::{
    battle::{Course, Stopped},
    feed::Event,
    id::BattleId,
    page::Wanted,
    workspace::Workspace,
};

/// More battles than this are not under way at once; the oldest is forgotten.
const UNDER_WAY_MAX: usize = 64;

impl Notifier {
    pub(super) fn hear_battle(
        &mut self,
        event: &Event,
        workspace: &Workspace,
        sight: &Sight,
        choice: &Choice,
    ) -> Vec<(Channel, Notice)> {
        match event {
            Event::BattleStarted { battle } => self.is_under_way(battle.id),
            Event::ContestantUpdated { battle, battle_status, .. } if !battle_status.is_over() => {
                self.is_under_way(*battle);
            }
            Event::JudgementMade { battle, .. } => self.is_under_way(*battle),
            Event::BattleUpdated { battle, course } if !course.status.is_over() => {
                self.is_under_way(*battle);
            }
            Event::BattleUpdated { battle, course } => {
                let was_under_way = self.under_way.contains(battle);
                self.under_way.retain(|known| known != battle);
                if was_under_way {
                    return ended(*battle, course, workspace, sight, choice);
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn is_under_way(&mut self, battle: BattleId) {
        if self.under_way.contains(&battle) {
            return;
        }
        if self.under_way.len() == UNDER_WAY_MAX {
            self.under_way.remove(0);
        }
        self.under_way.push(battle);
    }
}

fn ended(
    battle: BattleId,
    course: &Course,
    workspace: &Workspace,
    sight: &Sight,
    choice: &Choice,
) -> Vec<(Channel, Notice)> {
    let (kind, words) = match course.stopped {
        // Whoever stopped it knows.
        Some(Stopped::ByPerson) => return Vec::new(),
        Some(stopped @ Stopped::Spent) => (Kind::Failed, stopped.words()),
        None => (Kind::Done, "The battle is over."),
    };
    let Some(entry) = workspace.battle(battle) else { return Vec::new() };
    let notice = Notice {
        kind,
        tag: battle.to_string(),
        title: entry.title.clone(),
        body: line(words),
        leads_to: Wanted::Battle(battle),
    };
    notice.told(sight, choice)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        battle::{CheckState, Status},
        id::SessionId,
        layout::Content,
        workspace::BattleEntry,
    };

    const BATTLE: BattleId = BattleId(Uuid::from_u128(7));

    /// `running`, `analysing`, `over`, `stopped` and `spent` are what becomes of the battle, in this order.
    #[track_caller]
    fn check(events: &str, sees: &str, expected: &str) {
        let entry = BattleEntry {
            id: BATTLE,
            session: SessionId(Uuid::nil()),
            title: "Sorting".into(),
            status: Status::Running,
            begun: true,
        };
        let workspace = Workspace { battles: vec![entry], ..Default::default() };
        let is_away = sees.contains("away");
        let sight = Sight {
            is_visible: !is_away,
            is_focused: !is_away,
            in_front: sees.contains("front").then_some(Content::Battle(BATTLE)).into_iter().collect(),
        };
        let mut choice = Choice::default();
        choice.set(Kind::Done, Channel::Browser, true);
        let mut notifier = Notifier::default();
        let told: Vec<_> = events
            .split_whitespace()
            .flat_map(|word| {
                let (status, stopped) = match word {
                    "running" => (Status::Running, None),
                    "analysing" => (Status::Analysing, None),
                    "over" => (Status::Completed, None),
                    "stopped" => (Status::Cancelled, Some(Stopped::ByPerson)),
                    _ => (Status::Cancelled, Some(Stopped::Spent)),
                };
                let course = Course {
                    status,
                    stopped,
                    finished_at_ms: None,
                    winner: None,
                    judged: None,
                    base_check: CheckState::None,
                    opinion_tokens: 0,
                };
                let event = Event::BattleUpdated { battle: BATTLE, course: Box::new(course) };
                notifier.hear(&event, &workspace, &sight, &choice)
            })
            .map(|(channel, notice)| {
                assert_eq!((notice.title.as_str(), notice.leads_to), ("Sorting", Wanted::Battle(BATTLE)));
                format!("{channel:?}:{:?}", notice.kind)
            })
            .collect();
        assert_eq!(told.join(" "), expected, "{events}, {sees}");
    }

    #[test]
    fn how_a_battle_ended_is_told_once_and_only_as_news() {
        check("running analysing over", "elsewhere", "Page:Done");
        check("running over", "elsewhere away", "Page:Done Browser:Done");
        check("running over", "front", "");
        check("running over", "front away", "Page:Done Browser:Done");
        // A winner that is chosen later is another event of a battle that is over.
        check("over", "elsewhere", "");
        check("running over over over", "elsewhere", "Page:Done");
        // Compared again.
        check("running over analysing over", "elsewhere", "Page:Done Page:Done");
        check("running stopped", "elsewhere", "");
        check("running spent", "elsewhere away", "Page:Failed");
    }
}

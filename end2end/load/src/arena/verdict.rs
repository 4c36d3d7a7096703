//! What is left of the battles after the last kill, held against what was launched.

use std::{cmp::Ordering, collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result};
use domain::{
    battle::{Battle, Contestant, Standing, analysis::State, judge},
    feed::{Snapshot, StreamId},
    id::BattleId,
    page::Page,
    settings::WorktreeSettings,
    task::Task,
    transcript::Transcript,
    worktree,
};

use super::field::{Asked, Due};
use crate::{
    boocode::Browser,
    chaos::{faults::Faults, journal::Record},
};

/// What is said of work that was killed as often as it may be tried.
const GIVEN_UP: &str = "went away";

#[derive(Default)]
pub struct Verdict {
    battles: usize,
    stopped: usize,
    done: usize,
    verdicts: usize,
    retried: usize,
    /// Contestants and comparisons that were killed as often as they may be tried, and say so.
    given_up: usize,
    pub faults: Faults,
    /// By model server and prompt: in how many attempts it was put to a model.
    attempts: BTreeMap<(String, String), usize>,
}

impl Verdict {
    pub async fn look_at(&mut self, browser: &Browser, asked: &Asked) -> Result<()> {
        self.battles += 1;
        self.stopped += usize::from(asked.is_stopped);
        let path = format!("/battle/{}", asked.id);
        let snapshot: Snapshot<Page> =
            serde_json::from_str(&browser.call("page_snapshot", &[("path", path)]).await?)?;
        let Some(battle) = snapshot.state.battle(asked.id) else {
            self.faults.lost.push(format!("never launched: {}", asked.prompt));
            return Ok(());
        };
        if !battle.course.status.is_over() {
            self.faults.lost.push(format!("not over: {}", asked.prompt));
        }
        for (contestant, due) in battle.contestants.iter().zip(&asked.tries) {
            self.judge(asked, battle, contestant, *due);
            if let (Standing::Done, Some(task)) = (&contestant.standing, battle.task_of(contestant)) {
                self.check_result(browser, asked, &snapshot, contestant, task).await?;
            }
        }
        self.judge_comparison(asked, battle);
        Ok(())
    }

    fn judge(&mut self, asked: &Asked, battle: &Battle, contestant: &Contestant, due: usize) {
        let who = format!("{} {}", asked.prompt, contestant.model);
        match contestant.tries.len() {
            tries if tries > due => self.faults.double.push(format!("{who}: {tries} tries for {due}")),
            // One that was stopped before its turn never began.
            tries if tries < due && !asked.is_stopped => {
                self.faults.lost.push(format!("{who}: {tries} tries of {due}"));
            }
            _ => {}
        }
        let tasks: Vec<_> = contestant.tries.iter().filter_map(|task| battle.tasks.get(task)).collect();
        self.retried += tasks.iter().filter(|task| task.attempts().len() > 1).count();
        if matches!(asked.due, Due::Numbers(_)) {
            let key = (contestant.model.server.clone(), asked.prompt.clone());
            *self.attempts.entry(key).or_default() +=
                tasks.iter().map(|task| task.attempts().len()).sum::<usize>();
        }
        let used_up = tasks.last().is_some_and(|task| task.attempts().len() >= task.attempts_max as usize);
        match &contestant.standing {
            Standing::Done => self.done += 1,
            Standing::Void { .. } if used_up => self.given_up += 1,
            Standing::Cancelled { .. } if asked.is_stopped => {}
            Standing::Void { reason } | Standing::Failed { reason } => {
                self.faults.failed.push(format!("{who}: {reason}"));
            }
            standing => {
                let status = battle.course.status;
                self.faults.lost.push(format!("{who}: {standing:?} in a battle that is {status:?}"));
            }
        }
    }

    /// Every pair was judged once in each order and round, of the results that are there now.
    fn judge_comparison(&mut self, asked: &Asked, battle: &Battle) {
        let due = asked.is_judged && battle.survivors().count() > 1 && battle.course.stopped.is_none();
        let words = &asked.prompt;
        let tries: usize = asked.tries.iter().sum();
        if battle.analyses.len() > tries - asked.tries.len() + 1 {
            self.faults.double.push(format!("{words}: compared {} times", battle.analyses.len()));
        }
        let newest = battle.newest_analysis().filter(|analysis| analysis.is_of_now(battle));
        match newest.map(|analysis| (&analysis.state, analysis.entrants.len())) {
            Some((State::Done { verdict }, entrants)) => {
                self.verdicts += 1;
                let differing = verdict.pairs.iter().filter(|pair| !pair.same).count() as u32;
                let (made, wanted) = (verdict.judgements, 2 * differing * judge::rounds(entrants));
                if made != wanted {
                    self.faults.lost.push(format!("{words}: {made} of {wanted} judgements"));
                }
            }
            Some((State::Failed { reason }, _)) if reason.contains(GIVEN_UP) => self.given_up += 1,
            Some((State::Failed { reason }, _)) => self.faults.failed.push(format!("{words}: {reason}")),
            Some((State::Stopped, _)) if asked.is_stopped => {}
            None if !due => {}
            other => self.faults.lost.push(format!("{words}: its comparison is {other:?}")),
        }
    }

    async fn check_result(
        &mut self,
        browser: &Browser,
        asked: &Asked,
        snapshot: &Snapshot<Page>,
        contestant: &Contestant,
        task: &Task,
    ) -> Result<()> {
        let who = format!("{} {}", asked.prompt, contestant.model);
        match &asked.due {
            Due::Numbers(numbers) => {
                let due: String = (1..=*numbers).map(|number| format!("{number} ")).collect();
                let attempt = task.attempts().last().context("done without an attempt")?.0;
                let stream = StreamId { task: task.id, attempt };
                let text =
                    snapshot.streams.iter().find(|(other, _)| *other == stream).map(|it| it.1.as_str());
                let said = Transcript::read(text.unwrap_or_default()).text();
                if said.trim() != due.trim() {
                    self.faults.lost.push(format!("{who}: the whole answer is {said:?}"));
                }
            }
            Due::Line(line) => {
                let path = format!("/api/battles/{}/diff?contestant={}", asked.id, contestant.id);
                let patch = browser.get(&path).send().await?.text().await?;
                match patch.matches(&format!("+{line}\n")).count() {
                    1 => {}
                    0 => self.faults.lost.push(format!("{who}: its change is {patch:?}")),
                    _ => self.faults.double.push(format!("{who}: its change is {patch:?}")),
                }
            }
        }
        Ok(())
    }

    /// Nobody launched more than was asked for.
    pub async fn count(&mut self, browser: &Browser, launched: &[Asked]) -> Result<()> {
        let all = browser.script("/api/battles?limit=500", None).await?;
        let all = all.as_array().context("a list")?.len();
        if all > launched.len() && launched.len() < 500 {
            self.faults.double.push(format!("{all} battles for {} that were launched", launched.len()));
        }
        Ok(())
    }

    /// Nothing may have been put to a model more often than there are attempts to show for it. Judges are told what
    /// to do before they are asked; contestants are not.
    pub fn compare(&mut self, server: &str, records: &[Record]) {
        let mut requests: BTreeMap<&str, usize> = BTreeMap::new();
        let own = records.iter().filter(|record| record.system.is_empty());
        for record in own.filter(|record| record.last_user_message.contains("[[count")) {
            *requests.entry(&record.last_user_message).or_default() += 1;
            if record.finished_unix_ms.is_none() {
                self.faults.double.push(format!("still being answered: {}", record.last_user_message));
            }
        }
        for (prompt, count) in requests {
            let key = (server.to_owned(), prompt.to_owned());
            let attempts = self.attempts.get(&key).copied().unwrap_or_default();
            if count > attempts {
                let words = format!("{prompt}: {count} requests for {attempts} attempts at {server}");
                self.faults.double.push(words);
            }
        }
    }

    /// What the disk holds belongs to a battle, and no check left its tree.
    pub fn look_for_leftovers(&mut self, data: &Path, launched: &[Asked]) -> Result<()> {
        for (folder, is_owned) in [("checks", false), ("snapshots", true)] {
            for entry in fs::read_dir(data.join(folder))? {
                let name = entry?.file_name().to_string_lossy().into_owned();
                let owner = name.parse().ok().map(BattleId);
                let has_owner = is_owned && launched.iter().any(|asked| Some(asked.id) == owner);
                if !has_owner {
                    self.faults.orphans.push(format!("{folder}/{name}"));
                }
            }
        }
        Ok(())
    }

    /// Every worktree that a row tells of is on the disk, and there is no other. What a server that was killed had
    /// half made is in the trash, where a person is told of it.
    pub fn look_at_worktrees(&mut self, data: &Path, told: &WorktreeSettings) -> Result<()> {
        let of = |state| told.worktrees.iter().filter(|entry| entry.state == state).count();
        let due = [("worktrees", of(worktree::State::Ready)), ("trash", told.trashed())];
        for (folder, due) in due {
            let found = fs::read_dir(data.join(folder))?.count();
            let words = format!("{folder}: {found} on the disk, {due} known");
            match found.cmp(&due) {
                Ordering::Equal => {}
                Ordering::Less => self.faults.lost.push(words),
                Ordering::Greater => self.faults.orphans.push(words),
            }
        }
        Ok(())
    }

    pub fn summary(&self) -> String {
        let Self { battles, stopped, done, verdicts, given_up, retried, faults, .. } = self;
        let counted = faults.counted();
        format!(
            "{battles} battles, {stopped} with a stop · {done} results and {verdicts} verdicts, {retried} of all tries in \
             more than one attempt, {given_up} given up, {counted}"
        )
    }
}

#[cfg(test)]
mod tests {
    use domain::{page::Wanted, settings::WorktreeEntry, worktree::State};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_worktree_that_nobody_knows_is_found() {
        let check = |on_disk: [usize; 2], known: &[State], strays: usize, faults: [usize; 2]| {
            let data = tempfile::tempdir().unwrap();
            for (folder, count) in ["worktrees", "trash"].into_iter().zip(on_disk) {
                fs::create_dir(data.path().join(folder)).unwrap();
                for number in 0..count {
                    fs::create_dir(data.path().join(folder).join(number.to_string())).unwrap();
                }
            }
            let entry = |state: &State| WorktreeEntry {
                of: Wanted::Battle(BattleId(Uuid::nil())),
                title: String::new(),
                project: String::new(),
                state: *state,
                bytes: None,
            };
            let told = WorktreeSettings {
                worktrees: known.iter().map(entry).collect(),
                strays: vec![None; strays],
                recordings: Default::default(),
                budget: Default::default(),
            };
            let mut verdict = Verdict::default();
            verdict.look_at_worktrees(data.path(), &told).unwrap();
            let found = [verdict.faults.orphans.len(), verdict.faults.lost.len()];
            assert_eq!(found, faults, "{on_disk:?} {known:?} {strays}");
        };
        check([2, 2], &[State::Ready, State::Ready, State::Discarded], 1, [0, 0]);
        check([3, 0], &[State::Ready, State::Ready], 0, [1, 0]);
        check([1, 0], &[State::Ready, State::Ready], 0, [0, 1]);
        check([0, 1], &[State::Gone], 0, [1, 0]);
    }
}

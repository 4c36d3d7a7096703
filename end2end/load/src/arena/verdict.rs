//! What is left of the battles after the last kill, held against what was launched.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result};
use domain::{
    battle::{Battle, Contestant, Standing},
    feed::{Snapshot, StreamId},
    id::BattleId,
    page::Page,
    task::Task,
    transcript::Transcript,
};

use super::field::{Asked, Due};
use crate::{boocode::Browser, chaos::journal::Record};

const FAULTS_SHOWN_MAX: usize = 20;

#[derive(Default)]
pub struct Verdict {
    battles: usize,
    done: usize,
    retried: usize,
    /// Contestants that were killed as often as they may be tried, and say so.
    given_up: usize,
    failed: Vec<String>,
    lost: Vec<String>,
    double: Vec<String>,
    /// Processes and folders that outlived whom they belong to.
    pub orphans: Vec<String>,
    /// By model server and prompt: in how many attempts it was put to a model.
    attempts: BTreeMap<(String, String), usize>,
}

impl Verdict {
    pub async fn look_at(&mut self, browser: &Browser, asked: &Asked) -> Result<()> {
        self.battles += 1;
        let path = format!("/battle/{}", asked.id);
        let snapshot: Snapshot<Page> =
            serde_json::from_str(&browser.call("page_snapshot", &[("path", path)]).await?)?;
        let Some(battle) = snapshot.state.battle(asked.id) else {
            self.lost.push(format!("never launched: {}", asked.prompt));
            return Ok(());
        };
        if !battle.course.status.is_over() {
            self.lost.push(format!("not over: {}", asked.prompt));
        }
        for contestant in &battle.contestants {
            let task = battle.task_of(contestant).context("a contestant without a task")?;
            self.judge(asked, battle, contestant, task);
            if contestant.standing == Standing::Done {
                self.check_result(browser, asked, &snapshot, contestant, task).await?;
            }
        }
        Ok(())
    }

    fn judge(&mut self, asked: &Asked, battle: &Battle, contestant: &Contestant, task: &Task) {
        let who = format!("{} {}", asked.prompt, contestant.model);
        let attempts = task.attempts().len();
        self.retried += usize::from(attempts > 1);
        if contestant.tries.len() != 1 {
            self.double.push(format!("{who}: {} tasks", contestant.tries.len()));
        }
        if matches!(asked.due, Due::Numbers(_)) {
            let key = (contestant.model.server.clone(), asked.prompt.clone());
            *self.attempts.entry(key).or_default() += attempts;
        }
        match &contestant.standing {
            Standing::Done => self.done += 1,
            Standing::Void { .. } if attempts >= task.attempts_max as usize => self.given_up += 1,
            Standing::Void { reason } | Standing::Failed { reason } => {
                self.failed.push(format!("{who}: {reason}"))
            }
            standing => {
                self.lost.push(format!("{who}: {standing:?} in a battle that is {:?}", battle.course.status))
            }
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
                    self.lost.push(format!("{who}: the whole answer is {said:?}"));
                }
            }
            Due::Line(line) => {
                let path = format!("/api/battles/{}/diff?contestant={}", asked.id, contestant.id);
                let patch = browser.get(&path).send().await?.text().await?;
                match patch.matches(&format!("+{line}\n")).count() {
                    1 => {}
                    0 => self.lost.push(format!("{who}: its change is {patch:?}")),
                    _ => self.double.push(format!("{who}: its change is {patch:?}")),
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
            self.double.push(format!("{all} battles for {} that were launched", launched.len()));
        }
        Ok(())
    }

    /// Nothing may have been put to a model more often than there are attempts to show for it.
    pub fn compare(&mut self, server: &str, records: &[Record]) {
        let mut requests: BTreeMap<&str, usize> = BTreeMap::new();
        for record in records.iter().filter(|record| record.last_user_message.contains("[[count")) {
            *requests.entry(&record.last_user_message).or_default() += 1;
            if record.finished_unix_ms.is_none() {
                self.double.push(format!("still being answered: {}", record.last_user_message));
            }
        }
        for (prompt, count) in requests {
            let key = (server.to_owned(), prompt.to_owned());
            let attempts = self.attempts.get(&key).copied().unwrap_or_default();
            if count > attempts {
                self.double.push(format!("{prompt}: {count} requests for {attempts} attempts at {server}"));
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
                    self.orphans.push(format!("{folder}/{name}"));
                }
            }
        }
        Ok(())
    }

    pub fn is_clean(&self) -> bool {
        [&self.lost, &self.double, &self.failed, &self.orphans].iter().all(|faults| faults.is_empty())
    }

    pub fn summary(&self) -> String {
        let Self { battles, done, given_up, failed, retried, lost, double, orphans, .. } = self;
        format!(
            "{battles} battles · {done} results, {retried} of all contestants in more than one attempt, {given_up} \
             given up, {} failed with a reason · {} lost · {} double · {} orphans",
            failed.len(),
            lost.len(),
            double.len(),
            orphans.len()
        )
    }

    pub fn faults(&self) -> String {
        let kinds = [
            ("lost", &self.lost),
            ("double", &self.double),
            ("failed", &self.failed),
            ("orphan", &self.orphans),
        ];
        let faults = kinds
            .iter()
            .flat_map(|(kind, faults)| faults.iter().map(move |fault| format!("{kind}: {fault}")));
        faults.take(FAULTS_SHOWN_MAX).collect::<Vec<_>>().join("\n")
    }
}

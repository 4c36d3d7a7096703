//! The comparison of a battle's results: a digest of each, then judgements of every pair in both orders.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Battle, Contestant, Fresh, Judge, blind, digest,
    judge::{self, Answer, Better},
    room::Room,
    verdict::{Seen, Verdict, pairs},
};
use crate::{
    catalogue::ModelRef,
    id::{ContestantId, TaskId},
    output::Part,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Counted from 1; a later one never takes the place of an earlier one.
    pub number: u32,
    pub model: ModelRef,
    pub paid: bool,
    pub rounds: u32,
    /// Somebody asked for it, beyond what the battle does by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_person: bool,
    /// Who is compared, in an order that chance made.
    pub entrants: Vec<Entrant>,
    /// The checks that said something of them and of the project. None where nobody noted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<BTreeSet<TaskId>>,
    pub judgements: Vec<Judgement>,
    pub state: State,
    pub begun_at_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrant {
    pub contestant: ContestantId,
    /// The try whose result it is.
    pub result: TaskId,
    /// The task that describes it, and what that said. Those who made the same are described together.
    pub digest: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How much of the result that is of, where it was not read to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Part>,
}

/// One look at two entrants, by their places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub task: TaskId,
    pub first: usize,
    pub second: usize,
    /// What the two are called before the judge. Missing where the place among the entrants tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letters: Option<[char; 2]>,
    pub round: u32,
    /// How often it was asked.
    pub tries: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Digesting,
    Judging,
    Done {
        verdict: Verdict,
    },
    /// There is no verdict, and it can be tried again.
    Failed {
        reason: String,
    },
    Stopped,
}

/// What an analysis will take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    pub calls: u32,
    /// Where it is known how long a call takes.
    pub duration_ms: Option<u64>,
}

impl Estimate {
    /// Of results that take so many bytes each, where `parallel` calls go on side by side.
    pub fn of(results: &[u64], room: Room, call_ms: Option<u64>, parallel: u32) -> Self {
        let digests: u32 = results.iter().map(|bytes| digest::calls(*bytes, room)).sum();
        let calls = digests + judge::judgements(results.len());
        Self { calls, duration_ms: call_ms.map(|ms| ms * u64::from(calls.div_ceil(parallel.max(1)))) }
    }
}

impl Entrant {
    /// What the description leaves out, because nobody read it.
    pub fn unread(&self) -> Option<String> {
        let Part { bytes, of } = self.read?;
        let [read, all] = [bytes, of].map(|bytes| bytes.div_ceil(1024));
        Some(format!(
            "It is too long to be read to the end: {read} of {all} KB were read, and its middle is not described."
        ))
    }
}

impl Judgement {
    /// Of whom is shown first, and of whom is shown second.
    pub fn letters(&self) -> [char; 2] {
        self.letters.unwrap_or([blind::letter(self.first), blind::letter(self.second)])
    }
}

impl Analysis {
    /// Of those that have a result now. None for fewer than two.
    pub(super) fn new(
        battle: &Battle,
        judge: &Judge,
        by_person: bool,
        fresh: &mut Fresh,
        at_ms: i64,
    ) -> Option<Self> {
        let survivors: Vec<_> = battle.survivors().collect();
        if survivors.len() < 2 {
            return None;
        }
        let mut entrants: Vec<Entrant> = Vec::new();
        for place in blind::shuffled(survivors.len(), fresh.seed()) {
            let contestant = survivors[place];
            let made_the_same = |entrant: &&Entrant| {
                battle.contestant(entrant.contestant).is_ok_and(|other| other.made_the_same_as(contestant))
            };
            let same = entrants.iter().find(made_the_same).map(|entrant| entrant.digest);
            entrants.push(Entrant {
                contestant: contestant.id,
                result: *contestant.tries.last()?,
                digest: same.unwrap_or_else(|| fresh.task()),
                text: None,
                read: None,
            });
        }
        let analysis = Self {
            number: battle.analyses.len() as u32 + 1,
            model: judge.model.clone(),
            paid: judge.paid,
            rounds: judge::rounds(entrants.len()),
            by_person,
            entrants,
            checks: Some(battle.telling_checks()),
            judgements: Vec::new(),
            state: State::Digesting,
            begun_at_ms: at_ms,
            ended_at_ms: None,
        };
        // Nobody has to be asked who of those is better who all made the same.
        let has_nothing_to_judge = analysis.pairs_to_judge().is_empty();
        Some(if has_nothing_to_judge { analysis.judged(battle, at_ms) } else { analysis })
    }

    /// By their places. Two who made the same are equal without a judgement.
    fn pairs_to_judge(&self) -> Vec<(usize, usize)> {
        let places: Vec<usize> = (0..self.entrants.len()).collect();
        let differs =
            |(one, other): &(usize, usize)| self.entrants[*one].digest != self.entrants[*other].digest;
        pairs(&places).into_iter().filter(differs).collect()
    }

    /// The tasks that describe the results, each once.
    pub(super) fn digests(&self) -> BTreeSet<TaskId> {
        self.entrants.iter().map(|entrant| entrant.digest).collect()
    }

    /// Every pair in both orders, as often as there are rounds.
    pub(super) fn judgements_to_make(&self, fresh: &mut Fresh) -> Vec<Judgement> {
        let mut all = Vec::new();
        for round in 0..self.rounds {
            for (one, other) in self.pairs_to_judge() {
                let letters = Some(blind::deal(fresh.seed()));
                for (first, second) in [(one, other), (other, one)] {
                    let (task, tries, answer) = (fresh.task(), 1, None);
                    all.push(Judgement { task, first, second, letters, round, tries, answer });
                }
            }
        }
        all
    }

    /// With the verdict that its judgements give.
    pub(super) fn judged(self, battle: &Battle, at_ms: i64) -> Self {
        let who = |place: usize| self.entrants[place].contestant;
        let seen = |judgement: &Judgement| Seen {
            first: who(judgement.first),
            second: who(judgement.second),
            round: judgement.round,
            better: judgement.answer.as_ref().map(|answer| answer.better),
        };
        let entrants: Vec<_> = self.entrants.iter().map(|it| (it.contestant, it.digest)).collect();
        let seen: Vec<_> = self.judgements.iter().map(seen).collect();
        let mut verdict = Verdict::of(&entrants, &seen, |id| battle.letter(id).to_string());
        let changed_nothing =
            |(id, _): &(ContestantId, _)| battle.contestant(*id).is_ok_and(Contestant::changed_nothing);
        if verdict.judgements > 0 && entrants.iter().all(changed_nothing) {
            verdict.sentence.push_str(" Nobody changed anything: they were compared by what they said.");
        }
        Self { state: State::Done { verdict }, ended_at_ms: Some(at_ms), ..self }
    }

    /// Its tasks that count: those of digests, and of judgements as they were asked last.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> {
        self.digests().into_iter().chain(self.judgements.iter().map(|judgement| judgement.task))
    }

    pub fn is_over(&self) -> bool {
        !matches!(self.state, State::Digesting | State::Judging)
    }

    pub fn verdict(&self) -> Option<&Verdict> {
        match &self.state {
            State::Done { verdict } => Some(verdict),
            _ => None,
        }
    }

    /// How far it is: calls that were answered, out of all that are to be made.
    pub fn progress(&self) -> (u32, u32) {
        let described = self.entrants.iter().filter(|entrant| entrant.text.is_some());
        let described = described.map(|entrant| entrant.digest).collect::<BTreeSet<_>>().len();
        let judged = self.judgements.iter().filter(|judgement| judgement.answer.is_some()).count();
        let judgements = 2 * self.pairs_to_judge().len() as u32 * self.rounds;
        ((described + judged) as u32, self.digests().len() as u32 + judgements)
    }

    /// Who was compared, in roster order, each with its letter.
    pub fn in_roster_order(&self, battle: &Battle) -> Vec<(ContestantId, char)> {
        let takes_part = |id: ContestantId| self.entrants.iter().any(|it| it.contestant == id);
        let all = battle.contestants.iter().map(|it| it.id).filter(|id| takes_part(*id));
        all.map(|id| (id, battle.letter(id))).collect()
    }

    /// Each judgement that was made: what was compared and who was named, and why.
    pub fn judged_words(&self, letter: impl Fn(ContestantId) -> char) -> Vec<(String, &str)> {
        let who = |place: usize| letter(self.entrants[place].contestant);
        let words = |judgement: &Judgement, answer: &Answer| {
            let (first, second) = (who(judgement.first), who(judgement.second));
            let better = match answer.better {
                Better::First => first.to_string(),
                Better::Second => second.to_string(),
                Better::Neither => "neither".to_owned(),
            };
            let [one, other] = judgement.letters();
            format!("{first} as {one} before {second} as {other}, round {}: {better}", judgement.round + 1)
        };
        let made = self.judgements.iter().filter_map(|it| Some((it, it.answer.as_ref()?)));
        made.map(|(judgement, answer)| (words(judgement, answer), answer.reason.as_str())).collect()
    }

    /// Whether it compared the results that are there now, by what is known of them now.
    pub fn is_of_now(&self, battle: &Battle) -> bool {
        let has = |contestant: ContestantId, result: TaskId| {
            self.entrants.iter().any(|it| it.contestant == contestant && it.result == result)
        };
        self.checks.as_ref().is_none_or(|known| *known == battle.telling_checks())
            && battle.survivors().count() == self.entrants.len()
            && battle.survivors().all(|it| it.tries.last().is_some_and(|result| has(it.id, *result)))
    }
}

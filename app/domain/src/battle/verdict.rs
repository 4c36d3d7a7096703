//! Who won, and how sure that is: counted from single judgements, never asked of one.

use serde::{Deserialize, Serialize};

use super::judge::Better;
use crate::id::ContestantId;

/// One judgement of a pair, as it was shown. `None` where it has not been made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub first: ContestantId,
    pub second: ContestantId,
    pub round: u32,
    pub better: Option<Better>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whoever beats every other; nobody where there is no such one.
    pub winner: Option<ContestantId>,
    pub pairs: Vec<Pair>,
    /// How many judgements say what their pair's result says, out of how many.
    pub agreeing: u32,
    pub judgements: u32,
    /// All of it in one plain sentence.
    pub sentence: String,
}

/// How two compare.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub one: ContestantId,
    pub other: ContestantId,
    /// Rounds in which both orders named the same one.
    pub for_one: u32,
    pub for_other: u32,
    /// Rounds in which both orders called them equal.
    pub equal: u32,
    /// Rounds in which the answer changed with the order.
    pub flipped: u32,
    pub result: PairResult,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairResult {
    Won(ContestantId),
    Tied,
    /// The order in which they were shown decided, or the rounds did not agree. Not a tie.
    Unsettled,
}

impl Verdict {
    /// `names` tells how a contestant is called.
    pub fn of(entrants: &[ContestantId], seen: &[Seen], names: impl Fn(ContestantId) -> String) -> Self {
        let pairs: Vec<_> =
            pairs(entrants).into_iter().map(|(one, other)| Pair::of(one, other, seen)).collect();
        let beats_all = |candidate: &&ContestantId| {
            let own = pairs.iter().filter(|pair| pair.has(**candidate));
            own.clone().count() + 1 == entrants.len()
                && own.into_iter().all(|pair| pair.result == PairResult::Won(**candidate))
        };
        let winner = entrants.iter().find(beats_all).copied();
        let made: Vec<_> = seen.iter().filter(|seen| seen.better.is_some()).collect();
        let agreeing = made.iter().filter(|seen| pairs.iter().any(|pair| pair.agrees(seen))).count() as u32;
        let mut verdict =
            Self { winner, pairs, agreeing, judgements: made.len() as u32, sentence: String::new() };
        verdict.sentence = verdict.told(names);
        verdict
    }

    fn told(&self, names: impl Fn(ContestantId) -> String) -> String {
        let count =
            |wanted: fn(&PairResult) -> bool| self.pairs.iter().filter(|pair| wanted(&pair.result)).count();
        let unsettled = count(|result| *result == PairResult::Unsettled);
        let agree = format!("{} of {} judgements agree", self.agreeing, self.judgements);
        if let Some(winner) = self.winner {
            let over = if self.pairs.len() == 1 { "the other" } else { "every other" };
            return format!("{} wins over {over} in both orders; {agree}.", names(winner));
        }
        let why = match (unsettled, count(|result| *result == PairResult::Tied)) {
            (0, 0) => "each is beaten by another".to_owned(),
            (0, 1) => "two of them are equal".to_owned(),
            (0, ties) => format!("{ties} pairs are equal"),
            (1, _) if self.pairs.len() == 1 && self.pairs[0].flipped == 0 => {
                "the judge's answers do not agree from round to round".to_owned()
            }
            (1, _) if self.pairs.len() == 1 => {
                "the judge's answers do not hold when the order changes".to_owned()
            }
            (1, _) => "one pair is unsettled".to_owned(),
            (many, _) => format!("{many} of {} pairs are unsettled", self.pairs.len()),
        };
        format!("No winner: {why}; {agree}.")
    }

    /// How often `one` beat `other`, in rounds.
    pub fn wins(&self, one: ContestantId, other: ContestantId) -> Option<u32> {
        self.pairs.iter().find_map(|pair| match (pair.one == one, pair.other == other) {
            (true, true) => Some(pair.for_one),
            _ if pair.one == other && pair.other == one => Some(pair.for_other),
            _ => None,
        })
    }

    pub fn pair(&self, one: ContestantId, other: ContestantId) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.has(one) && pair.has(other))
    }
}

/// Every two of them once, in order.
pub fn pairs<T: Copy>(all: &[T]) -> Vec<(T, T)> {
    let rest = |at: usize| all.iter().skip(at + 1);
    all.iter().enumerate().flat_map(|(at, one)| rest(at).map(move |other| (*one, *other))).collect()
}

/// What one round says of a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    For(ContestantId),
    Equal,
    Flipped,
}

impl Pair {
    fn of(one: ContestantId, other: ContestantId, seen: &[Seen]) -> Self {
        let said = |first: ContestantId, second: ContestantId, round: u32| {
            let judged =
                seen.iter().find(|seen| (seen.first, seen.second, seen.round) == (first, second, round))?;
            judged.named()
        };
        let rounds = seen.iter().map(|seen| seen.round + 1).max().unwrap_or_default();
        let results: Vec<_> = (0..rounds)
            .map(|round| match (said(one, other, round), said(other, one, round)) {
                (Some(Some(a)), Some(Some(b))) if a == b => Round::For(a),
                (Some(None), Some(None)) => Round::Equal,
                _ => Round::Flipped,
            })
            .collect();
        let count = |wanted: Round| results.iter().filter(|round| **round == wanted).count() as u32;
        let (for_one, for_other) = (count(Round::For(one)), count(Round::For(other)));
        let (equal, flipped) = (count(Round::Equal), count(Round::Flipped));
        // More than half of all rounds: what is left may then say what it likes.
        let is_most = |count: u32| count * 2 > rounds;
        let result = match () {
            () if is_most(for_one) => PairResult::Won(one),
            () if is_most(for_other) => PairResult::Won(other),
            () if is_most(equal) => PairResult::Tied,
            () => PairResult::Unsettled,
        };
        Self { one, other, for_one, for_other, equal, flipped, result }
    }

    pub fn has(&self, id: ContestantId) -> bool {
        self.one == id || self.other == id
    }

    fn agrees(&self, seen: &Seen) -> bool {
        let is_own = self.has(seen.first) && self.has(seen.second);
        is_own
            && match self.result {
                PairResult::Won(winner) => seen.named() == Some(Some(winner)),
                PairResult::Tied => seen.named() == Some(None),
                PairResult::Unsettled => false,
            }
    }
}

impl Seen {
    /// Whom it names: nobody where it calls them equal.
    fn named(&self) -> Option<Option<ContestantId>> {
        Some(match self.better? {
            Better::First => Some(self.first),
            Better::Second => Some(self.second),
            Better::Neither => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(letter: char) -> ContestantId {
        ContestantId(uuid::Uuid::from_u128(letter as u128))
    }

    fn letter(id: ContestantId) -> String {
        char::from_u32(id.0.as_u128() as u32).unwrap().to_string()
    }

    /// Each word is a pair in both orders of one round: `AB:AA` says A both times, `AB:AB` flips, `AB:==` is equal
    /// and in `AB:A?` the second was never made.
    fn check(entrants: &str, words: &str, expected: &str) -> Verdict {
        let entrants: Vec<_> = entrants.chars().map(id).collect();
        let mut rounds = std::collections::BTreeMap::new();
        let mut seen = Vec::new();
        for word in words.split_whitespace() {
            let letters: Vec<_> = word.chars().collect();
            let (one, other) = (letters[0], letters[1]);
            let round = rounds.entry((one, other)).or_insert(0);
            for (first, second, said) in [(one, other, letters[3]), (other, one, letters[4])] {
                let better = match said {
                    '?' => None,
                    '=' => Some(Better::Neither),
                    said if said == first => Some(Better::First),
                    _ => Some(Better::Second),
                };
                seen.push(Seen { first: id(first), second: id(second), round: *round, better });
            }
            *round += 1;
        }
        let verdict = Verdict::of(&entrants, &seen, letter);
        assert_eq!(verdict.sentence, expected, "{words}");
        verdict
    }

    #[test]
    fn whoever_beats_every_other_wins() {
        check("AB", "AB:AA AB:AA AB:AA", "A wins over the other in both orders; 6 of 6 judgements agree.");
        check("AB", "AB:AA AB:AA AB:BB", "A wins over the other in both orders; 4 of 6 judgements agree.");
        check("ABC", "AB:BB AC:AA BC:BB", "B wins over every other in both orders; 6 of 6 judgements agree.");
        check("ABC", "AB:AA AC:AA BC:BC", "A wins over every other in both orders; 4 of 6 judgements agree.");
    }

    #[test]
    fn otherwise_nobody_does_and_it_is_said_why() {
        let flips =
            "No winner: the judge's answers do not hold when the order changes; 0 of 6 judgements agree.";
        // A judge that always takes the first one it is shown.
        check("AB", "AB:AB AB:AB AB:AB", flips);
        check("AB", "AB:AA AB:AB AB:BB", flips);
        let differs =
            "No winner: the judge's answers do not agree from round to round; 0 of 6 judgements agree.";
        check("AB", "AB:AA AB:BB AB:==", differs);
        check("AB", "AB:== AB:== AB:AA", "No winner: two of them are equal; 4 of 6 judgements agree.");
        check("ABC", "AB:AA BC:BB AC:CC", "No winner: each is beaten by another; 6 of 6 judgements agree.");
        check("ABC", "AB:AA BC:BB AC:AC", "No winner: one pair is unsettled; 4 of 6 judgements agree.");
        check("ABC", "AB:AB BC:BC AC:AA", "No winner: 2 of 3 pairs are unsettled; 2 of 6 judgements agree.");
        check("ABC", "AB:== BC:== AC:AA", "No winner: 2 pairs are equal; 6 of 6 judgements agree.");
        // What was never judged settles nothing.
        let half = check(
            "AB",
            "AB:A?",
            "No winner: the judge's answers do not hold when the order changes; 0 of 1 judgements agree.",
        );
        assert_eq!(half.judgements, 1);
    }

    #[test]
    fn wins_are_told_of_each_against_each() {
        let verdict = check(
            "ABC",
            "AB:AA AB:AA AB:AB AC:CC AC:CC AC:CC BC:CC BC:CC BC:==",
            "C wins over every other in both orders; 15 of 18 judgements agree.",
        );
        let wins = |one, other| verdict.wins(id(one), id(other)).unwrap();
        assert_eq!((wins('A', 'B'), wins('B', 'A'), wins('C', 'B'), wins('A', 'C')), (2, 0, 2, 0));
        assert_eq!(verdict.pair(id('B'), id('A')).unwrap().flipped, 1);
        assert_eq!(verdict.wins(id('A'), id('A')), None);
    }
}

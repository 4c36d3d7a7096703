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
    /// They made the same, so nobody was asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same: bool,
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

/// How one of a pair stands against the other, with the rounds that it won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Against {
    pub wins: u32,
    /// The name of it, for what styles it.
    pub word: &'static str,
    pub mark: &'static str,
    pub words: &'static str,
}

/// What the marks mean, where there is no room for more.
pub const MARKS: &str = "✓ is settled in its favour, = is equal, and ? is unsettled.";

impl Verdict {
    /// Those who made the same have the same mark. `names` tells how a contestant is called.
    pub fn of<M: Copy + PartialEq>(
        entrants: &[(ContestantId, M)],
        seen: &[Seen],
        names: impl Fn(ContestantId) -> String,
    ) -> Self {
        let pair = |((one, mark), (other, its_mark)): ((ContestantId, M), (ContestantId, M))| {
            if mark == its_mark { Pair::of_same(one, other) } else { Pair::of(one, other, seen) }
        };
        let pairs: Vec<_> = pairs(entrants).into_iter().map(pair).collect();
        let beats_all = |candidate: &ContestantId| {
            let own = pairs.iter().filter(|pair| pair.has(*candidate));
            own.clone().count() + 1 == entrants.len()
                && own.into_iter().all(|pair| pair.result == PairResult::Won(*candidate))
        };
        let winner = entrants.iter().map(|(id, _)| *id).find(beats_all);
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
        if self.pairs.iter().all(|pair| pair.same) {
            let who = if self.pairs.len() == 1 { "both" } else { "all of them" };
            return format!("No winner: {who} made the same, so nobody was asked.");
        }
        let agree = format!("{} of {} judgements agree", self.agreeing, self.judgements);
        if let Some(winner) = self.winner {
            let over = if self.pairs.len() == 1 { "the other" } else { "every other" };
            return format!("{} wins over {over} in both orders; {agree}.", names(winner));
        }
        let why = match (unsettled, count(|result| *result == PairResult::Tied)) {
            (0, 0) => "each is beaten by another".to_owned(),
            (0, 1) if self.pairs.iter().any(|pair| pair.same) => "two of them made the same".to_owned(),
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

    /// How `one` stands against `other`; nothing of one against itself.
    pub fn against(&self, one: ContestantId, other: ContestantId) -> Option<Against> {
        let pair = self.pair(one, other).filter(|_| one != other)?;
        let (word, mark, words) = match pair.result {
            PairResult::Won(winner) if winner == one => ("won", "✓", "settled in its favour"),
            PairResult::Won(_) => ("lost", "", "settled against it"),
            PairResult::Tied if pair.same => ("tied", "=", "both made the same, so nobody was asked"),
            PairResult::Tied => ("tied", "=", "both are equal"),
            PairResult::Unsettled if pair.flipped == 0 => {
                ("unsettled", "?", "unsettled: the answers did not agree from round to round")
            }
            PairResult::Unsettled => {
                ("unsettled", "?", "unsettled: the answers did not hold when the order changed")
            }
        };
        let wins = if pair.one == one { pair.for_one } else { pair.for_other };
        Some(Against { wins, word, mark, words })
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
        Self { one, other, for_one, for_other, equal, flipped, same: false, result }
    }

    fn of_same(one: ContestantId, other: ContestantId) -> Self {
        let (for_one, for_other, equal, flipped) = (0, 0, 0, 0);
        Self { one, other, for_one, for_other, equal, flipped, same: true, result: PairResult::Tied }
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
    /// and in `AB:A?` the second was never made. Who stands before a `=` made the same as who stands behind it.
    fn check(entrants: &str, words: &str, expected: &str) -> Verdict {
        let mut mark = 0;
        let entrants = entrants.chars().scan(false, |is_same, c| {
            let is_mark = c == '=';
            mark += u32::from(!is_mark && !*is_same);
            *is_same = is_mark;
            Some((c, mark))
        });
        let entrants: Vec<_> = entrants.filter(|(c, _)| *c != '=').map(|(c, mark)| (id(c), mark)).collect();
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
    fn nobody_is_asked_about_what_is_the_same() {
        check("A=B", "", "No winner: both made the same, so nobody was asked.");
        check("A=B=C", "", "No winner: all of them made the same, so nobody was asked.");
        // Two who both beat the third share what nobody can win alone.
        let shared = "No winner: two of them made the same; 4 of 4 judgements agree.";
        let verdict = check("A=BC", "AC:AA BC:BB", shared);
        assert_eq!(verdict.pair(id('A'), id('B')).map(|pair| pair.result), Some(PairResult::Tied));
        // Who beats them wins all the same.
        check("A=BC", "AC:CC BC:CC", "C wins over every other in both orders; 4 of 4 judgements agree.");
        check("A=BC", "AC:CC BC:BC", "No winner: one pair is unsettled; 2 of 4 judgements agree.");
        check("A=BC", "AC:== BC:==", "No winner: 3 pairs are equal; 4 of 4 judgements agree.");
    }

    #[test]
    fn wins_are_told_of_each_against_each() {
        let verdict = check(
            "ABC",
            "AB:AA AB:AA AB:AB AC:CC AC:CC AC:CC BC:CC BC:CC BC:==",
            "C wins over every other in both orders; 15 of 18 judgements agree.",
        );
        let told = |verdict: &Verdict, one, other| {
            let told =
                verdict.against(id(one), id(other)).map(|it| format!("{} {} {}", it.wins, it.mark, it.word));
            told.unwrap_or_default()
        };
        assert_eq!([told(&verdict, 'A', 'B'), told(&verdict, 'B', 'A')], ["2 ✓ won", "0  lost"]);
        assert_eq!([told(&verdict, 'C', 'B'), told(&verdict, 'A', 'A')], ["2 ✓ won", ""]);
        assert_eq!(verdict.pair(id('B'), id('A')).unwrap().flipped, 1);
        // What is equal is told from what is not settled.
        let verdict =
            check("A=BC", "AC:AC BC:==", "No winner: one pair is unsettled; 2 of 4 judgements agree.");
        let all = [('A', 'B'), ('A', 'C'), ('B', 'C')].map(|(one, other)| told(&verdict, one, other));
        assert_eq!(all, ["0 = tied", "0 ? unsettled", "0 = tied"]);
    }
}

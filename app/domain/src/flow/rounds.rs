//! Flows that look more than once, and when another look is worth it.

use super::Band;

#[derive(Debug)]
pub struct Rounds {
    /// How many there may be in the small, medium and large band.
    pub most: [u32; 3],
    /// Who is asked again; nobody named: everybody who was asked.
    pub again: &'static [&'static str],
    pub rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A round that brings nothing new is the last.
    NothingNew,
    /// At most so many new findings, and so many grave ones among them, end it.
    Calm { new_max: usize, major_max: usize },
    /// One more look only if so many new ones came up, or such a share of what was known was contradicted.
    Doubt { new_min: usize, contradicted_percent_min: usize },
}

/// What a round brought, counted by code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub new: usize,
    /// The gravest among the new ones.
    pub major: usize,
    /// What was there to contradict, and how much of it was.
    pub known: usize,
    pub contradicted: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Again,
    /// Why not, in words that fit after "no further round:".
    Enough(String),
}

impl Rounds {
    pub const ONE: Self = Self { most: [1, 1, 1], again: &[], rule: Rule::NothingNew };

    pub fn most(&self, band: Band) -> u32 {
        self.most[band as usize]
    }

    /// Whether another round follows after `round`, counted from 1. Without a tally nothing is known that would speak
    /// for one.
    pub fn after(&self, band: Band, round: u32, tally: Option<Tally>) -> Next {
        if round >= self.most(band) {
            return Next::Enough(match self.most(band) {
                1 => "the flow has one round".to_owned(),
                most => format!("{most} rounds are the most"),
            });
        }
        match tally {
            None => Next::Enough("the round could not be counted".to_owned()),
            Some(tally) => self.rule.after(tally),
        }
    }
}

impl Rule {
    fn after(self, tally: Tally) -> Next {
        let Tally { new, major, known, contradicted } = tally;
        match self {
            Self::NothingNew if new == 0 => Next::Enough("the round brought nothing new".to_owned()),
            Self::Calm { new_max, major_max } if new <= new_max && major <= major_max => {
                Next::Enough(format!("the round brought {new} new findings, {major} of them major"))
            }
            // Compared as whole numbers: 1 of 5 is exactly 20 %.
            Self::Doubt { new_min, contradicted_percent_min }
                if new < new_min && contradicted * 100 < contradicted_percent_min * known.max(1) =>
            {
                Next::Enough(format!("{new} new ones, and {contradicted} of {known} contradicted"))
            }
            _ => Next::Again,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Rule = Rule::Calm { new_max: 2, major_max: 0 };
    const DOUBT: Rule = Rule::Doubt { new_min: 3, contradicted_percent_min: 20 };

    #[test]
    fn each_rule_has_its_border() {
        let check = |rule: Rule, (new, major, known, contradicted), again: bool| {
            let next = rule.after(Tally { new, major, known, contradicted });
            assert_eq!(next == Next::Again, again, "{rule:?}: {next:?}");
        };
        check(Rule::NothingNew, (0, 0, 9, 9), false);
        check(Rule::NothingNew, (1, 0, 0, 0), true);
        check(CALM, (2, 0, 0, 0), false);
        check(CALM, (3, 0, 0, 0), true);
        check(CALM, (1, 1, 0, 0), true);
        check(CALM, (0, 0, 0, 0), false);
        check(DOUBT, (2, 0, 10, 1), false);
        check(DOUBT, (3, 0, 10, 0), true);
        check(DOUBT, (0, 0, 5, 1), true);
        check(DOUBT, (0, 0, 6, 1), false);
        check(DOUBT, (0, 0, 0, 0), false);
    }

    #[test]
    fn rounds_end_at_the_bands_most() {
        let rounds = Rounds { most: [1, 2, 3], again: &[], rule: CALM };
        let busy = Some(Tally { new: 9, major: 9, ..Tally::default() });
        let check = |band, round, tally, words: Option<&str>| {
            let expected = words.map_or(Next::Again, |words| Next::Enough(words.to_owned()));
            assert_eq!(rounds.after(band, round, tally), expected);
        };
        check(Band::Small, 1, busy, Some("the flow has one round"));
        check(Band::Medium, 1, busy, None);
        check(Band::Medium, 2, busy, Some("2 rounds are the most"));
        check(Band::Large, 2, busy, None);
        check(Band::Large, 3, busy, Some("3 rounds are the most"));
        check(Band::Large, 1, None, Some("the round could not be counted"));
        let calm = Some(Tally { new: 1, ..Tally::default() });
        check(Band::Large, 1, calm, Some("the round brought 1 new findings, 0 of them major"));
    }
}

//! How a flow is done, as data: who is asked what, in which order, and what the report holds.

use super::{Band, Role, Signal, rounds::Rounds};

#[derive(Debug)]
pub struct Method {
    pub angles: &'static [Angle],
    /// Specialists of whom some are taken, by what the project shows.
    pub pool: Option<Pool>,
    pub shape: Shape,
    pub rounds: Rounds,
    /// What everybody who works on this flow is told besides their own task.
    pub rules: &'static str,
    /// What a finding of a worker holds.
    pub findings: Form,
    /// The numbered entries of the report itself, where it has some.
    pub items: Option<Form>,
    /// What the gate attacks here in particular.
    pub gate: &'static str,
    /// The sections of the report, in their order.
    pub spine: &'static [Section],
}

/// One bounded task.
#[derive(Clone, Copy, Debug)]
pub struct Angle {
    pub id: &'static str,
    pub role: Role,
    pub label: &'static str,
    pub task: &'static str,
    /// The smallest band that it runs in.
    pub band: Band,
    /// Only where this signal is present.
    pub signal: Option<Signal>,
    /// From this band on, whether the signal is present or not.
    pub always_from: Option<Band>,
    /// Angles whose answers it is given.
    pub after: &'static [&'static str],
}

/// In the order in which they are wanted. One without a signal is always willing.
#[derive(Debug)]
pub struct Pool {
    pub members: &'static [Angle],
    /// How many are taken in the small, medium and large band.
    pub most: [usize; 3],
}

#[derive(Debug)]
pub enum Shape {
    /// The answers are folded, put together by each of these in turn, and attacked as a whole.
    Folded(&'static [Synthesis]),
    /// Each angle has a validator of its own, and all of those work side by side.
    PerAngle,
}

/// Who makes one whole of what the angles found.
#[derive(Debug)]
pub struct Synthesis {
    pub id: &'static str,
    pub role: Role,
    pub label: &'static str,
    pub task: &'static str,
    /// The titles of the sections it writes; none: all that nobody else does.
    pub writes: &'static [&'static str],
}

/// What an entry holds besides what every entry has.
#[derive(Debug)]
pub struct Form {
    /// What ids begin with; workers use the letters of their role.
    pub letters: &'static str,
    pub name: &'static str,
    /// The gravest first.
    pub levels: &'static [&'static str],
    pub kinds: &'static [&'static str],
    pub fields: &'static [Field],
}

#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    pub about: &'static str,
}

#[derive(Debug)]
pub struct Section {
    pub title: &'static str,
    pub part: Part,
}

/// Where a section comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Written by an agent; with what it should say.
    Prose(&'static str),
    /// As prose, and what the report comes to: the gate can overturn it. Each rests on those above it.
    Conclusion {
        about: &'static str,
        /// What is said in its place once it is refuted.
        refuted: &'static str,
    },
    /// What the gate tried.
    Validation,
    /// All findings of the workers.
    Findings,
    /// The findings of one level.
    Level(&'static str),
    /// The findings of one kind.
    OfKind(&'static str),
    /// A section for each angle, with its findings.
    Angles,
    /// The numbered entries of the report itself.
    Items,
    /// How many findings there are, by angle and level.
    FindingCounts,
    /// How many entries there are, by kind and level.
    ItemCounts,
    /// How sure each entry is.
    ItemConfidence,
    /// Security findings at a glance.
    Security,
    /// What workers found to be good.
    Good,
    /// What the code concludes from the findings of a review.
    ReviewVerdict,
    Deferred,
    Questions,
    Sources,
    /// What each round brought.
    Rounds,
    /// The one next step, out of [`NEXT_STEPS`].
    NextStep,
}

/// What may follow after an issue was looked at.
pub const NEXT_STEPS: [&str; 6] =
    ["clarify", "investigate", "research", "plan-a-feature", "plan-implementation", "answer"];

/// What a finding weighs where a flow has no words of its own.
pub const LEVELS: &[&str] = &["high", "medium", "low"];

impl Method {
    pub fn synthesis(&self) -> &'static [Synthesis] {
        match self.shape {
            Shape::Folded(synthesis) => synthesis,
            Shape::PerAngle => &[],
        }
    }

    /// All that may be asked, whichever band it is.
    pub fn all_angles(&self) -> impl Iterator<Item = &'static Angle> {
        self.angles.iter().chain(self.pool.iter().flat_map(|pool| pool.members))
    }

    pub fn angle(&self, id: &str) -> Option<&'static Angle> {
        self.all_angles().find(|angle| angle.id == id)
    }

    /// The sections that an agent writes, each with what it should say.
    pub fn written_sections(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.spine.iter().filter_map(|section| match section.part {
            Part::Prose(about) | Part::Conclusion { about, .. } => Some((section.title, about)),
            _ => None,
        })
    }

    /// What the report comes to, in the order of the spine: titles, each with what is said once it is refuted.
    pub fn conclusions(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.spine.iter().filter_map(|section| match section.part {
            Part::Conclusion { refuted, .. } => Some((section.title, refuted)),
            Part::NextStep => Some((section.title, "No clear next step.")),
            _ => None,
        })
    }

    pub fn has(&self, part: Part) -> bool {
        self.spine.iter().any(|section| section.part == part)
    }
}

impl Form {
    pub const FINDINGS: Self = Self { letters: "", name: "finding", levels: LEVELS, kinds: &[], fields: &[] };

    pub const DECISIONS: Self = Self {
        letters: "D",
        name: "decision",
        levels: &[],
        kinds: &[],
        fields: &[field("why", "the reason, by id"), field("instead", "what was not chosen, and why")],
    };

    /// The level that these words mean, or none that is known here.
    pub fn level(&self, words: &str) -> Option<&'static str> {
        known(self.levels, words)
    }

    pub fn kind(&self, words: &str) -> Option<&'static str> {
        known(self.kinds, words)
    }

    /// Where a level stands; what has none comes last.
    pub fn rank(&self, words: &str) -> usize {
        let level = self.level(words);
        self.levels.iter().position(|known| Some(*known) == level).unwrap_or(self.levels.len())
    }
}

/// Weak models write "CRITICAL!", "Crit" or "med": the first word that begins like one of `names`, or the other way
/// round, is meant.
fn known(names: &'static [&'static str], words: &str) -> Option<&'static str> {
    let word = words.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty())?;
    let word = word.to_ascii_lowercase();
    let alike = |name: &&&str| name.starts_with(&word) || word.starts_with(**name);
    let exact = names.iter().find(|name| **name == word);
    exact.or_else(|| names.iter().filter(|_| word.len() >= 3).find(alike)).copied()
}

pub(super) const fn angle(id: &'static str, role: Role, label: &'static str, task: &'static str) -> Angle {
    Angle { id, role, label, task, band: Band::Small, signal: None, always_from: None, after: &[] }
}

impl Angle {
    pub(super) const fn medium(mut self) -> Self {
        self.band = Band::Medium;
        self
    }

    pub(super) const fn large(mut self) -> Self {
        self.band = Band::Large;
        self
    }

    pub(super) const fn on(mut self, signal: Signal) -> Self {
        self.signal = Some(signal);
        self
    }

    pub(super) const fn always_from(mut self, band: Band) -> Self {
        self.always_from = Some(band);
        self
    }

    pub(super) const fn after(mut self, angles: &'static [&'static str]) -> Self {
        self.after = angles;
        self
    }
}

pub(super) const fn synthesis(
    id: &'static str,
    role: Role,
    label: &'static str,
    task: &'static str,
) -> Synthesis {
    Synthesis { id, role, label, task, writes: &[] }
}

pub(super) const fn section(title: &'static str, part: Part) -> Section {
    Section { title, part }
}

pub(super) const fn prose(title: &'static str, about: &'static str) -> Section {
    Section { title, part: Part::Prose(about) }
}

pub(super) const fn conclusion(title: &'static str, about: &'static str, refuted: &'static str) -> Section {
    Section { title, part: Part::Conclusion { about, refuted } }
}

pub(super) const fn field(name: &'static str, about: &'static str) -> Field {
    Field { name, about }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_understood_however_they_are_written() {
        const REVIEW: Form = Form { levels: &["critical", "warning", "suggestion"], ..Form::FINDINGS };
        const TESTS: Form = Form { levels: &["crit", "high", "med", "low"], ..Form::FINDINGS };
        let check =
            |form: &Form, words: &str, level: Option<&str>| assert_eq!(form.level(words), level, "{words}");
        check(&REVIEW, "critical", Some("critical"));
        check(&REVIEW, "**CRITICAL**", Some("critical"));
        check(&REVIEW, "Crit", Some("critical"));
        check(&REVIEW, "Warnings", Some("warning"));
        check(&REVIEW, "warn", Some("warning"));
        check(&REVIEW, "", None);
        check(&REVIEW, "s", None);
        check(&REVIEW, "blocker", None);
        check(&TESTS, "Critical", Some("crit"));
        check(&TESTS, "MEDIUM", Some("med"));
        check(&TESTS, "P1 high", None);
        assert_eq!((TESTS.rank("LOW"), TESTS.rank("odd")), (3, 4));
    }
}

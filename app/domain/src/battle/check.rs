//! What a project's own command says of a result: evidence before opinion.
//!
//! It runs on the project as it was before, and then on each result in a clean tree. What failed before is not
//! charged to anybody.

mod runners;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Battle;
use crate::{id::TaskId, setup};
pub use runners::changed_tests;
use runners::{FAILURES_MAX, failures};

/// More of them are not listed; how many there are is said.
const NAMES_SHOWN_MAX: usize = 5;
/// The end of what the command said; its beginning is in its stream.
pub const TAIL_BYTES_MAX: usize = 4 * 1024;
/// The longest that the command may take. One that does not end is a result, and no failure of ours.
pub const LIMIT_S: u32 = 20 * 60;
/// With the tree that it runs in, and what the project asks for in each new one.
pub const TASK_LIMIT_S: u32 = LIMIT_S + setup::SECONDS_MAX as u32 + 10 * 60;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// There is none, or not yet.
    #[default]
    None,
    Pending {
        task: TaskId,
    },
    Done {
        task: TaskId,
        checked: Checked,
    },
    /// It could not be run, which says nothing about the result.
    Void {
        reason: String,
    },
}

impl Battle {
    /// How many checks are over, and how many there are: of the project itself, and of each result. One that could not
    /// be run is over too.
    pub fn checks(&self) -> (u32, u32) {
        let all: Vec<_> = self.survivors().map(|it| &it.check).chain([&self.course.base_check]).collect();
        let over = all.iter().filter(|state| state.checked().is_some() || state.is_void());
        (over.count() as u32, all.len() as u32)
    }

    /// The checks that say something of the project and of the results.
    pub fn telling_checks(&self) -> BTreeSet<TaskId> {
        let all = self.survivors().map(|it| &it.check).chain([&self.course.base_check]);
        all.filter(|state| state.checked().is_some()).filter_map(CheckState::task).collect()
    }
}

impl CheckState {
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Pending { task } | Self::Done { task, .. } => Some(*task),
            Self::None | Self::Void { .. } => None,
        }
    }

    pub fn checked(&self) -> Option<&Checked> {
        match self {
            Self::Done { checked, .. } => Some(checked),
            Self::None | Self::Pending { .. } | Self::Void { .. } => None,
        }
    }

    pub fn is_pending(&self) -> bool {
        matches!(self, Self::Pending { .. })
    }

    /// Whether it could not be run, and may be run again.
    pub fn is_void(&self) -> bool {
        matches!(self, Self::Void { .. })
    }

    /// What it says of a result, held against what it says of the base.
    pub fn compared(&self, base: &Self) -> Option<Compared> {
        Some(self.checked()?.compared(base.checked()))
    }

    /// All that a person is told of it, with how long it took.
    pub fn told(&self, base: &Self) -> Option<String> {
        Some(match self {
            Self::None => return None,
            Self::Pending { .. } => "being checked".to_owned(),
            Self::Done { checked, .. } => {
                format!("{}, {}", checked.compared(base.checked()).words(), checked.took())
            }
            Self::Void { reason } => format!("check could not be run: {reason}"),
        })
    }

    /// The same of the project as it was before anybody changed it.
    pub fn told_of_base(&self) -> Option<String> {
        Some(match self {
            Self::None => return None,
            Self::Pending { .. } => "The project itself is being checked.".to_owned(),
            Self::Done { checked, .. } if checked.passed() => {
                format!("The project itself passes the check, {}.", checked.took())
            }
            Self::Done { checked, .. } => {
                let fails = format!("The project itself fails the check, {}", checked.took());
                format!("{}. That is charged to nobody.", named(&fails, &checked.failures))
            }
            Self::Void { reason } => {
                format!(
                    "The project itself could not be checked, so no failure is charged to anybody: {reason}"
                )
            }
        })
    }
}

/// How the command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// None where a signal or the clock ended it.
    pub code: Option<i32>,
    pub duration_ms: u64,
    /// The tests that it named as failed.
    pub failures: Vec<String>,
    pub tail: String,
}

impl Checked {
    pub fn new(code: Option<i32>, duration_ms: u64, said: &str) -> Self {
        let from = said.len().saturating_sub(TAIL_BYTES_MAX);
        let tail = &said[said.ceil_char_boundary(from)..];
        Self { code, duration_ms, failures: failures(said), tail: tail.trim().to_owned() }
    }

    pub fn passed(&self) -> bool {
        self.code == Some(0)
    }

    pub fn took(&self) -> String {
        format!("{:.1} s", self.duration_ms as f64 / 1_000.0)
    }

    /// What of it is to be charged to whoever changed the base. Where nobody knows how the base does, nothing is.
    pub fn compared(&self, base: Option<&Checked>) -> Compared {
        let Some(base) = base else {
            return if self.passed() { Compared::Passes } else { Compared::Fails(self.failures.clone()) };
        };
        match (base.passed(), self.passed()) {
            (true, true) => return Compared::Passes,
            (false, true) => return Compared::Mends,
            (true, false) => return Compared::Breaks(self.failures.clone()),
            (false, false) => {}
        }
        if self.code.is_none() && base.code.is_some() {
            return Compared::Hangs;
        }
        if base.failures.is_empty() {
            return Compared::FailsBoth(self.failures.clone());
        }
        if self.failures.is_empty() {
            return Compared::BreaksOff;
        }
        if !base.names_all() {
            return Compared::FailsBoth(self.failures.clone());
        }
        let known: BTreeSet<_> = base.failures.iter().collect();
        let (old, new): (Vec<_>, Vec<_>) =
            self.failures.iter().cloned().partition(|name| known.contains(name));
        match (old.is_empty(), new.is_empty()) {
            (_, true) => Compared::FailsToo,
            // Many commands end with the first failure: whoever mends that one meets those that it hid.
            (true, false) => Compared::FailsLater(new),
            (false, false) => Compared::Breaks(new),
        }
    }

    /// Whether what it does not name as failed did not fail.
    fn names_all(&self) -> bool {
        self.code.is_some() && self.failures.len() < FAILURES_MAX
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    Passes,
    /// What failed before passes now.
    Mends,
    /// It fails as it failed before.
    FailsToo,
    /// It fails, and failed before, and not all of what failed then has a name; what fails now, as far as it has one.
    FailsBoth(Vec<String>),
    /// What failed before passes now, and what fails now may not have been come to then.
    FailsLater(Vec<String>),
    /// It fails, and how it was before is not known; what failed by name, as far as it has one.
    Fails(Vec<String>),
    /// It failed where it did not before; the new failures by name, as far as they have one.
    Breaks(Vec<String>),
    /// Before, tests failed by name; now none of them has one, as where nothing can be built.
    BreaksOff,
    /// It came to an end before, and does not any more.
    Hangs,
}

impl Compared {
    pub fn words(&self) -> String {
        match self {
            Self::Passes => "check passes".to_owned(),
            Self::Mends => "check passes, it failed before".to_owned(),
            Self::FailsToo => "check fails as it did before".to_owned(),
            Self::FailsBoth(all) => named("check fails, it failed before too", all),
            Self::FailsLater(all) => named(
                "check fails later, what failed before passes; whether the rest is new is not known",
                all,
            ),
            Self::Fails(all) => named("check fails, before is not known", all),
            Self::Breaks(new) if new.is_empty() => "check fails, it passed before".to_owned(),
            Self::Breaks(new) if new.len() == 1 => format!("1 new failure: {}", new[0]),
            Self::Breaks(new) => format!("{} new failures: {}", new.len(), listed(new)),
            Self::BreaksOff => "check fails outside of its tests, before only in them".to_owned(),
            Self::Hangs => "check comes to no end, it did before".to_owned(),
        }
    }

    pub fn is_good(&self) -> bool {
        matches!(self, Self::Passes | Self::Mends)
    }

    /// Whether whoever made the result answers for it.
    pub fn is_charged(&self) -> bool {
        matches!(self, Self::Breaks(_) | Self::BreaksOff | Self::Hangs)
    }
}

fn named(words: &str, names: &[String]) -> String {
    if names.is_empty() { words.to_owned() } else { format!("{words}: {}", listed(names)) }
}

/// The first of many.
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_SHOWN_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_SHOWN_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_before_is_not_charged() {
        let run = |word: &str| {
            let failures = word[1..].split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            let code = match word.split_at(1).0 {
                "+" => Some(0),
                "-" => Some(1),
                _ => None,
            };
            Checked { code, duration_ms: 1, failures, tail: String::new() }
        };
        // A `!` behind what is charged.
        let check = |base: &str, own: &str, expected: &str| {
            let base = (!base.is_empty()).then(|| run(base));
            let compared = run(own).compared(base.as_ref());
            let mark = if compared.is_charged() { "!" } else { "" };
            assert_eq!(format!("{}{mark}", compared.words()), expected, "{own} after {base:?}");
        };
        check("+", "+", "check passes");
        check("", "+", "check passes");
        check("-a", "+", "check passes, it failed before");
        check("-a,b", "-b", "check fails as it did before");
        check("-a", "-a,b", "1 new failure: b!");
        // Whoever mends what failed first comes further than the project did.
        let later = "check fails later, what failed before passes; whether the rest is new is not known";
        check("-a", "-b,c", &format!("{later}: b, c"));
        check("-a,b", "-c", &format!("{later}: c"));
        check("-a,b", "-b,c", "1 new failure: c!");
        check("+", "-a,b", "2 new failures: a, b!");
        check("+", "-", "check fails, it passed before!");
        // One that did not compile before has no names to compare.
        check("-", "-a", "check fails, it failed before too: a");
        check("-", "-", "check fails, it failed before too");
        // One that no longer compiles has none either, and that is its own doing.
        check("-a,b", "-", "check fails outside of its tests, before only in them!");
        // `~` comes to no end. Of a project that does not, nobody knows what else would have failed.
        check("~a", "-a,b", "check fails, it failed before too: a, b");
        check("~", "~", "check fails, it failed before too");
        check("-a", "~a", "check comes to no end, it did before!");
        check("-", "~", "check comes to no end, it did before!");
        check("+", "~", "check fails, it passed before!");
        // More names than are kept: what is not among them may have failed all the same.
        let many: Vec<_> = (0..FAILURES_MAX).map(|nth| format!("t{nth}")).collect();
        let many = format!("-{}", many.join(","));
        check(&many, "-t7,z", "check fails, it failed before too: t7, z");
        check(&many, "-", "check fails outside of its tests, before only in them!");
        // Nothing is charged where nobody knows how it was.
        check("", "-", "check fails, before is not known");
        check("", "-a", "check fails, before is not known: a");
        check("+", "-a,b,c,d,e,f,g", "7 new failures: a, b, c, d, e and 2 more!");
    }

    #[test]
    fn the_end_of_what_was_said_is_kept() {
        let said = format!("{}é end", "x".repeat(TAIL_BYTES_MAX));
        let checked = Checked::new(Some(1), 7, &said);
        assert!(checked.tail.len() <= TAIL_BYTES_MAX && checked.tail.ends_with("é end"));
        assert!(!checked.passed());
    }

    #[test]
    fn a_person_is_told_what_there_is_and_what_is_not_known() {
        let task = TaskId(uuid::Uuid::nil());
        let done = |code, failures: &[&str]| {
            let failures = failures.iter().map(|name| (*name).to_owned()).collect();
            CheckState::Done {
                task,
                checked: Checked { code: Some(code), duration_ms: 1_250, failures, tail: String::new() },
            }
        };
        let void = CheckState::Void { reason: "no disk.".into() };
        let check = |own: &CheckState, base: &CheckState, expected: &str| {
            assert_eq!(own.told(base).unwrap_or_default(), expected);
        };
        check(&CheckState::None, &void, "");
        check(&CheckState::Pending { task }, &void, "being checked");
        check(&done(0, &[]), &done(1, &[]), "check passes, it failed before, 1.2 s");
        check(&done(1, &["a"]), &void, "check fails, before is not known: a, 1.2 s");
        check(&void, &done(0, &[]), "check could not be run: no disk.");
        let check = |base: &CheckState, expected: &str| {
            assert_eq!(base.told_of_base().unwrap_or_default(), expected);
        };
        check(&done(0, &[]), "The project itself passes the check, 1.2 s.");
        check(
            &done(1, &["a", "b"]),
            "The project itself fails the check, 1.2 s: a, b. That is charged to nobody.",
        );
        check(
            &void,
            "The project itself could not be checked, so no failure is charged to anybody: no disk.",
        );
        check(&CheckState::None, "");
    }
}

//! How BooCode's own agent goes on: ask the model, do what it calls for, tell it, ask again. When to stop is decided
//! here; asking and doing are others' work.

use crate::completion::Called;

/// What it can call for.
pub const TOOLS: [&str; 10] =
    ["list", "read", "grep", "find", "edit", "write", "run", "git", "web_fetch", "web_search"];

pub const STEPS: u32 = 60;
pub const CALLS_MAX: u32 = 300;
/// The same call this many times in a row leads nowhere.
pub const REPEATS_MAX: u32 = 3;

/// What the agent may spend, and what it has spent.
#[derive(Clone, Debug)]
pub struct Pace {
    steps_max: u32,
    calls_max: u32,
    steps: u32,
    calls: u32,
    last: Option<(String, String)>,
    repeats: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The model is done: it called for nothing.
    Done,
    /// Do what it called for, and ask again.
    Act,
    /// Ask once more, without tools, for a summary.
    Sum(Why),
}

/// Why it does not go on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Steps,
    Calls,
    Repeats,
    /// The model takes no more than it was told already.
    Room,
}

impl Why {
    /// Said to the model in place of another turn.
    pub fn words(self) -> &'static str {
        match self {
            Self::Steps => "You have taken all the steps that you may take.",
            Self::Calls => "You have called tools as often as you may.",
            Self::Repeats => "You made the same call several times in a row, and it does not help.",
            Self::Room => "You have no room left to read more.",
        }
    }

    /// Said to the person who reads on.
    pub fn told(self) -> &'static str {
        match self {
            Self::Steps => "It has taken all the steps that it may take.",
            Self::Calls => "It has called tools as often as it may.",
            Self::Repeats => "It made the same call several times in a row, and was stopped.",
            Self::Room => "It has read as much as its model takes.",
        }
    }

    pub fn asks(self) -> String {
        format!(
            "{} Do not call tools any more. Say briefly what you did and what is left to do.",
            self.words()
        )
    }
}

impl Pace {
    pub fn new(steps_max: u32, calls_max: u32) -> Self {
        Self { steps_max, calls_max, steps: 0, calls: 0, last: None, repeats: 0 }
    }

    /// The model has answered with these calls.
    pub fn answered(&mut self, calls: &[Called]) -> Next {
        if calls.is_empty() {
            return Next::Done;
        }
        self.steps += 1;
        self.calls += calls.len() as u32;
        for call in calls {
            let this = (call.name.clone(), call.arguments.clone());
            self.repeats = if self.last.as_ref() == Some(&this) { self.repeats + 1 } else { 1 };
            self.last = Some(this);
            if self.repeats >= REPEATS_MAX {
                return Next::Sum(Why::Repeats);
            }
        }
        if self.steps >= self.steps_max {
            return Next::Sum(Why::Steps);
        }
        if self.calls >= self.calls_max {
            return Next::Sum(Why::Calls);
        }
        Next::Act
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each word is an answer: the calls in it by letter, `-` for none.
    fn check(steps: u32, answers: &str, expected: &[Next]) {
        let mut pace = Pace::new(steps, CALLS_MAX);
        let next: Vec<_> = answers
            .split(' ')
            .map(|answer| {
                let call = |c: char| Called { id: "x".into(), name: c.to_string(), arguments: "{}".into() };
                pace.answered(&answer.chars().filter(|c| *c != '-').map(call).collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(next, expected, "{answers}");
    }

    #[test]
    fn it_acts_until_the_model_is_done_or_may_not_go_on() {
        check(9, "a b -", &[Next::Act, Next::Act, Next::Done]);
        check(2, "a b", &[Next::Act, Next::Sum(Why::Steps)]);
        check(9, "-", &[Next::Done]);
        check(9, "a a a", &[Next::Act, Next::Act, Next::Sum(Why::Repeats)]);
        check(9, "aaa", &[Next::Sum(Why::Repeats)]);
        check(9, "a a b a a b", &[Next::Act; 6]);
        let many = "ab".repeat(150);
        check(9, &many, &[Next::Sum(Why::Calls)]);
        let call = Called { id: "x".into(), name: "a".into(), arguments: "{}".into() };
        assert_eq!(Pace::new(9, 1).answered(&[call]), Next::Sum(Why::Calls), "as often as it may");
    }
}

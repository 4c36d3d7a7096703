//! How wide a run looks.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Rejected;

/// Each holds all that the smaller ones do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    #[default]
    Small,
    Medium,
    Large,
}

impl Band {
    pub const ALL: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }

    /// One line for whoever chooses.
    pub fn about(self) -> &'static str {
        match self {
            Self::Small => "Few agents, the clearest findings",
            Self::Medium => "More agents, what weighs much or something",
            Self::Large => "Every agent, everything that was found",
        }
    }

    /// Of a name from somewhere that cannot be asked again, such as an old row: one that nobody knows is small.
    pub fn or_small(name: &str) -> Self {
        name.parse().unwrap_or_default()
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Band {
    type Err = Rejected;

    fn from_str(name: &str) -> Result<Self, Rejected> {
        let found = Self::ALL.into_iter().find(|band| band.name().eq_ignore_ascii_case(name.trim()));
        found.ok_or_else(|| {
            Rejected::Invalid(format!("There is no band \"{name}\": choose small, medium or large."))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_ordered_and_an_unknown_one_is_small() {
        assert!(Band::Small < Band::Medium && Band::Medium < Band::Large);
        let check = |name: &str, band| assert_eq!(Band::or_small(name), band, "{name}");
        check("medium", Band::Medium);
        check(" Large ", Band::Large);
        check("", Band::Small);
        check("huge", Band::Small);
        let no = "huge".parse::<Band>().unwrap_err().to_string();
        assert_eq!(no, "There is no band \"huge\": choose small, medium or large.");
    }
}

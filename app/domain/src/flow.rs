//! A flow: several agents, each on one bounded task, answer one question about a project. Code owns the sequence and
//! checks the evidence; no model decides who is asked next.
//!
//! A flow has two halves. [`Flow`] is what people see before they start one, and all that the browser needs.
//! [`method::Method`] is how it is done: who is asked what, and what the report holds. Only the server reaches for
//! that, so its texts stay out of the browser's module.

pub mod answer;
pub mod band;
pub mod brief;
mod catalogue;
pub mod cited;
pub mod contract;
pub mod evidence;
pub mod fold;
mod gathered;
#[cfg(test)]
mod golden;
pub mod method;
pub mod plan;
pub mod report;
pub mod request;
pub mod review;
pub mod role;
pub mod rounds;
pub mod signal;
mod size;
mod tally;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

pub use band::Band;
pub use contract::Contract;
pub use plan::{Plan, Step, StepId};
pub use report::Report;
pub use request::Request;
pub use role::Role;
pub use signal::{Signal, SignalSearch, Signals};
pub use size::Size;
pub use tally::tally;

use crate::Rejected;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowId {
    Research,
    Investigate,
    CodeReview,
    ArchitecturalAnalysis,
    SecurityReview,
    GapAnalysis,
    DataReview,
    DevopsReview,
    IssueTriage,
    ProjectDiscovery,
    TestPlanning,
    PlanAFeature,
    PlanImplementation,
    PlanAPhasedBuild,
    PlanWorkItems,
    IterativePlanReview,
    ArchitecturalDecisionRecord,
    CodingStandard,
    ProjectDocumentation,
    Runbook,
    StakeholderSummary,
    UpdatePrDescription,
}

/// What people see of a flow before they start it.
#[derive(Debug, PartialEq, Eq)]
pub struct Flow {
    pub id: FlowId,
    /// As a slash command and the wire have it.
    pub name: &'static str,
    pub title: &'static str,
    pub kind: Kind,
    /// One line for a menu.
    pub line: &'static str,
    pub what: &'static str,
    pub when: &'static str,
    pub focus: Focus,
    pub diff: Diff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads and reports: in the slash menu and in the launcher.
    Analysis,
    /// Writes a draft for a person to go on with: in the launcher only.
    Draft,
}

/// The one text that a person gives, and what it is asked for with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    Optional(&'static str),
    Needed(&'static str),
    /// The words of somebody else, such as an issue: needed, and shown to models as data.
    Reported(&'static str),
    /// What happens before somebody begins to work: an alert, a symptom. Needed.
    Trigger(&'static str),
}

/// Whether the flow works on what was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diff {
    Unused,
    /// Taken into account where there is one.
    Used,
    Needed,
}

impl FlowId {
    pub const ALL: [Self; 22] = [
        Self::Research,
        Self::Investigate,
        Self::CodeReview,
        Self::ArchitecturalAnalysis,
        Self::SecurityReview,
        Self::GapAnalysis,
        Self::DataReview,
        Self::DevopsReview,
        Self::IssueTriage,
        Self::ProjectDiscovery,
        Self::TestPlanning,
        Self::PlanAFeature,
        Self::PlanImplementation,
        Self::PlanAPhasedBuild,
        Self::PlanWorkItems,
        Self::IterativePlanReview,
        Self::ArchitecturalDecisionRecord,
        Self::CodingStandard,
        Self::ProjectDocumentation,
        Self::Runbook,
        Self::StakeholderSummary,
        Self::UpdatePrDescription,
    ];

    pub fn name(self) -> &'static str {
        self.flow().name
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FlowId {
    type Err = Rejected;

    fn from_str(name: &str) -> Result<Self, Rejected> {
        let name = name.trim().trim_start_matches('/');
        let found = Self::ALL.into_iter().find(|id| id.name() == name);
        found.ok_or_else(|| Rejected::Invalid(format!("There is no flow \"{name}\".")))
    }
}

impl Kind {
    /// The label that tells the two apart.
    pub fn pill(self) -> &'static str {
        match self {
            Self::Analysis => "Read-only",
            Self::Draft => "Draft",
        }
    }

    pub fn is_in_slash_menu(self) -> bool {
        self == Self::Analysis
    }

    pub fn contracts(self) -> &'static [Contract] {
        match self {
            Self::Analysis => &[Contract::Evidence],
            Self::Draft => &[Contract::Evidence, Contract::Yagni],
        }
    }
}

impl Focus {
    /// The label of the field.
    pub fn asks(self) -> &'static str {
        match self {
            Self::Optional(asks) | Self::Needed(asks) | Self::Reported(asks) | Self::Trigger(asks) => asks,
        }
    }

    pub fn is_needed(self) -> bool {
        !matches!(self, Self::Optional(_))
    }
}

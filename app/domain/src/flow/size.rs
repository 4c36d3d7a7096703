//! How many agents a flow starts. Planning tells; what it tells is written down here, because a browser shows it and
//! should not carry every task of every flow for a number.

use std::fmt;

use super::{Band, FlowId};

/// The fewest, and the most: with every signal, and every round that there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub least: u8,
    pub most: u8,
}

impl FlowId {
    pub fn size(self, band: Band) -> Size {
        let bands = match self {
            Self::Research => [(4, 4), (5, 5), (9, 9)],
            Self::Investigate => [(5, 5), (6, 9), (9, 9)],
            Self::CodeReview => [(4, 4), (8, 8), (12, 16)],
            Self::ArchitecturalAnalysis => [(5, 6), (5, 8), (7, 12)],
            Self::SecurityReview => [(2, 2), (4, 4), (6, 6)],
            Self::GapAnalysis => [(5, 6), (7, 9), (7, 11)],
            Self::DataReview => [(2, 2), (4, 4), (6, 6)],
            Self::DevopsReview => [(2, 2), (4, 4), (6, 6)],
            Self::IssueTriage => [(2, 2), (4, 4), (5, 5)],
            Self::ProjectDiscovery => [(2, 2), (7, 7), (8, 8)],
            Self::TestPlanning => [(4, 4), (4, 6), (6, 8)],
            Self::PlanAFeature => [(4, 4), (6, 7), (9, 10)],
            Self::PlanImplementation => [(5, 5), (7, 14), (11, 32)],
            Self::PlanAPhasedBuild => [(4, 4), (6, 6), (8, 8)],
            Self::PlanWorkItems => [(2, 2), (4, 4), (6, 6)],
            Self::IterativePlanReview => [(4, 4), (6, 10), (6, 26)],
            Self::ArchitecturalDecisionRecord => [(4, 4), (5, 5), (7, 7)],
            Self::CodingStandard => [(2, 2), (4, 4), (6, 6)],
            Self::ProjectDocumentation => [(4, 4), (5, 5), (7, 7)],
            Self::Runbook => [(2, 2), (4, 4), (6, 6)],
            Self::StakeholderSummary => [(2, 2), (4, 4), (5, 5)],
            Self::UpdatePrDescription => [(2, 2), (4, 4), (5, 5)],
        };
        let (least, most) = bands[band as usize];
        Size { least, most }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { least: 1, most: 1 } => f.write_str("1 agent"),
            Self { least, most } if least == most => write!(f, "{least} agents"),
            Self { least, most } => write!(f, "{least} to {most} agents"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{
        Plan, Signal, Step,
        plan::tests::{request, signals},
    };

    fn agents(plan: &Plan) -> u8 {
        plan.steps.iter().filter(|step| step.skip.is_none()).filter_map(Step::agent).count() as u8
    }

    /// As planning has it.
    fn planned(flow: FlowId, band: Band) -> Size {
        let least = agents(&Plan::new(request(flow, band, false), &signals(&[])));
        let mut all = Plan::new(request(flow, band, false), &signals(&Signal::ALL));
        for round in 1..flow.method().rounds.most(band) {
            all.steps.extend(all.next_round(round));
        }
        Size { least, most: agents(&all) }
    }

    #[test]
    fn a_flow_starts_as_many_as_planning_says() {
        for flow in FlowId::ALL {
            for band in Band::ALL {
                assert_eq!(flow.size(band), planned(flow, band), "{flow}, {band}");
            }
        }
    }

    #[test]
    fn it_is_said_in_words() {
        let check = |least, most, words: &str| assert_eq!(Size { least, most }.to_string(), words);
        check(1, 1, "1 agent");
        check(4, 4, "4 agents");
        check(4, 9, "4 to 9 agents");
    }
}

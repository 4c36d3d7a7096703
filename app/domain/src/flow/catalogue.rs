//! The 22 flows, one small file each.

mod architectural_analysis;
mod architectural_decision_record;
mod code_review;
mod coding_standard;
mod data_review;
mod devops_review;
mod gap_analysis;
mod investigate;
mod issue_triage;
mod iterative_plan_review;
mod plan_a_feature;
mod plan_a_phased_build;
mod plan_implementation;
mod plan_work_items;
mod project_discovery;
mod project_documentation;
mod research;
mod runbook;
mod security_review;
mod stakeholder_summary;
mod test_planning;
mod update_pr_description;

#[cfg(test)]
mod tests;

use super::{Flow, FlowId, method::Method};

pub use gap_analysis::CONTRADICTS;
pub use project_discovery::COMMAND;

impl FlowId {
    pub fn flow(self) -> &'static Flow {
        match self {
            Self::Research => &research::FLOW,
            Self::Investigate => &investigate::FLOW,
            Self::CodeReview => &code_review::FLOW,
            Self::ArchitecturalAnalysis => &architectural_analysis::FLOW,
            Self::SecurityReview => &security_review::FLOW,
            Self::GapAnalysis => &gap_analysis::FLOW,
            Self::DataReview => &data_review::FLOW,
            Self::DevopsReview => &devops_review::FLOW,
            Self::IssueTriage => &issue_triage::FLOW,
            Self::ProjectDiscovery => &project_discovery::FLOW,
            Self::TestPlanning => &test_planning::FLOW,
            Self::PlanAFeature => &plan_a_feature::FLOW,
            Self::PlanImplementation => &plan_implementation::FLOW,
            Self::PlanAPhasedBuild => &plan_a_phased_build::FLOW,
            Self::PlanWorkItems => &plan_work_items::FLOW,
            Self::IterativePlanReview => &iterative_plan_review::FLOW,
            Self::ArchitecturalDecisionRecord => &architectural_decision_record::FLOW,
            Self::CodingStandard => &coding_standard::FLOW,
            Self::ProjectDocumentation => &project_documentation::FLOW,
            Self::Runbook => &runbook::FLOW,
            Self::StakeholderSummary => &stakeholder_summary::FLOW,
            Self::UpdatePrDescription => &update_pr_description::FLOW,
        }
    }

    /// How it is done. Only the server asks, so the tasks stay out of the browser's module.
    pub fn method(self) -> &'static Method {
        match self {
            Self::Research => &research::METHOD,
            Self::Investigate => &investigate::METHOD,
            Self::CodeReview => &code_review::METHOD,
            Self::ArchitecturalAnalysis => &architectural_analysis::METHOD,
            Self::SecurityReview => &security_review::METHOD,
            Self::GapAnalysis => &gap_analysis::METHOD,
            Self::DataReview => &data_review::METHOD,
            Self::DevopsReview => &devops_review::METHOD,
            Self::IssueTriage => &issue_triage::METHOD,
            Self::ProjectDiscovery => &project_discovery::METHOD,
            Self::TestPlanning => &test_planning::METHOD,
            Self::PlanAFeature => &plan_a_feature::METHOD,
            Self::PlanImplementation => &plan_implementation::METHOD,
            Self::PlanAPhasedBuild => &plan_a_phased_build::METHOD,
            Self::PlanWorkItems => &plan_work_items::METHOD,
            Self::IterativePlanReview => &iterative_plan_review::METHOD,
            Self::ArchitecturalDecisionRecord => &architectural_decision_record::METHOD,
            Self::CodingStandard => &coding_standard::METHOD,
            Self::ProjectDocumentation => &project_documentation::METHOD,
            Self::Runbook => &runbook::METHOD,
            Self::StakeholderSummary => &stakeholder_summary::METHOD,
            Self::UpdatePrDescription => &update_pr_description::METHOD,
        }
    }
}

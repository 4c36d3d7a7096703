//! The files of the roles, one each.

use super::Role;

pub(super) fn of(role: Role) -> &'static str {
    match role {
        Role::AdversarialValidator => include_str!("../../../../../data/roles/adversarial-validator.md"),
        Role::SecurityAnalyst => include_str!("../../../../../data/roles/security-analyst.md"),
        Role::BehavioralAnalyst => include_str!("../../../../../data/roles/behavioral-analyst.md"),
        Role::CodebaseExplorer => include_str!("../../../../../data/roles/codebase-explorer.md"),
        Role::ConcurrencyAnalyst => include_str!("../../../../../data/roles/concurrency-analyst.md"),
        Role::ContentAuditor => include_str!("../../../../../data/roles/content-auditor.md"),
        Role::DataEngineer => include_str!("../../../../../data/roles/data-engineer.md"),
        Role::DevopsEngineer => include_str!("../../../../../data/roles/devops-engineer.md"),
        Role::EdgeCaseExplorer => include_str!("../../../../../data/roles/edge-case-explorer.md"),
        Role::Investigator => include_str!("../../../../../data/roles/investigator.md"),
        Role::GapAnalyzer => include_str!("../../../../../data/roles/gap-analyzer.md"),
        Role::InformationArchitect => include_str!("../../../../../data/roles/information-architect.md"),
        Role::JuniorDeveloper => include_str!("../../../../../data/roles/junior-developer.md"),
        Role::OnCallEngineer => include_str!("../../../../../data/roles/on-call-engineer.md"),
        Role::ProjectManager => include_str!("../../../../../data/roles/project-manager.md"),
        Role::ProjectScanner => include_str!("../../../../../data/roles/project-scanner.md"),
        Role::ResearchAnalyst => include_str!("../../../../../data/roles/research-analyst.md"),
        Role::RiskAnalyst => include_str!("../../../../../data/roles/risk-analyst.md"),
        Role::SoftwareArchitect => include_str!("../../../../../data/roles/software-architect.md"),
        Role::StructuralAnalyst => include_str!("../../../../../data/roles/structural-analyst.md"),
        Role::SystemArchitect => include_str!("../../../../../data/roles/system-architect.md"),
        Role::TestEngineer => include_str!("../../../../../data/roles/test-engineer.md"),
        Role::UserExperienceDesigner => include_str!("../../../../../data/roles/user-experience-designer.md"),
    }
}

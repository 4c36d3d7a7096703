//! Who does a step. What each is told, and with which tools it works, is a file in `data/roles`.

mod parse;
mod text;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use parse::{Instructions, Problem, Tool};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    AdversarialValidator,
    SecurityAnalyst,
    BehavioralAnalyst,
    CodebaseExplorer,
    ConcurrencyAnalyst,
    ContentAuditor,
    DataEngineer,
    DevopsEngineer,
    EdgeCaseExplorer,
    Investigator,
    GapAnalyzer,
    InformationArchitect,
    JuniorDeveloper,
    OnCallEngineer,
    ProjectManager,
    ProjectScanner,
    ResearchAnalyst,
    RiskAnalyst,
    SoftwareArchitect,
    StructuralAnalyst,
    SystemArchitect,
    TestEngineer,
    UserExperienceDesigner,
}

impl Role {
    pub const ALL: [Self; 23] = [
        Self::AdversarialValidator,
        Self::SecurityAnalyst,
        Self::BehavioralAnalyst,
        Self::CodebaseExplorer,
        Self::ConcurrencyAnalyst,
        Self::ContentAuditor,
        Self::DataEngineer,
        Self::DevopsEngineer,
        Self::EdgeCaseExplorer,
        Self::Investigator,
        Self::GapAnalyzer,
        Self::InformationArchitect,
        Self::JuniorDeveloper,
        Self::OnCallEngineer,
        Self::ProjectManager,
        Self::ProjectScanner,
        Self::ResearchAnalyst,
        Self::RiskAnalyst,
        Self::SoftwareArchitect,
        Self::StructuralAnalyst,
        Self::SystemArchitect,
        Self::TestEngineer,
        Self::UserExperienceDesigner,
    ];

    /// As its file and the wire have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AdversarialValidator => "adversarial-validator",
            Self::SecurityAnalyst => "security-analyst",
            Self::BehavioralAnalyst => "behavioral-analyst",
            Self::CodebaseExplorer => "codebase-explorer",
            Self::ConcurrencyAnalyst => "concurrency-analyst",
            Self::ContentAuditor => "content-auditor",
            Self::DataEngineer => "data-engineer",
            Self::DevopsEngineer => "devops-engineer",
            Self::EdgeCaseExplorer => "edge-case-explorer",
            Self::Investigator => "investigator",
            Self::GapAnalyzer => "gap-analyzer",
            Self::InformationArchitect => "information-architect",
            Self::JuniorDeveloper => "junior-developer",
            Self::OnCallEngineer => "on-call-engineer",
            Self::ProjectManager => "project-manager",
            Self::ProjectScanner => "project-scanner",
            Self::ResearchAnalyst => "research-analyst",
            Self::RiskAnalyst => "risk-analyst",
            Self::SoftwareArchitect => "software-architect",
            Self::StructuralAnalyst => "structural-analyst",
            Self::SystemArchitect => "system-architect",
            Self::TestEngineer => "test-engineer",
            Self::UserExperienceDesigner => "user-experience-designer",
        }
    }

    /// The letters that its findings' ids begin with.
    pub fn letters(self) -> &'static str {
        match self {
            Self::AdversarialValidator => "V",
            Self::SecurityAnalyst => "SEC",
            Self::BehavioralAnalyst => "B",
            Self::CodebaseExplorer => "CE",
            Self::ConcurrencyAnalyst => "C",
            Self::ContentAuditor => "CA",
            Self::DataEngineer => "D",
            Self::DevopsEngineer => "DV",
            Self::EdgeCaseExplorer => "EC",
            Self::Investigator => "E",
            Self::GapAnalyzer => "GAP",
            Self::InformationArchitect => "IA",
            Self::JuniorDeveloper => "JD",
            Self::OnCallEngineer => "OCE",
            Self::ProjectManager => "PM",
            Self::ProjectScanner => "PS",
            Self::ResearchAnalyst => "A",
            Self::RiskAnalyst => "R",
            Self::SoftwareArchitect => "SWA",
            Self::StructuralAnalyst => "S",
            Self::SystemArchitect => "SA",
            Self::TestEngineer => "T",
            Self::UserExperienceDesigner => "UX",
        }
    }

    /// Whether it works on the project at all. One who reads the web must not: what it fetches could ask for what
    /// it has seen here.
    pub fn sees_project(self) -> bool {
        self != Self::ResearchAnalyst
    }

    /// What it is told and may use. Only the server asks, so the texts stay out of the browser's module.
    pub fn instructions(self) -> Result<Instructions, Problem> {
        parse::parse(text::of(self))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_role_has_its_file() {
        for role in Role::ALL {
            let told = role.instructions().unwrap_or_else(|problem| panic!("{role}: {problem}"));
            assert_eq!(told.letters, role.letters(), "{role}");
            let title = told.title.to_lowercase().replace([' ', '-'], "");
            assert_eq!(title, role.name().replace('-', ""), "{role}");
            assert!(told.prompt.len() > 600, "{role} is told too little");
            assert!(told.prompt.len() < 4_000, "{role} is told more than a small model keeps in mind");
        }
    }

    #[test]
    fn names_and_letters_are_each_of_one_role() {
        let names: BTreeSet<_> = Role::ALL.iter().map(|role| role.name()).collect();
        let letters: BTreeSet<_> = Role::ALL.iter().map(|role| role.letters()).collect();
        assert_eq!((names.len(), letters.len()), (23, 23));
        for role in Role::ALL {
            assert_eq!(serde_json::to_string(&role).unwrap(), format!("\"{role}\""));
        }
    }

    #[test]
    fn nobody_can_write_and_nobody_has_both_web_and_project() {
        for role in Role::ALL {
            let tools = role.instructions().unwrap().tools;
            assert!(!tools.is_empty(), "{role}");
            let web = tools.iter().filter(|tool| tool.is_web()).count();
            let expected = if role.sees_project() { 0 } else { tools.len() };
            assert_eq!(web, expected, "{role}: {tools:?}");
        }
    }
}

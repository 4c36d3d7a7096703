//! Personas: how a model is told to work. They are written in Markdown: a level-2 heading, settings between two lines of
//! dashes, then the words for the model.

mod parse;

use serde::{Deserialize, Serialize};

pub use parse::parse;

/// A file with more is read up to there.
pub const PERSONAS_MAX: usize = 100;
pub const PROBLEMS_MAX: usize = 20;
pub const NAME_CHARS_MAX: usize = 60;
pub const DESCRIPTION_CHARS_MAX: usize = 200;
pub const PROMPT_BYTES_MAX: usize = 32 * 1024;
pub const STEPS_MAX: u32 = 500;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Persona {
    pub name: String,
    /// One line for whoever chooses.
    pub description: String,
    pub sampling: Sampling,
    /// The tools that it may use where there are any. None: all of them.
    pub tools: Option<Vec<String>>,
    /// How many times it may go on by itself.
    pub steps: Option<u32>,
    /// What the model is told before the conversation.
    pub prompt: String,
}

/// What can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    pub personas: Vec<Offered>,
    /// What the project's own file has wrong.
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    pub name: String,
    pub description: String,
}

/// How a model picks its words. What is not given is the model server's own choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f32>,
}

impl Sampling {
    /// Whether words, such as those of a refusal, name something that is given here.
    pub fn is_named_in(&self, words: &str) -> bool {
        let Self { temperature, top_p, top_k, min_p, presence_penalty, frequency_penalty } = self;
        let given = [
            ("temperature", temperature.is_some()),
            ("top_p", top_p.is_some()),
            ("top_k", top_k.is_some()),
            ("min_p", min_p.is_some()),
            ("presence_penalty", presence_penalty.is_some()),
            ("frequency_penalty", frequency_penalty.is_some()),
        ];
        given.iter().any(|(name, is_given)| *is_given && words.contains(name))
    }
}

/// An entry that is left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// Whose entry it is, where it has a name of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub words: String,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    pub personas: Vec<Persona>,
    pub problems: Vec<Problem>,
}

/// The ones of a project stand on top: one with the same name takes the place of a built-in one.
pub fn layered(built_in: Vec<Persona>, project: Vec<Persona>) -> Vec<Persona> {
    let mut all = built_in;
    for persona in project {
        match all.iter_mut().find(|other| is_same_name(&other.name, &persona.name)) {
            Some(other) => *other = persona,
            None => all.push(persona),
        }
    }
    all
}

impl Parsed {
    pub fn find(&self, name: &str) -> Option<&Persona> {
        self.personas.iter().find(|persona| is_same_name(&persona.name, name))
    }

    /// Why the entry of that name was left out.
    pub fn problem_of(&self, name: &str) -> Option<&Problem> {
        let is_it = |problem: &&Problem| problem.name.as_ref().is_some_and(|other| is_same_name(other, name));
        self.problems.iter().find(is_it)
    }
}

fn is_same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT_IN: &str = include_str!("../../../data/AGENTS.md");

    #[test]
    fn what_is_built_in_is_without_fault() {
        let Parsed { personas, problems } = parse(BUILT_IN);
        assert_eq!(problems, []);
        let names: Vec<_> = personas.iter().map(|persona| persona.name.as_str()).collect();
        let wanted =
            ["Code Reviewer", "Debugger", "Refactorer", "Architect", "Explainer", "Security Reviewer"];
        assert_eq!(names, wanted);
        assert!(personas.iter().all(|persona| persona.sampling.temperature.is_some()));
    }

    #[test]
    fn a_project_replaces_by_name_and_adds() {
        let project = parse(
            "## code reviewer\n---\ndescription: Ours\n---\nBe kind.\n\n## Poet\n---\ndescription: Rhymes\n---\nRhyme.",
        );
        let personas = layered(parse(BUILT_IN).personas, project.personas);
        let all = Parsed { personas, problems: Vec::new() };
        assert_eq!(all.personas.len(), 7);
        assert_eq!(all.personas[0].description, "Ours");
        assert_eq!(all.find("CODE REVIEWER").map(|persona| persona.prompt.as_str()), Some("Be kind."));
        assert_eq!(all.find("poet").map(|persona| persona.description.as_str()), Some("Rhymes"));
        assert_eq!(all.find("nobody"), None);
    }
}

//! What an agent is told: who it is, what it has to do, what others said, and the form of its answer. Only the server
//! asks for it.

mod template;
#[cfg(test)]
mod tests;

use super::{
    Band, Focus, Kind, Plan, Step,
    answer::form::{self, Shape, Writes},
    contract,
    fold::{Output, fold},
    method::Method,
    plan::{Agent, Limits, Part},
    role::{Instructions, Problem, Tool},
};
use crate::fence::Nonce;
pub use template::find_template;
pub(super) use template::headings;

/// More of a change is not shown: an agent can look at the rest itself.
pub const DIFF_BYTES_MAX: usize = 256 * 1024;
pub const TEMPLATE_BYTES_MAX: usize = 16 * 1024;

/// What a step is asked in.
pub struct Context<'a> {
    pub plan: &'a Plan,
    /// Fresh for this prompt.
    pub nonce: &'a Nonce,
    /// Whether pages can be fetched or searched for.
    pub has_web: bool,
    pub diff: Option<&'a str>,
    pub template: Option<&'a str>,
    /// What the steps before this one said, in the order of the roster. Those that it does not build on are passed over.
    pub said: &'a [Output<'a>],
    /// How much of that the model can take.
    pub said_bytes_max: usize,
}

/// All that a backend needs to carry out a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief {
    pub prompt: String,
    /// For a model server that holds a model to a schema.
    pub schema: String,
    pub tools: Vec<Tool>,
    /// Without it, the work is done in an empty folder.
    pub sees_project: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    #[error("the role cannot be read: {0}")]
    Role(#[from] Problem),
    #[error("the flow has no step {0} any more")]
    Step(String),
}

/// Of a step that code carries out there is none.
pub fn brief(context: &Context<'_>, step: &Step) -> Result<Brief, Unknown> {
    let unknown = || Unknown::Step(step.id.0.clone());
    let agent = step.agent().ok_or_else(unknown)?;
    let Instructions { prompt, tools, .. } = agent.role.instructions()?;
    let writer = Writer { context, step, agent, method: context.plan.request.flow.method() };
    let (task, shape) = match agent.part {
        Part::Angle => (writer.angle().ok_or_else(unknown)?, writer.answer_form()),
        Part::Synthesis => (writer.synthesis().ok_or_else(unknown)?, writer.answer_form()),
        Part::Gate => (writer.gate(), form::verdicts(agent.first)),
    };
    let mut pieces = vec![prompt, writer.rules()];
    pieces.extend(task);
    pieces.push(writer.form(&shape));
    pieces.retain(|piece| !piece.is_empty());
    let tools = tools.into_iter().filter(|tool| context.has_web || !tool.is_web()).collect();
    Ok(Brief {
        prompt: pieces.join("\n\n"),
        schema: shape.schema(),
        tools,
        sees_project: agent.role.sees_project(),
    })
}

struct Writer<'a> {
    context: &'a Context<'a>,
    step: &'a Step,
    agent: &'a Agent,
    method: &'static Method,
}

impl Writer<'_> {
    /// What holds whatever the task is.
    fn rules(&self) -> String {
        let web = match (self.agent.role.sees_project(), self.context.has_web) {
            (true, _) => {
                "You can read the project and nothing else. You cannot change anything, and you need not."
            }
            (false, true) => "You can read the web and nothing else. You do not see the project.",
            (false, false) => {
                "There is no web in this run, and you do not see the project. Say in your summary that no web was \
                 available. Answer from what you know, and mark every claim as reasoning."
            }
        };
        format!(
            "# Rules\n\n{web} Nobody answers questions while you work: decide, and say what you assumed.\n\n{}",
            self.context.nonce.rule()
        )
    }

    fn angle(&self) -> Option<Vec<String>> {
        let angle = self.method.angle(&self.agent.of)?;
        let mut pieces = vec![format!("# Your task\n\n{}", angle.task)];
        pieces.push(self.question());
        pieces.push(self.target());
        pieces.push(section("Rules of this flow", self.method.rules));
        pieces.push(self.depth());
        pieces.extend(self.change(self.context.said_bytes_max));
        pieces.extend(self.template());
        pieces.push(self.earlier());
        pieces.extend(self.contracts().map(|contract| contract.producing().to_owned()));
        Some(pieces)
    }

    fn synthesis(&self) -> Option<Vec<String>> {
        let synthesis = self.method.synthesis().iter().find(|synthesis| synthesis.id == self.agent.of)?;
        let mut pieces = vec![format!("# Your task\n\n{}", synthesis.task)];
        pieces.push(self.question());
        pieces.push(self.target());
        pieces.push(section("Rules of this flow", self.method.rules));
        pieces.extend(self.change(self.context.said_bytes_max / 2));
        pieces.extend(self.template());
        pieces.push(self.earlier());
        pieces.extend(self.contracts().map(|contract| contract.producing().to_owned()));
        Some(pieces)
    }

    fn gate(&self) -> Vec<String> {
        let mut pieces = vec![contract::GATE.to_owned()];
        pieces.push(section("Look here first", self.method.gate));
        pieces.push(self.question());
        pieces.push(self.target());
        pieces.push(section("Rules that they had", self.method.rules));
        pieces.extend(self.change(self.context.said_bytes_max / 2));
        pieces.push(self.earlier());
        pieces.extend(self.contracts().map(|contract| contract.reviewing().to_owned()));
        pieces
    }

    fn contracts(&self) -> impl Iterator<Item = contract::Contract> {
        self.context.plan.request.flow.flow().kind.contracts().iter().copied()
    }

    /// What the person asked. The words of somebody else are data, even if a person brought them.
    fn question(&self) -> String {
        let request = &self.context.plan.request;
        let focus = request.focus.as_str();
        let quoted = || focus.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n");
        match request.flow.flow().focus {
            _ if focus.is_empty() => String::new(),
            Focus::Reported(_) => {
                format!("# What was reported\n\n{}", self.context.nonce.wrap("the report", focus))
            }
            Focus::Trigger(_) => format!("# The trigger\n\n{}", quoted()),
            Focus::Optional(_) | Focus::Needed(_) => format!("# What the person asked\n\n{}", quoted()),
        }
    }

    fn target(&self) -> String {
        let target = &self.context.plan.request.target;
        match (self.agent.role.sees_project(), target.path()) {
            (false, _) => String::new(),
            (true, "") => "# Target\n\nThe whole project.".to_owned(),
            (true, path) => format!(
                "# Target\n\n{}\n\nLook there first. Read outside of it only where it leads.",
                self.context.nonce.wrap("path of the target", path)
            ),
        }
    }

    /// How wide and how deep.
    fn depth(&self) -> String {
        let request = &self.context.plan.request;
        let band = match request.band {
            Band::Small => {
                "Report only the clearest findings: what you are sure of and what matters most. Five good ones are \
                 better than twenty."
            }
            Band::Medium => "Report what weighs much or something. Leave out trifles.",
            Band::Large => "Report everything that you found and can show, small things too.",
        };
        let Limits { steps, calls } = self.agent.limits;
        let fast = match request.fast {
            true => format!(
                "\n\nBe quick. After {steps} steps or {calls} calls of tools you have to answer. Look only for the \
                 evidence that decides, and answer as soon as you have it."
            ),
            false => String::new(),
        };
        format!("# How much\n\n{band}{fast}")
    }

    /// What the flow works on. Whoever is also shown what others said has room for less of it.
    fn change(&self, bytes_max: usize) -> Option<String> {
        let diff = self.context.diff.filter(|_| self.agent.role.sees_project())?;
        Some(format!("# The change\n\n{}", self.data("the change", diff, bytes_max.min(DIFF_BYTES_MAX))))
    }

    fn template(&self) -> Option<String> {
        let template = self.context.template.filter(|_| self.writes() != Writes::Nothing)?;
        Some(format!(
            "# The repository's template\n\nIts headings are the titles of your sections, in its order.\n\n{}",
            self.data("the template", template, TEMPLATE_BYTES_MAX)
        ))
    }

    fn data(&self, name: &str, text: &str, bytes_max: usize) -> String {
        if text.len() <= bytes_max {
            return self.context.nonce.wrap(name, text);
        }
        let shown = &text[..text.floor_char_boundary(bytes_max)];
        let block = self.context.nonce.wrap(name, shown);
        format!(
            "{block}\n\nThis is not all: {} of {} bytes are left out.",
            text.len() - shown.len(),
            text.len()
        )
    }

    /// What the steps that this one builds on have said. A fold stands for all angles up to its round.
    fn earlier(&self) -> String {
        let builds_on = |step: &Step| {
            let is_needed = |other: &Step| self.step.needs.contains(&other.id);
            let folded = |round: u32| {
                let folds = self.context.plan.steps.iter().filter(|other| other.agent().is_none());
                folds.filter(|other| is_needed(other)).any(|fold| fold.round >= round)
            };
            is_needed(step) || (step.as_angle().is_some() && folded(step.round))
        };
        let said: Vec<_> =
            self.context.said.iter().filter(|output| builds_on(output.step)).cloned().collect();
        if said.is_empty() {
            return String::new();
        }
        let round = match (self.agent.part, self.step.round) {
            (Part::Angle, round) if round > 1 => format!(
                "This is round {round}. Read what was said before. Do not repeat it: report what is new, what is wrong \
                 in it, and what it left open.\n\n"
            ),
            _ => String::new(),
        };
        let folded = fold(&said, self.context.nonce, self.context.said_bytes_max);
        format!("# What others said\n\n{round}{folded}")
    }

    /// The sections that this step writes.
    fn writes(&self) -> Writes {
        let all = self.method.written_sections();
        let ours = match self.agent.part {
            Part::Gate => return Writes::Nothing,
            Part::Angle if !self.context.plan.angles_write() => return Writes::Nothing,
            Part::Angle => all.collect(),
            Part::Synthesis => {
                let synthesis = self.method.synthesis();
                let own = synthesis.iter().find(|synthesis| synthesis.id == self.agent.of);
                let own = own.map_or(&[][..], |synthesis| synthesis.writes);
                let is_others = |title: &str| {
                    synthesis.iter().any(|other| other.id != self.agent.of && other.writes.contains(&title))
                };
                let is_mine =
                    |title: &str| if own.is_empty() { !is_others(title) } else { own.contains(&title) };
                all.filter(|(title, _)| is_mine(title)).collect()
            }
        };
        match self.context.template {
            Some(template) => Writes::Template(headings(template)),
            None => Writes::Sections(ours),
        }
    }

    fn answer_form(&self) -> Shape {
        form::answer(self.method, self.agent.role, self.agent.first, &self.writes())
    }

    fn form(&self, shape: &Shape) -> String {
        let mut words = String::from(
            "# Your answer\n\nWhen you are done, answer with one JSON object of this form, in a block of code that \
             begins with ```json, and write nothing after it. The texts in it say what belongs there. Lists may be \
             empty: if you found nothing, say so in the summary.",
        );
        match self.writes() {
            Writes::Sections(sections) if !sections.is_empty() => {
                words.push_str("\n\nWrite these sections, each under exactly this title:\n");
                for (title, about) in sections {
                    words.push_str(&format!("\n- {title}: {about}"));
                }
                words.push_str(&format!("\n\n{}", contract::HEAD));
            }
            Writes::Template(_) => {
                let asked =
                    "Write one section for each heading of the template, each under exactly that heading.";
                words.push_str(&format!("\n\n{asked}\n\n{}", contract::HEAD));
            }
            Writes::Sections(_) | Writes::Nothing => {}
        }
        if self.context.plan.request.flow.flow().kind == Kind::Draft && self.agent.part != Part::Gate {
            words.push_str("\n\nGive every open question a recommended answer.");
        }
        format!("{words}\n\n```json\n{}\n```", shape.example())
    }
}

fn section(title: &str, words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("# {title}\n\n{words}") }
}

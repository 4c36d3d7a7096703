//! What was said and has no place in the spine: shown below it, never dropped.

use super::{
    super::{
        Block, Section,
        blocks::{text, verbatim},
    },
    Builder,
};
use crate::flow::{
    brief::headings,
    evidence::At,
    gathered::{Form, is_title},
    method::{Part, Shape},
    plan,
};

impl Builder<'_> {
    pub(super) fn appendix(&mut self) -> Vec<Section> {
        let (gathered, method) = (self.gathered, self.gathered.method);
        let mut sections = Vec::new();
        let mut add = |title: &str, blocks: Vec<Block>| {
            if !blocks.is_empty() {
                sections.push(Section { title: title.to_owned(), blocks });
            }
        };
        if !method.has(Part::Questions) {
            add("Open questions", self.questions());
        }
        if !method.has(Part::Deferred) {
            add("Deferred", self.deferred());
        }
        if !method.has(Part::Good) {
            add("What is good", self.good());
        }
        add("What each agent found", self.by_worker());
        add("Also said", self.also_said());
        let own = gathered.also.iter().enumerate().filter(|(_, also)| also.form != Form::Field);
        let own = own.map(|(at, also)| {
            verbatim(
                self.material.project,
                format!("{}: {}", also.label, also.name),
                &also.text,
                self.flags_at(At::Also(at)),
            )
        });
        add("In their own words", own.collect());
        sections
    }

    /// Findings that are cited above and stand nowhere yet. A review leaves out what its band does not show.
    fn by_worker(&mut self) -> Vec<Block> {
        let method = self.gathered.method;
        if matches!(method.shape, Shape::PerAngle) {
            let left_out = self.review.hidden.iter().chain(&self.review.cut);
            let left_out: Vec<usize> = left_out.map(|judged| judged.at).collect();
            self.shown.extend(left_out);
        }
        let summarizer = self.gathered.summarizer();
        let mut blocks = Vec::new();
        for (at, worker) in self.gathered.workers.iter().enumerate() {
            // The head and the sections of angles show theirs already.
            let is_angle = worker.agent.part == plan::Part::Angle;
            let is_told = (is_angle && method.has(Part::Angles)) || summarizer == Some(at);
            let has_summary = !worker.summary.trim().is_empty() && !is_told;
            if has_summary || !self.unshown(at, |_| true).is_empty() {
                blocks.extend(self.of_worker(at, |_| true));
            }
        }
        blocks
    }

    fn also_said(&self) -> Vec<Block> {
        let gathered = self.gathered;
        let headings = self.material.template.map(headings);
        let mut blocks = Vec::new();
        for (at, written) in gathered.sections.iter().enumerate() {
            let is_shown =
                |title: &str| is_title(&written.title, title) && gathered.section(title) == Some(at);
            let has_place = match &headings {
                Some(headings) => headings.iter().any(|title| is_shown(title)),
                None => gathered.method.written_sections().any(|(title, _)| is_shown(title)),
            };
            if !written.is_asked || !has_place {
                let label = &gathered.workers[written.worker].step.label;
                blocks.push(Block::Heading(format!("{label}: {}", written.title.trim())));
                blocks.push(self.written(at));
            }
        }
        for (at, also) in gathered.also.iter().enumerate().filter(|(_, also)| also.form == Form::Field) {
            blocks.push(Block::Heading(format!("{}: {}", also.label, also.name)));
            blocks.push(Block::Text(text(self.material.project, &also.text, self.flags_at(At::Also(at)))));
        }
        blocks
    }
}

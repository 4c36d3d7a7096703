//! What the steps of a run said, read and put where the report and the checks look for it.

mod gates;

use std::collections::BTreeSet;

use super::{
    Plan, Step,
    answer::{
        Answer, Deferred, Finding, Named, Question, Reading, Verdicts, is_alike, read_answer, read_verdicts,
    },
    cited::{ClaimId, Tree, within},
    fold::Output,
    method::{Method, Part::NextStep, Shape},
    plan::{Agent, Part},
    review,
};

pub(super) struct Gathered<'a> {
    pub plan: &'a Plan,
    pub method: &'static Method,
    /// Angles and whoever put together, in the order of the roster.
    pub workers: Vec<Worker<'a>>,
    pub findings: Vec<Found>,
    /// The numbered entries of the report itself.
    pub items: Vec<Found>,
    pub sections: Vec<Written>,
    pub gates: Vec<Guard<'a>>,
    pub deferred: Vec<Deferred>,
    pub questions: Vec<Question>,
    pub good: Vec<String>,
    pub next_step: String,
    pub also: Vec<Also>,
}

pub(super) struct Worker<'a> {
    pub step: &'a Step,
    pub agent: &'a Agent,
    pub summary: String,
    /// Why it said nothing.
    pub missing: Option<String>,
    /// Why what it said may hold more than was understood.
    pub unread: Option<&'static str>,
}

pub(super) struct Found {
    pub finding: Finding,
    /// Of whom, as an index into the workers.
    pub worker: usize,
    /// A gate found it to be false.
    pub is_dropped: bool,
    /// Whoever puts together says it again, or cites it: it is part of what they say.
    pub is_joined: bool,
    /// What gates said against it.
    pub doubts: Vec<String>,
}

pub(super) struct Written {
    pub title: String,
    pub text: String,
    /// Whether its writer was asked for sections.
    pub is_asked: bool,
    pub worker: usize,
}

pub(super) struct Guard<'a> {
    pub step: &'a Step,
    /// The angle that it validates, or the gate itself.
    pub of: &'a str,
    pub verdicts: Verdicts,
    pub missing: Option<String>,
}

/// What somebody said that has no place of its own.
pub(super) struct Also {
    pub label: String,
    pub name: String,
    pub text: String,
    pub form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A field that nobody asked for.
    Field,
    /// In the words and the form it came in.
    Verbatim,
    /// The same of an answer that could be read only after it was mended, so that most of it stands elsewhere too.
    Mended,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(plan: &'a Plan, outputs: &'a [Output<'a>]) -> Self {
        let mut gathered = Self {
            plan,
            method: plan.request.flow.method(),
            workers: Vec::new(),
            findings: Vec::new(),
            items: Vec::new(),
            sections: Vec::new(),
            gates: Vec::new(),
            deferred: Vec::new(),
            questions: Vec::new(),
            good: Vec::new(),
            next_step: String::new(),
            also: Vec::new(),
        };
        for output in outputs {
            match output.step.agent() {
                Some(agent) if agent.part == Part::Gate => gathered.gate(output, agent),
                Some(agent) => gathered.worker(output, agent),
                None => {}
            }
        }
        gathered.hear_gates();
        gathered.join();
        gathered
    }

    /// Agents name files by their whole paths too. From here on every path begins in the project's folder.
    pub(super) fn within(&mut self, tree: &dyn Tree) {
        let found = self.findings.iter_mut().chain(&mut self.items);
        for quoted in found.flat_map(|found| &mut found.finding.places) {
            quoted.place.path = within(&quoted.place.path, tree).to_owned();
        }
    }

    fn worker(&mut self, output: &'a Output<'a>, agent: &'a Agent) {
        let worker = self.workers.len();
        let reading = read_answer(output.said().unwrap_or_default());
        self.loose(&output.step.label, &reading);
        let unread = output.said().and_then(|_| unread(&reading, output.left_out() > 0));
        let Answer { summary, findings, items, sections, deferred, questions, good, next_step, extra } =
            reading.value;
        let is_asked = agent.part == Part::Synthesis || self.plan.angles_write();
        let found =
            |finding| Found { finding, worker, is_dropped: false, is_joined: false, doubts: Vec::new() };
        self.findings.extend(findings.into_iter().map(found));
        self.sections.extend(sections.into_iter().map(|said| Written {
            title: said.title,
            text: said.text,
            is_asked,
            worker,
        }));
        if is_asked && self.method.items.is_some() {
            self.items.extend(items.into_iter().map(found));
        } else {
            self.findings.extend(items.into_iter().map(found));
        }
        if is_asked && self.method.has(NextStep) && !next_step.trim().is_empty() {
            self.next_step = next_step;
        } else if !next_step.trim().is_empty() {
            self.extra(&output.step.label, vec![Named { name: "next_step".to_owned(), text: next_step }]);
        }
        self.deferred.extend(deferred);
        self.questions.extend(questions);
        self.good.extend(good);
        self.extra(&output.step.label, extra);
        self.workers.push(Worker { step: output.step, agent, summary, missing: output.missing(), unread });
    }

    fn gate(&mut self, output: &'a Output<'a>, agent: &'a Agent) {
        let reading = read_verdicts(output.said().unwrap_or_default());
        self.loose(&output.step.label, &reading);
        let mut verdicts = reading.value;
        self.extra(&output.step.label, std::mem::take(&mut verdicts.extra));
        self.gates.push(Guard { step: output.step, of: &agent.of, verdicts, missing: output.missing() });
    }

    fn loose<T>(&mut self, label: &str, reading: &Reading<'_, T>) {
        if let Some(text) = reading.loose() {
            let name = if reading.is_structured() { "Said besides" } else { "Said in another form" };
            let (label, name) = (label.to_owned(), name.to_owned());
            let form = if reading.is_mended { Form::Mended } else { Form::Verbatim };
            self.also.push(Also { label, name, text, form });
        }
    }

    fn extra(&mut self, label: &str, extra: Vec<Named>) {
        let also = |Named { name, text }| Also { label: label.to_owned(), name, text, form: Form::Field };
        self.also.extend(extra.into_iter().map(also));
    }

    /// Marks what angles found and whoever puts together says again: under the same id, or as one of the same kind that
    /// rests on it. What the gates dropped stands for nothing else.
    fn join(&mut self) {
        let is_angles = |found: &Found| self.workers[found.worker].agent.part == Part::Angle;
        let (mut again, mut cited) = (BTreeSet::new(), BTreeSet::new());
        for found in self.findings.iter().filter(|found| !is_angles(found) && !found.is_dropped) {
            again.extend(found.finding.claim_id());
            let (kind, lives) = self.sort(&found.finding);
            for id in found.finding.cites.iter().filter_map(|cite| ClaimId::read(cite)) {
                cited.extend(lives.then(|| (id.clone(), (kind, true))));
                cited.insert((id, (kind, false)));
            }
        }
        let is_joined = |found: &Found| {
            let id = found.finding.claim_id().filter(|_| is_angles(found));
            id.is_some_and(|id| again.contains(&id) || cited.contains(&(id, self.sort(&found.finding))))
        };
        let joined: Vec<bool> = self.findings.iter().map(is_joined).collect();
        self.findings.iter_mut().zip(joined).for_each(|(found, is_joined)| found.is_joined = is_joined);
    }

    /// Its kind, and whether it names a way in: what names none may rest on what does, and does not replace it.
    fn sort(&self, finding: &Finding) -> (Option<&'static str>, bool) {
        (self.method.findings.kind(&finding.kind), review::has_exploit(finding))
    }

    /// The section that somebody was asked to write under this title; the last word counts.
    pub(super) fn section(&self, title: &str) -> Option<usize> {
        let is_it = |written: &Written| written.is_asked && is_title(&written.title, title);
        self.sections.iter().rposition(is_it)
    }

    /// Whose summary the head shows: the last who wrote for the report. That of a review is code's.
    pub(super) fn summarizer(&self) -> Option<usize> {
        let writes = |worker: &Worker<'_>| match self.method.shape {
            Shape::Folded(_) => worker.agent.part == Part::Synthesis || self.plan.angles_write(),
            Shape::PerAngle => false,
        };
        self.workers.iter().rposition(|worker| writes(worker) && !worker.summary.trim().is_empty())
    }
}

/// Models think aloud before they answer, which is no answer. A field that nobody asked for may be all that was found.
fn unread(reading: &Reading<'_, Answer>, is_cut: bool) -> Option<&'static str> {
    let Answer { findings, items, extra, .. } = &reading.value;
    let has_found = !findings.is_empty() || !items.is_empty();
    if !reading.is_structured() {
        Some("it has no form")
    } else if is_cut || reading.is_cut {
        Some("it is not whole")
    } else {
        (!has_found && !extra.is_empty()).then_some("it is in fields of its own")
    }
}

/// `## 2. Root cause:` is `Root cause`. A template may number its headings too.
pub(super) fn is_title(given: &str, title: &str) -> bool {
    let [given, title] = [given, title].map(|it| it.trim_start_matches(|c: char| !c.is_alphabetic()));
    is_alike(given, title)
}

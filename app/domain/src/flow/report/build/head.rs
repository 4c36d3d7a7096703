//! What everybody reads first.

use super::{
    super::{Head, Meanwhile, Missing},
    Builder,
};
use crate::flow::{answer::Stand, evidence::At, method::Shape, plan};

impl Builder<'_> {
    pub(super) fn head(&self) -> Head {
        let gathered = self.gathered;
        let of_workers = gathered.workers.iter().map(|worker| (worker.step, worker.missing.clone()));
        let of_gates = gathered.gates.iter().map(|gate| (gate.step, gate.unvalidated()));
        let gone = |(step, why): (&plan::Step, Option<String>)| {
            why.map(|why| Missing { what: step.label.clone(), why })
        };
        let mut notes = self.meanwhile();
        notes.extend(self.unjudged());
        if !self.material.has_web && gathered.workers.iter().any(|worker| !worker.agent.role.sees_project()) {
            notes.push("No web was available: what is said about the world is reasoning.".to_owned());
        }
        notes.extend(self.material.outputs.iter().filter(|output| output.left_out() > 0).map(|output| {
            let kilobytes = output.left_out().div_ceil(1024);
            let label = &output.step.label;
            format!("{label} said more than is kept: {kilobytes} KB of its answer are not in this report.")
        }));
        let summary = match (gathered.summarizer(), &gathered.method.shape) {
            (Some(at), _) => gathered.workers[at].summary.trim().to_owned(),
            (None, Shape::PerAngle) => self.review_summary(),
            (None, Shape::Folded(_)) => "Nobody wrote a summary.".to_owned(),
        };
        Head {
            summary: match self.fallen() {
                Some(words) => format!("**{words}**\n\nWritten before that: {summary}"),
                None => summary,
            },
            confidence: gathered.confidence(),
            reason: self.reason(),
            failed_checks: 0,
            flags: self.flags_at(At::Head),
            missing: of_workers.chain(of_gates).filter_map(gone).collect(),
            notes,
        }
    }

    /// Agents cannot change the project, so whoever did is somebody else. Where one tried and something was changed, that
    /// is not asserted: the reader should look for himself.
    fn meanwhile(&self) -> Vec<String> {
        const SHOWN: usize = 10;
        let tried = self.material.tried;
        match &self.material.meanwhile {
            Meanwhile::Changed(paths) if paths.is_empty() => Vec::new(),
            Meanwhile::Changed(paths) => {
                let more = match paths.len().saturating_sub(SHOWN) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let named = paths.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
                let changed = format!(
                    "The project was changed while the run worked: {named}{more}. The evidence is checked against \
                     how it was at the start."
                );
                let doubt = match self.material.meant.as_slice() {
                    [] if tried == 0 => None,
                    [] => Some(
                        "An agent tried to change something meanwhile. Agents are kept from it, but who made this \
                         change is not known: look at it if it was not you."
                            .to_owned(),
                    ),
                    meant => Some(format!(
                        "**An agent tried to change {}, and that was changed.** Agents are kept from it. If it was not \
                         you who changed it, do not rely on this report.",
                        meant.join(", ")
                    )),
                };
                std::iter::once(changed).chain(doubt).collect()
            }
            Meanwhile::Unknown(why) => {
                vec![format!("Whether the project was changed while the run worked is not known: {why}.")]
            }
        }
    }

    /// What the reader of a summary has to know first: its writer could not know the gates' word.
    fn fallen(&self) -> Option<String> {
        let gathered = self.gathered;
        let fallen =
            gathered.method.conclusions().filter(|(title, _)| gathered.stand(title) == Stand::Refuted);
        let words: Vec<_> = fallen.map(|(_, refuted)| refuted).collect();
        match gathered.stand_of_all() {
            Stand::Stands => None,
            Stand::Weakened => {
                Some("The gate holds what is concluded only in part: see the validation.".to_owned())
            }
            Stand::Refuted if words.is_empty() => {
                let words = "The gate refuted this as a whole: read the validation before you rely on it.";
                Some(words.to_owned())
            }
            Stand::Refuted => Some(format!("What was concluded was refuted. {}", words.join(" "))),
        }
    }
}

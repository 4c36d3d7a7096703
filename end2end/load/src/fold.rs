//! What code does between the agents of a flow and the reader: nine answers of 200 KB each are folded for whoever comes
//! next, and made into a report whose evidence is checked. Held against reading the same answers as plain JSON.

use std::{borrow::Cow, collections::HashMap, hint::black_box, time::Instant};

use anyhow::{Context as _, Result};
use domain::{
    fence::Nonce,
    flow::{
        Band, FlowId, Plan, Report, Request, Signals,
        cited::Tree,
        evidence::ProjectText,
        fold::{Ended, Output, fold},
        report::{Material, Meanwhile},
    },
};
use serde_json::{Value, json};

use crate::Goal;

const AGENTS: usize = 9;
const ANSWER_BYTES: usize = 200 * 1024;
const FILES: usize = 200;
const LINES: usize = 2_000;
const ROUNDS: usize = 9;
const LIMIT_MS: f64 = 100.0;

pub fn measure() -> Result<Vec<Goal>> {
    let request = Request::new(FlowId::Investigate, Band::Large, false, "", "It fails.", false)?;
    let plan = Plan::new(request, &Signals::default());
    let said: Vec<String> =
        plan.steps.iter().filter(|step| step.agent().is_some()).map(|step| answer(step.is_gate())).collect();
    anyhow::ensure!(said.len() == AGENTS, "the flow has {} agents", said.len());
    let project = Files::new();
    let nonce = Nonce::new("k3u9x2m4q7w1z8b5").context("no nonce")?;
    let (mut times, mut reference, mut bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        let agents = plan.steps.iter().filter(|step| step.agent().is_some());
        let outputs: Vec<_> =
            agents.zip(&said).map(|(step, text)| Output { step, ended: Ended::Said(text.clone()) }).collect();
        let began = Instant::now();
        black_box(fold(&outputs, &nonce, usize::MAX));
        let report = Report::new(&Material {
            plan: &plan,
            outputs: &outputs,
            project: &project,
            template: None,
            has_web: false,
            meanwhile: Meanwhile::Changed(Vec::new()),
            tried: 0,
            meant: Vec::new(),
        });
        bytes = black_box(serde_json::to_string(&report)?).len();
        times.push(began.elapsed().as_secs_f64() * 1_000.0);
        let began = Instant::now();
        for text in &said {
            black_box(serde_json::from_str::<Value>(text)?);
        }
        reference.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (taken, plain) = (median(&mut times), median(&mut reference));
    println!(
        "{AGENTS} answers of {} KB folded and made into a report of {} KB in {taken:.1} ms, {:.1} × reading them as plain \
         JSON ({plain:.1} ms); median of {ROUNDS}",
        ANSWER_BYTES / 1024,
        bytes / 1024,
        taken / plain
    );
    let text = format!("folding {AGENTS} answers and making the report takes at most {LIMIT_MS} ms");
    Ok(vec![Goal { text, reached: taken <= LIMIT_MS }])
}

/// As an agent answers that finds a great deal.
fn answer(is_gate: bool) -> String {
    let mut entries = Vec::new();
    let mut size = 0;
    while size < ANSWER_BYTES {
        let number = entries.len() + 1;
        let (file, line) = (number % FILES, number % LINES + 1);
        let entry = match is_gate {
            true => json!({
                "id": format!("V{number}"), "about": [format!("E{number}")], "hypothesis": "It is not so.",
                "checked": format!("I read src/{file}.rs:{line} and what calls it."), "verdict": "Confirmed",
                "impact": "It changes nothing about what follows from it, and that was looked at twice.",
            }),
            false => json!({
                "id": format!("E{number}"), "title": format!("What happens in line {line}"), "level": "medium",
                "claim": format!("The value is lost between src/{file}.rs:{line} and its use, as [E1] shows."),
                "weighs": "It supports the first explanation and excludes none of the others.", "trust": "codebase",
                "places": [{"path": format!("src/{file}.rs"), "line": line, "quote": source(line)}], "cites": ["E1"],
            }),
        };
        size += entry.to_string().len();
        entries.push(entry);
    }
    let whole = match is_gate {
        true => json!({
            "items": entries, "drops": [], "recommendation": "stands", "settle": "", "confidence": "High",
            "reason": "All of it was looked at.", "risks": [],
        }),
        false => {
            let text = "So it is [E1], see src/1.rs:2.";
            let titles = ["Problem", "Evidence", "Root cause", "Planned fix per file"];
            let sections: Vec<_> = titles.map(|title| json!({"title": title, "text": text})).into();
            json!({"summary": "It was found.", "findings": entries, "sections": sections})
        }
    };
    whole.to_string()
}

fn source(line: usize) -> String {
    format!("    let value_{line} = take(input, {line});")
}

/// A project in memory.
struct Files(HashMap<String, Vec<String>>);

impl Files {
    fn new() -> Self {
        let lines: Vec<String> = (1..=LINES).map(source).collect();
        Self((0..FILES).map(|file| (format!("src/{file}.rs"), lines.clone())).collect())
    }
}

impl Tree for Files {
    fn holds(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }
}

impl ProjectText for Files {
    fn line_count(&self, path: &str) -> Option<usize> {
        self.0.get(path).map(Vec::len)
    }

    fn line(&self, path: &str, number: usize) -> Option<Cow<'_, str>> {
        let line = self.0.get(path)?.get(number.checked_sub(1)?)?;
        Some(Cow::Borrowed(line))
    }
}

//! What BooCode adds to the agents of a flow: a large review from the click to the report, against the longest chain of
//! agents that wait for each other.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use domain::{
    flow::StepId,
    id::RunId,
    output::Outcome,
    page::Page,
    run::{Shown, Status},
    task,
};
use serde_json::json;
use tokio::time::sleep;
use uuid::Uuid;

use crate::{
    Goal, Programs,
    boocode::{Browser, Home, ModelServer},
    part::Part,
};

const ROUNDS: usize = 3;
const OVERHEAD_MAX: f64 = 1.05;
const RUN_LIMIT: Duration = Duration::from_secs(180);
/// About fifteen seconds of an agent, all of them the model's.
const FOCUS: &str = "[[rate 40]][[tokens 600]][[say {}]]";

pub async fn measure(programs: &Programs) -> Result<Vec<Goal>> {
    let model = Part::start(&["model"]).await?;
    let server = ModelServer { name: "wide", url: model.url.clone(), parallel: 32 };
    let mut home = Home::new(programs, &[server])?;
    home.set("FLOW_BACKEND", "native");
    home.set("FLOW_MODEL", "wide/small");
    let outcome = measure_at(&home).await;
    home.explain(outcome)
}

async fn measure_at(home: &Home) -> Result<Vec<Goal>> {
    let (server, browser) = home.start().await?;
    let session = home.new_project(&browser).await?;
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let id = RunId(Uuid::now_v7());
        let run =
            json!({"id": id, "session": session, "flow": "code-review", "band": "large", "focus": FOCUS});
        let began = Instant::now();
        browser.script("/api/runs", Some(&run)).await?;
        let shown = over(&browser, id).await?;
        let taken = began.elapsed();
        let path = critical_path(&shown);
        println!("{:.2} s, its longest chain of agents {:.2} s", taken.as_secs_f64(), path.as_secs_f64());
        ratios.push(taken.as_secs_f64() / path.as_secs_f64());
    }
    server.stop().await?;
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    println!("{ratio:.3} × the critical path; median of {ROUNDS}");
    let text = format!("a large code-review takes at most {OVERHEAD_MAX} × its critical path");
    Ok(vec![Goal { text, reached: ratio <= OVERHEAD_MAX }])
}

async fn over(browser: &Browser, id: RunId) -> Result<Shown> {
    let began = Instant::now();
    while began.elapsed() < RUN_LIMIT {
        let run = browser.script(&format!("/api/runs/{id}"), None).await?;
        if !matches!(run["status"].as_str(), Some("queued" | "running")) {
            let text = browser.call("page_snapshot", &[("path", format!("/run/{id}"))]).await?;
            let page: domain::feed::Snapshot<Page> = serde_json::from_str(&text)?;
            let shown = page.state.run(id).cloned().context("the page has no run")?;
            if shown.run.status != Status::Done {
                bail!("the run is {:?}", shown.run.status);
            }
            return Ok(shown);
        }
        sleep(Duration::from_millis(20)).await;
    }
    bail!("the run does not end")
}

/// How long the agents took that wait for each other, by their own clocks.
fn critical_path(shown: &Shown) -> Duration {
    let mut until: BTreeMap<&StepId, Duration> = BTreeMap::new();
    for step in &shown.run.steps {
        let own = shown.task_of(&step.step.id).map_or(Duration::ZERO, took);
        let before = step.step.needs.iter().filter_map(|need| until.get(need)).max().copied();
        until.insert(&step.step.id, before.unwrap_or_default() + own);
    }
    until.into_values().max().unwrap_or_default()
}

fn took(task: &task::Task) -> Duration {
    match &task.status {
        task::Status::Settled { outcome: Outcome::Done { measured }, .. } if task.coder.is_some() => {
            Duration::from_millis(measured.duration_ms)
        }
        _ => Duration::ZERO,
    }
}

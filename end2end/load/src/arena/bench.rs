//! How long a battle of six takes, against its slowest lane alone: the same questions put to the model servers by
//! hand, those of the local one in turn and those of the cloud at once.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use domain::id::BattleId;
use reqwest::Client;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use super::field::{Field, is_over, launch};
use crate::{
    Goal, Programs,
    boocode::{Home, ModelServer, PATIENCE},
    part::Part,
};

const RATIO_MAX: f64 = 1.05;
const ROUNDS: usize = 3;
/// Five seconds at the scripted server's pace: a short one, as contestants go.
const PROMPT: &str = "[[count 1000]]";
/// A local server has one of them loaded at a time.
const MODELS: [&str; 3] = ["small", "large", "echo"];
/// A cloud answers all of them at once.
const PERSONAS: [&str; 3] = ["Debugger", "Architect", "Explainer"];

pub async fn measure(programs: &Programs) -> Result<Vec<Goal>> {
    let (desk, cloud) = (Part::start(&["model"]).await?, Part::start(&["model"]).await?);
    let servers = [
        ModelServer { name: "desk", url: desk.url.clone(), parallel: 1 },
        ModelServer { name: "cloud", url: cloud.url.clone(), parallel: 4 },
    ];
    let mut home = Home::new(programs, &servers)?;
    let outcome = compare(&home, &desk.url, &cloud.url).await;
    home.explain(outcome)
}

async fn compare(home: &Home, desk: &str, cloud: &str) -> Result<Vec<Goal>> {
    let (server, browser) = home.start().await?;
    let field = Field::new(home, &browser).await?;
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let (one_by_one, at_once) = (in_turn(desk).await?, together(cloud).await?);
        let slowest = one_by_one.max(at_once);
        let id = BattleId(Uuid::now_v7());
        let local = MODELS.map(|model| format!("desk/{model}"));
        let in_turn = local.iter().map(|model| ("", model.as_str()));
        let contestants: Vec<_> = in_turn.chain(PERSONAS.map(|persona| (persona, "cloud/small"))).collect();
        let began = Instant::now();
        launch(&browser, &field.body(id, "qa", PROMPT, &contestants)).await?;
        let over = async {
            while !is_over(&browser, id).await {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, over).await.context("the battle does not come to its end")?;
        let took = began.elapsed();
        let ratio = took.as_secs_f64() / slowest.as_secs_f64();
        println!(
            "round {round}: local lane {:.2} s, cloud lane {:.2} s, battle of six {:.2} s: {ratio:.3} × the slowest",
            one_by_one.as_secs_f64(),
            at_once.as_secs_f64(),
            took.as_secs_f64()
        );
        ratios.push(ratio);
    }
    server.stop().await?;
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ROUNDS / 2];
    let text =
        format!("a battle of six takes at most {RATIO_MAX} × its slowest lane; it takes {median:.3} ×");
    Ok(vec![Goal { text, reached: median <= RATIO_MAX }])
}

async fn in_turn(url: &str) -> Result<Duration> {
    let began = Instant::now();
    for model in MODELS {
        ask(url, model).await?;
    }
    Ok(began.elapsed())
}

async fn together(url: &str) -> Result<Duration> {
    let began = Instant::now();
    futures::future::try_join_all(PERSONAS.map(|_| ask(url, "small"))).await?;
    Ok(began.elapsed())
}

async fn ask(url: &str, model: &str) -> Result<()> {
    let body = json!({
        "model": model,
        "messages": [{"role": "user", "content": PROMPT}],
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    let client = Client::builder().no_proxy().build()?;
    let answer = client.post(format!("{url}/v1/chat/completions")).json(&body).send().await?;
    let text = answer.error_for_status()?.text().await?;
    if !text.contains("[DONE]") {
        bail!("the model server did not come to its end");
    }
    Ok(())
}

//! Tokens that carry the moment of their making, read three ways in turn; then one stream for many viewers.

pub mod feed;
pub mod stamp;
mod viewers;

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use domain::id::ChatId;
use futures::future::try_join_all;
use reqwest::Client;
use serde_json::{Value, json};

use crate::{
    Goal, Programs,
    boocode::{Browser, Home, ModelServer, PATIENCE, Server},
    machine,
    part::Part,
    sse::Blocks,
};
use stamp::{Stamps, micros};

const STREAMS: u32 = 6;
const RATE: u32 = 200;
const TOKENS: usize = 4 * RATE as usize;
const ROUNDS: u32 = 4;
/// Connecting and warming up is not what is measured.
const SKIPPED: usize = RATE as usize;
pub const MODEL: &str = "scripted/small";

const ADDED_MAX: f64 = 5.0;
const CPU_MAX: Duration = Duration::from_micros(200);
const VIEWERS_MIN: f64 = 0.8;
/// What the relay adds is told from noise only when it is at least this much.
const ADDED_FLOOR_MICROS: f64 = 5.0;

pub async fn measure(programs: &Programs) -> Result<Vec<Goal>> {
    let model = Part::start(&["model"]).await?;
    let address = model.url.trim_start_matches("http://").to_owned();
    let relay = Part::start(&["relay", &address]).await?;
    let servers = [ModelServer { name: "scripted", url: model.url.clone(), parallel: 2 * STREAMS }];
    let mut home = Home::new(programs, &servers)?;
    let outcome = measure_at(&home, &model, &relay).await;
    home.explain(outcome)
}

async fn measure_at(home: &Home, model: &Part, relay: &Part) -> Result<Vec<Goal>> {
    let (server, browser) = home.start().await?;
    let mut chats = Vec::new();
    for _ in 0..STREAMS {
        chats.push(home.new_chat(&browser).await?);
    }
    // The first turn of a chat also asks for its title, which is not what is measured.
    warm_up(&browser, &chats).await?;

    let client = Client::builder().no_proxy().tcp_nodelay(true).build()?;
    let (mut direct, mut relayed, mut fed) = (Way::default(), Way::default(), Way::default());
    let (mut cpu, mut database_cpu) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..ROUNDS {
        direct.add(try_join_all((0..STREAMS).map(|_| completions(&client, &model.url))).await?)?;
        relayed.add(try_join_all((0..STREAMS).map(|_| completions(&client, &relay.url))).await?)?;
        let before = (machine::cpu(server.pid)?, machine::cpu_in(&home.data_dir()));
        fed.add(try_join_all(chats.iter().map(|chat| feed::follow(&browser, *chat, question()))).await?)?;
        cpu += machine::cpu(server.pid)? - before.0;
        database_cpu += machine::cpu_in(&home.data_dir()).saturating_sub(before.1);
    }
    let mut goals = latency_goals(&mut direct, &mut relayed, &mut fed);

    let deltas = STREAMS * ROUNDS * TOKENS as u32;
    let (each, database) = (cpu / deltas, database_cpu / deltas);
    println!("cpu a delta: {each:?}, and {database:?} of Postgres, over {deltas} deltas");
    goals.push(Goal { text: format!("cpu a delta at most {CPU_MAX:?}"), reached: each <= CPU_MAX });
    println!("every delta came once and in order, and a new snapshot shows the same");

    goals.push(fan_out(home, &server, &browser).await?);
    server.stop().await?;
    Ok(goals)
}

fn question() -> String {
    format!("[[stamp {TOKENS}]][[rate {RATE}]]")
}

async fn warm_up(browser: &Browser, chats: &[ChatId]) -> Result<()> {
    try_join_all(chats.iter().map(|chat| feed::follow(browser, *chat, "[[stamp 20]]".into()))).await?;
    let settled = async {
        loop {
            let pages = try_join_all(chats.iter().map(|chat| browser.snapshot(Some(*chat)))).await?;
            let chats =
                pages.iter().flat_map(|page| &page.state.session).flat_map(|open| open.chats.values());
            let mut tasks = chats.flat_map(|chat| chat.tasks.values());
            if tasks.all(|task| task.is_settled()) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, settled).await.context("the chats do not get their titles")?
}

/// Reads a model's answer as any client of it would.
async fn completions(client: &Client, url: &str) -> Result<Stamps> {
    let body = json!({
        "model": "small", "stream": true,
        "messages": [{"role": "user", "content": question()}],
    });
    let request = client.post(format!("{url}/v1/chat/completions")).json(&body);
    let mut response = request.send().await?.error_for_status()?;
    let (mut blocks, mut stamps) = (Blocks::default(), Stamps::default());
    while let Some(bytes) = response.chunk().await? {
        let at = micros();
        blocks.push(&bytes);
        while let Some(block) = blocks.next_block() {
            let Ok(value) = serde_json::from_str::<Value>(&block.data) else { continue };
            if let Some(text) = value["choices"][0]["delta"]["content"].as_str() {
                stamps.push(text, at)?;
            }
        }
    }
    Ok(stamps)
}

/// All that was read one way: how long each token took from its making to its reader.
#[derive(Default)]
struct Way {
    latencies: Vec<u64>,
}

impl Way {
    fn add(&mut self, streams: Vec<Stamps>) -> Result<()> {
        for stamps in streams {
            if stamps.latencies.len() != TOKENS {
                bail!("{} of {TOKENS} tokens came", stamps.latencies.len());
            }
            self.latencies.extend(&stamps.latencies[SKIPPED..]);
        }
        Ok(())
    }

    fn percentile(&mut self, percent: usize) -> f64 {
        self.latencies.sort_unstable();
        let index = (self.latencies.len() * percent / 100).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(index).map_or(f64::NAN, |micros| *micros as f64)
    }
}

fn latency_goals(direct: &mut Way, relayed: &mut Way, fed: &mut Way) -> Vec<Goal> {
    println!("{STREAMS} streams of {RATE} tokens a second, from a token's making to its reader, in µs:");
    for (name, way) in [("direct", &mut *direct), ("relay", &mut *relayed), ("feed", &mut *fed)] {
        let (p50, p99) = (way.percentile(50), way.percentile(99));
        println!("  {name:<7} p50 {p50:>6} p99 {p99:>6}  ({} tokens)", way.latencies.len());
    }
    let [direct, relayed, fed] = [direct, relayed, fed].map(|way| way.percentile(50));
    let (relay_adds, feed_adds) = (relayed - direct, fed - direct);
    let (added, whole) = (feed_adds / relay_adds, fed / relayed);
    println!("added p50 over direct: relay {relay_adds} µs, feed {feed_adds} µs = {added:.1} ×");
    println!("whole p50: feed {fed} µs = {whole:.1} × the relay's {relayed} µs");
    if relay_adds >= ADDED_FLOOR_MICROS {
        let text = format!("the feed's added p50 at most {ADDED_MAX} × the relay's");
        vec![Goal { text, reached: added <= ADDED_MAX }]
    } else {
        let text =
            format!("the feed's whole p50 at most {ADDED_MAX} × the relay's, which adds too little to tell");
        vec![Goal { text, reached: whole <= ADDED_MAX }]
    }
}

async fn fan_out(home: &Home, server: &Server, browser: &Browser) -> Result<Goal> {
    let reference = Part::start(&["broadcast"]).await?;
    let chat = home.new_chat(browser).await?;
    warm_up(browser, &[chat]).await?;
    println!("{} viewers of one stream, tokens delivered:", viewers::VIEWERS);
    let mut least = f64::MAX;
    for pace in viewers::PACES {
        let (mut ours, mut plain) = (viewers::Total::default(), viewers::Total::default());
        for _ in 0..viewers::ROUNDS {
            plain += viewers::of_broadcast(&reference, pace).await?;
            ours += viewers::of_feed(server, browser, chat, pace).await?;
        }
        let (speed, economy) =
            (ours.a_second() / plain.a_second(), ours.a_cpu_second() / plain.a_cpu_second());
        println!("  {} tokens a second\n    broadcast {plain}\n    feed      {ours}", pace.rate);
        println!("    feed ÷ broadcast: {speed:.2} a second, {economy:.2} a second of cpu");
        least = least.min(speed).min(economy);
    }
    let text =
        format!("delivered a second, and a second of cpu, at least {VIEWERS_MIN} of a plain broadcast");
    Ok(Goal { text, reached: least >= VIEWERS_MIN })
}

//! Battles go on while the server, its Postgres or both are killed again and again. At the end none may be missing,
//! nobody have run twice, and nobody and nothing be left behind.

pub mod bench;
mod field;
pub mod judge;
mod verdict;

use std::{path::Path, time::Duration};

use anyhow::{Context as _, Result, bail};
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

use crate::{
    Goal, Programs,
    boocode::{Home, ModelServer},
    chaos::{dice::Dice, journal::Journal, orphans, strikes},
    part::Part,
};
use field::Field;
use verdict::Verdict;

/// Battles that are under way at once.
const FIELDS: u64 = 3;
const SETTLE_LIMIT: Duration = Duration::from_secs(240);

/// `tools` is where agents are installed.
pub async fn run(programs: &Programs, tools: &Path, kills: u32, seed: u64) -> Result<Vec<Goal>> {
    let began = Instant::now();
    let (narrow, wide) = (Part::start(&["model"]).await?, Part::start(&["model"]).await?);
    let servers = [
        ModelServer { name: "narrow", url: narrow.url.clone(), parallel: 1 },
        ModelServer { name: "wide", url: wide.url.clone(), parallel: 4 },
    ];
    let mut home = Home::new(programs, &servers)?;
    home.set_agents(tools);
    let outcome = trial(&home, [&narrow.url, &wide.url], kills, seed).await.and_then(|verdict| {
        println!("{kills} kills · {} · {} s", verdict.summary(), began.elapsed().as_secs());
        if verdict.faults.is_empty() { Ok(Vec::new()) } else { bail!(verdict.faults.words()) }
    });
    home.explain(outcome)
}

async fn trial(home: &Home, models: [&str; 2], kills: u32, seed: u64) -> Result<Verdict> {
    let (server, browser) = home.start().await?;
    let journals = models.map(|url| Journal::follow(url.to_owned()));
    let (stop, stopping) = watch::channel(false);
    let mut fields = Vec::new();
    for number in 0..FIELDS {
        let field = Field::new(home, &browser).await?;
        let fighting = field.fight(browser.clone(), number, Dice::new(seed + 1 + number), stopping.clone());
        fields.push(tokio::spawn(fighting));
    }
    let server = strikes::run(home, server, kills, &mut Dice::new(seed)).await?;
    stop.send_replace(true);
    let mut verdict = Verdict::default();
    let mut launched = Vec::new();
    for field in fields {
        launched
            .extend(timeout(SETTLE_LIMIT, field).await.context("the battles do not come to their end")???);
    }
    for asked in &launched {
        verdict.look_at(&browser, asked).await?;
    }
    verdict.count(&browser, &launched).await?;
    for (name, journal) in ["narrow", "wide"].into_iter().zip(journals) {
        verdict.compare(name, &journal.close().await?);
    }
    let told = browser.worktrees().await?;
    server.stop().await?;
    verdict.look_at_worktrees(&home.data_dir(), &told)?;
    verdict.faults.orphans.extend(orphans(home).await);
    verdict.look_for_leftovers(&home.data_dir(), &launched)?;
    Ok(verdict)
}

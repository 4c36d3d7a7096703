//! Chats go on while the server, its Postgres or both are killed again and again. At the end nothing may be
//! missing, nothing be there twice, and nobody be left behind.

mod asker;
pub mod dice;
pub mod faults;
pub mod flows;
pub mod journal;
mod promises;
pub mod strikes;
mod verdict;

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use crate::{
    Goal, Programs,
    boocode::{Browser, Home, ModelServer, PATIENCE},
    machine,
    part::Part,
    watcher::Watcher,
};
use asker::{Asked, Glance};
use dice::Dice;
use journal::Journal;
use promises::Promises;
use verdict::Verdict;

/// Chats at a server with one place for all of them, and at one with a place for each.
const CHATS_EACH: u32 = 3;
const SETTLE_LIMIT: Duration = Duration::from_secs(180);
const ORPHAN_LIMIT: Duration = Duration::from_secs(20);

pub async fn run(programs: &Programs, kills: u32, seed: u64) -> Result<Vec<Goal>> {
    let began = Instant::now();
    let (narrow, wide) = (Part::start(&["model"]).await?, Part::start(&["model"]).await?);
    let servers = [
        ModelServer { name: "narrow", url: narrow.url.clone(), parallel: 1 },
        ModelServer { name: "wide", url: wide.url.clone(), parallel: CHATS_EACH },
    ];
    let mut home = Home::new(programs, &servers)?;
    let outcome = trial(&home, [&narrow.url, &wide.url], kills, seed).await.and_then(|verdict| {
        println!("{kills} kills · {} · {} s", verdict.summary(), began.elapsed().as_secs());
        if verdict.faults.is_empty() { Ok(Vec::new()) } else { bail!(verdict.faults.words()) }
    });
    home.explain(outcome)
}

/// A chat under test: who asks in it, and who looks on.
struct Conversation {
    asker: JoinHandle<Result<Vec<Asked>>>,
    page: JoinHandle<Result<(Watcher, Promises)>>,
}

async fn trial(home: &Home, models: [&str; 2], kills: u32, seed: u64) -> Result<Verdict> {
    let (server, browser) = home.start().await?;
    let journals = models.map(|url| Journal::follow(url.to_owned()));
    let (stop, stopping) = watch::channel(false);
    let (finish, finishing) = watch::channel(false);
    let mut conversations = Vec::new();
    for (number, model) in (0..CHATS_EACH).flat_map(|_| ["narrow/small", "wide/small"]).enumerate() {
        let chat = home.new_chat(&browser).await?;
        let watcher = Watcher::new(&browser, chat).await?;
        let (glances, glance) = watch::channel(Glance::default());
        let dice = Dice::new(seed + 1 + number as u64);
        let asking = asker::run(browser.clone(), chat, model, dice, glance, stopping.clone());
        let looking = look_on(browser.clone(), watcher, glances, finishing.clone());
        conversations.push(Conversation { asker: tokio::spawn(asking), page: tokio::spawn(looking) });
    }

    let server = strikes::run(home, server, kills, &mut Dice::new(seed)).await?;
    stop.send_replace(true);
    let mut verdict = Verdict::default();
    let mut asked = Vec::new();
    let mut pages = Vec::new();
    for Conversation { asker, page } in conversations {
        asked.push(timeout(SETTLE_LIMIT, asker).await.context("the chats do not come to rest")???);
        pages.push(page);
    }
    finish.send_replace(true);
    for (page, asked) in pages.into_iter().zip(&asked) {
        let (watcher, promises) = timeout(PATIENCE, page).await.context("a page does not catch up")???;
        let fresh = browser.snapshot(Some(watcher.chat)).await?;
        verdict.look_at(&watcher, &promises, &fresh, asked);
    }
    for journal in journals {
        verdict.compare(&journal.close().await?);
    }
    verdict.look_back();
    server.stop().await?;
    verdict.faults.orphans = orphans(home).await;
    Ok(verdict)
}

/// Folds the feed until it is told to finish and has everything.
async fn look_on(
    browser: Browser,
    mut watcher: Watcher,
    glances: watch::Sender<Glance>,
    finishing: watch::Receiver<bool>,
) -> Result<(Watcher, Promises)> {
    let mut promises = Promises::default();
    let mut last = None;
    loop {
        if watcher.step(&browser).await? {
            promises.note(&watcher.mirror)?;
        }
        glances.send_replace(Glance::of(&watcher));
        if *finishing.borrow() {
            if last.is_none() {
                last = browser.snapshot(None).await.ok().map(|snapshot| snapshot.seq);
            }
            let caught_up = last.is_some_and(|seq| watcher.mirror.seq >= seq);
            if caught_up && watcher.mirror.cursor().watch.is_empty() {
                promises.note(&watcher.mirror)?;
                return Ok((watcher, promises));
            }
        }
    }
}

pub async fn orphans(home: &Home) -> Vec<String> {
    let began = Instant::now();
    loop {
        let left = machine::processes_of(&home.data_dir());
        if left.is_empty() || began.elapsed() > ORPHAN_LIMIT {
            return left.iter().map(machine::Process::words).collect();
        }
        sleep(Duration::from_millis(50)).await;
    }
}

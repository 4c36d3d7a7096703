//! What the model server was asked, read often enough that it forgets nothing before.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context as _, Result, bail};
use reqwest::Client;
use serde::Deserialize;
use tokio::{sync::watch, task::JoinHandle, time::sleep};

const READ_EVERY: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, Deserialize)]
pub struct Record {
    id: u64,
    pub last_user_message: String,
    /// Titles come with instructions, turns do not.
    pub system: String,
    pub finished_unix_ms: Option<u64>,
    pub disconnected: bool,
}

#[derive(Deserialize)]
struct Log {
    requests: Vec<Record>,
}

pub struct Journal {
    reading: JoinHandle<Result<BTreeMap<u64, Record>>>,
    closing: watch::Sender<bool>,
}

impl Journal {
    pub fn follow(url: String) -> Self {
        let (closing, closed) = watch::channel(false);
        Self { reading: tokio::spawn(read(url, closed)), closing }
    }

    pub async fn close(self) -> Result<Vec<Record>> {
        self.closing.send_replace(true);
        let records = self.reading.await??;
        let numbers = records.keys().copied().collect::<Vec<_>>();
        if numbers.iter().zip(0..).any(|(id, due)| *id != due) {
            bail!("the model server's log was not read often enough");
        }
        Ok(records.into_values().collect())
    }
}

async fn read(url: String, closed: watch::Receiver<bool>) -> Result<BTreeMap<u64, Record>> {
    let client = Client::builder().no_proxy().build()?;
    let mut records = BTreeMap::new();
    loop {
        let last = *closed.borrow();
        let answer = client.get(format!("{url}/scripted/requests")).send().await;
        let log: Log = answer.context("the model server is gone")?.json().await?;
        records.extend(log.requests.into_iter().map(|record| (record.id, record)));
        if last {
            return Ok(records);
        }
        sleep(READ_EVERY).await;
    }
}

#[cfg(test)]
impl Record {
    /// A turn that was answered to its end.
    pub fn answered(id: u64, question: &str) -> Self {
        Self {
            id,
            last_user_message: question.into(),
            system: String::new(),
            finished_unix_ms: Some(1),
            disconnected: false,
        }
    }
}

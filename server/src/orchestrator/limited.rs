//! An agent's program that may call its tools only so often. It counts by itself, or not at all, so we do.

use std::{collections::HashSet, sync::Arc};

use domain::output::{Measured, Output};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::sync::mpsc;

use crate::{
    backend,
    engine::{Backend, Stop, StopReason},
};

/// How far the agent may run ahead of us.
const OUTPUTS_MAX: usize = 64;

pub(crate) struct Limited {
    pub backend: Arc<dyn Backend>,
    pub calls_max: u32,
}

impl Backend for Limited {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async move {
            let (said, heard) = mpsc::channel(OUTPUTS_MAX);
            let inner = Stop::default();
            let working = async {
                let worked = self.backend.run(&said, &inner).await;
                drop(said);
                worked
            };
            let stopping = async {
                stop.token().cancelled().await;
                inner.ask(stop.reason().unwrap_or(StopReason::Asked));
                std::future::pending::<()>().await
            };
            tokio::select! {
                (worked, is_over) = async { tokio::join!(working, self.pass_on(heard, outputs, &inner)) } => {
                    match is_over {
                        true => Err(backend::Error::Agent {
                            words: format!("It called tools more often than {} times and was stopped.", self.calls_max),
                        }),
                        false => worked,
                    }
                }
                () = stopping => Err(backend::Error::Cancelled),
            }
        }
        .boxed()
    }
}

impl Limited {
    /// Whether it called too often.
    async fn pass_on(
        &self,
        mut heard: mpsc::Receiver<Output>,
        outputs: &mpsc::Sender<Output>,
        inner: &Stop,
    ) -> bool {
        let (mut calls, mut is_over) = (HashSet::new(), false);
        while let Some(output) = heard.recv().await {
            if let Output::Tool(update) = &output {
                calls.insert(update.id.clone());
                if calls.len() > self.calls_max as usize && !is_over {
                    is_over = true;
                    inner.ask(StopReason::TooLong);
                }
            }
            let _ = outputs.send(output).await;
        }
        is_over
    }
}

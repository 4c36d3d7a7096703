//! An agent's program that may call its tools only so often, where nobody can read what it asks its model. Whoever asks
//! by way of us is asked for its answer instead: see the allowance of the relay.

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

#[cfg(test)]
mod tests {
    use domain::tool::Update;

    use super::*;

    /// Calls a tool so often, tells of each call twice, and notices when it is stopped.
    struct Busy {
        calls: usize,
    }

    impl Backend for Busy {
        fn run<'a>(
            &'a self,
            outputs: &'a mpsc::Sender<Output>,
            stop: &'a Stop,
        ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
            async move {
                for call in 0..self.calls {
                    for _ in 0..2 {
                        let update = Update { id: call.to_string(), ..Update::default() };
                        outputs.send(Output::Tool(update)).await.map_err(|_| backend::Error::Cancelled)?;
                    }
                    tokio::task::yield_now().await;
                    if stop.token().is_cancelled() {
                        return Err(backend::Error::Cancelled);
                    }
                }
                Ok(Measured::default())
            }
            .boxed()
        }
    }

    async fn outcome(calls: usize, stop: &Stop) -> (Result<Measured, backend::Error>, usize) {
        let limited = Limited { backend: Arc::new(Busy { calls }), calls_max: 3 };
        let (outputs, mut heard) = mpsc::channel(1);
        let listening = async {
            let mut count = 0;
            while heard.recv().await.is_some() {
                count += 1;
            }
            count
        };
        let working = async {
            let worked = limited.run(&outputs, stop).await;
            drop(outputs);
            worked
        };
        tokio::join!(working, listening)
    }

    #[tokio::test]
    async fn calls_are_counted_each_once_and_the_first_too_many_ends_it() {
        let (worked, heard) = outcome(3, &Stop::default()).await;
        assert!(worked.is_ok() && heard == 6, "{worked:?}, {heard}");
        let (worked, heard) = outcome(1_000_000, &Stop::default()).await;
        let Err(backend::Error::Agent { words }) = worked else { panic!("{worked:?}") };
        assert_eq!(words, "It called tools more often than 3 times and was stopped.");
        assert!(heard >= 8, "what it did until then is told");
    }

    #[tokio::test]
    async fn a_person_can_stop_it_before() {
        let stop = Stop::default();
        stop.ask(StopReason::Asked);
        let (worked, _) = outcome(1_000_000, &stop).await;
        assert!(matches!(worked, Err(backend::Error::Cancelled)), "{worked:?}");
    }
}

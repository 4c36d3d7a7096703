//! The models of one server: the swap with its clock, and what is told about it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::setup::Script;
use crate::swap::{Phase, Swap, Ticket, Work};

pub struct Models {
    load: Duration,
    unload: Duration,
    swaps: bool,
    names: Vec<String>,
    swap: Mutex<Swap>,
    /// Models that a directive shows as loading, with the number of requests that do so.
    pretended: Mutex<HashMap<String, usize>>,
    changes: watch::Sender<u64>,
}

/// The right to use a loaded model; a swap waits until it is dropped.
pub struct Permit(Option<Arc<Models>>);

/// Shows a model as starting for as long as it lives.
pub struct Pretence {
    models: Arc<Models>,
    model: String,
}

/// Longer than any load in a test; nothing waits for ever.
const ADMISSION_MAX: Duration = Duration::from_secs(600);

impl Models {
    pub fn new(script: &Script) -> Arc<Self> {
        Arc::new(Self {
            load: script.load,
            unload: script.unload,
            swaps: script.swaps(),
            names: script.models.clone(),
            swap: Mutex::default(),
            pretended: Mutex::default(),
            changes: watch::Sender::new(0),
        })
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub fn is_ready(&self, model: &str) -> bool {
        !self.swaps || matches!(lock(&self.swap).phase(), Phase::Ready(loaded) if loaded == model)
    }

    /// Waits until the model is loaded. `None` after far too long.
    pub async fn admit(self: Arc<Self>, model: String) -> Option<Permit> {
        if !self.swaps {
            return Some(Permit(None));
        }
        let mut changes = self.changes();
        let ticket = lock(&self.swap).join(&model);
        let queued = Queued { models: &self, ticket };
        self.advance();
        let entering = async {
            while !lock(&self.swap).enter(queued.ticket) {
                changes.changed().await.ok()?;
            }
            Some(Permit(Some(self.clone())))
        };
        timeout(ADMISSION_MAX, entering).await.ok().flatten()
    }

    pub fn pretend_loading(self: &Arc<Self>, model: &str) -> Pretence {
        *lock(&self.pretended).entry(model.to_owned()).or_default() += 1;
        self.changed();
        Pretence { models: self.clone(), model: model.to_owned() }
    }

    pub fn unload(self: &Arc<Self>) {
        lock(&self.swap).unload();
        self.advance();
    }

    /// Every model with its state, in llama-swap's words.
    pub fn states(&self) -> Vec<(String, &'static str)> {
        let phase = lock(&self.swap).phase().clone();
        let pretended = lock(&self.pretended);
        let mut names = self.names.clone();
        // A model that is not listed may still be served when any name will do.
        if let Phase::Starting(model) | Phase::Ready(model) | Phase::Stopping(model) = &phase
            && !names.contains(model)
        {
            names.push(model.clone());
        }
        let state = |name: &String| match &phase {
            _ if pretended.get(name).is_some_and(|requests| *requests > 0) => "starting",
            Phase::Starting(model) if model == name => "starting",
            Phase::Ready(model) if model == name => "ready",
            Phase::Stopping(model) if model == name => "stopping",
            _ => "stopped",
        };
        names.iter().map(|name| (name.clone(), state(name))).collect()
    }

    /// Begins whatever is due. A load goes on even if whoever asked for it is gone, as in the real one.
    fn advance(self: &Arc<Self>) {
        let work = lock(&self.swap).turn();
        self.changed();
        // Answers are dropped while a runtime ends, too, and then nothing is left to load for.
        let (Some(work), Ok(runtime)) = (work, Handle::try_current()) else {
            return;
        };
        let models = self.clone();
        runtime.spawn(async move {
            let mut work = Some(work);
            while let Some(now) = work {
                sleep(match now {
                    Work::Load => models.load,
                    Work::Stop => models.unload,
                })
                .await;
                let mut swap = lock(&models.swap);
                swap.settled();
                work = swap.turn();
                drop(swap);
                models.changed();
            }
        });
    }

    fn changed(&self) {
        self.changes.send_modify(|version| *version += 1);
    }
}

struct Queued<'a> {
    models: &'a Arc<Models>,
    ticket: Ticket,
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        lock(&self.models.swap).leave(self.ticket);
        self.models.advance();
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(models) = &self.0 {
            lock(&models.swap).exit();
            models.advance();
        }
    }
}

impl Drop for Pretence {
    fn drop(&mut self) {
        if let Some(requests) = lock(&self.models.pretended).get_mut(&self.model) {
            *requests -= 1;
        }
        self.models.changed();
    }
}

/// A panic elsewhere leaves these plain values whole, so a poisoned lock is as good as any.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! What is known of a model server's work for one task.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use domain::{
    agent::Why,
    output::{Measured, Output},
};
use tokio::sync::mpsc;

use super::super::measure::Sum;
use crate::{backend::native::loading::Loading, live::guard};

/// What the model server says of its work for one task.
pub(super) struct Used {
    pub sum: Mutex<Sum>,
    pub loading: Mutex<Loading>,
    /// Whether any answer said what it used.
    pub has_counted: AtomicBool,
    /// Told of each answer, so that a limit can be held while it runs. Weak: the task ends before the door does.
    outputs: mpsc::WeakSender<Output>,
}

impl Used {
    pub fn new(outputs: &mpsc::Sender<Output>) -> Self {
        Self {
            sum: Mutex::default(),
            loading: Mutex::default(),
            has_counted: AtomicBool::default(),
            outputs: outputs.downgrade(),
        }
    }

    /// Says to whoever reads along that it may not go on.
    pub async fn tell(&self, why: Why) {
        if let Some(outputs) = self.outputs.upgrade() {
            // Nobody listens to a task that has ended.
            let _ = outputs.send(Output::Text(format!("\n\n*{}*\n\n", why.told()))).await;
        }
    }

    pub async fn add(&self, answer: Measured) {
        let usage = answer.usage;
        guard(&self.sum).add(answer);
        self.has_counted.fetch_or(usage.is_some(), Ordering::Relaxed);
        if let (Some(usage), Some(outputs)) = (usage, self.outputs.upgrade()) {
            // Nobody listens to a task that has ended.
            let _ = outputs.send(Output::Usage(usage)).await;
        }
    }
}

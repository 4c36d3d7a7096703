//! The steps that code carries out: the fold counts what a round brought, the last one makes the report.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use domain::{
    feed::StreamId,
    flow::{
        Report, StepId,
        answer::Kept,
        plan::Work,
        report::{Material, Meanwhile},
        tally,
    },
    output::{Measured, Output},
    run::Shown,
    tool,
    transcript::Transcript,
};
use futures::future::{BoxFuture, FutureExt as _};
use store::Db;
use tokio::{sync::mpsc, task::spawn_blocking};
use uuid::Uuid;

use super::Recorded;
use crate::{
    backend,
    coder::Coders,
    engine::{Backend, Stop},
};

/// Of what one attempt said and did.
const TRIES_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub(crate) struct CodeStep {
    pub db: Db,
    pub coders: Arc<Coders>,
    pub stream: StreamId,
    pub shown: Shown,
    /// What agents answered.
    pub said: BTreeMap<StepId, Kept>,
    pub work: Work,
    pub project: PathBuf,
}

impl Backend for CodeStep {
    fn run<'a>(
        &'a self,
        _: &'a mpsc::Sender<Output>,
        _: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async move {
            let started = Instant::now();
            let (tally, report) = match self.work {
                Work::Render => (None, Some(self.report().await?)),
                Work::Fold | Work::Agent(_) => (Some(self.count()), None),
            };
            store::runs::keep_made(&self.db, self.stream, tally, report.as_ref()).await?;
            Ok(Measured { duration_ms: started.elapsed().as_millis() as u64, ..Measured::default() })
        }
        .boxed()
    }
}

impl CodeStep {
    fn count(&self) -> domain::flow::rounds::Tally {
        let plan = self.shown.run.plan();
        tally(&plan, &self.shown.outputs(&plan, &self.said))
    }

    async fn report(&self) -> Result<Report, backend::Error> {
        let folder = self.coders.recorded_folder(self.shown.recorded());
        let aside = Uuid::now_v7();
        let aside = (self.coders.recorded_folder(aside), aside.to_string());
        let (shown, said, project) = (self.shown.clone(), self.said.clone(), self.project.clone());
        let tries = self.tries().await?;
        let made = spawn_blocking(move || {
            let recorded = Recorded::open(&folder)?.of(&project);
            let meanwhile = match recorded.changed_meanwhile(&project, &aside.0, &aside.1) {
                Ok(paths) => Meanwhile::Changed(paths),
                Err(error) => Meanwhile::Unknown(error.to_string()),
            };
            let meant = match &meanwhile {
                Meanwhile::Changed(paths) => {
                    let named: BTreeSet<_> =
                        tries.iter().flat_map(|said| tool::meant_to_change(said, paths)).collect();
                    named.into_iter().map(str::to_owned).collect()
                }
                Meanwhile::Unknown(_) => Vec::new(),
            };
            let plan = shown.run.plan();
            let template = shown.terms.template.as_deref().and_then(|path| recorded.template(path));
            Ok::<_, git::Error>(Report::new(&Material {
                plan: &plan,
                outputs: &shown.outputs(&plan, &said),
                project: &recorded,
                template: template.as_deref(),
                has_web: shown.terms.has_web,
                meanwhile,
                tried: shown.tried.values().sum(),
                meant,
            }))
        });
        made.await.map_err(|error| unprepared(&error))?.map_err(|error| unprepared(&error))
    }

    /// What the agents said and did that tried to change something.
    async fn tries(&self) -> Result<Vec<Transcript>, backend::Error> {
        let mut tries = Vec::new();
        let carried = self.shown.tried.keys().filter_map(|step| self.shown.carried_by.get(step));
        for task in carried.filter_map(|task| self.shown.tasks.get(task)) {
            for (attempt, _) in task.attempts() {
                let stream = StreamId { task: task.id, attempt };
                let said = store::streams::tail(&self.db, stream, TRIES_BYTES_MAX).await?;
                tries.push(Transcript::read(&said.text));
            }
        }
        Ok(tries)
    }
}

fn unprepared(error: &dyn std::fmt::Display) -> backend::Error {
    backend::Error::Unprepared(error.to_string())
}

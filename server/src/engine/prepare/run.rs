//! The work of runs: agents that only read, and what code does between them.

use std::{path::PathBuf, sync::Arc};

use domain::{
    agent::Pace,
    catalogue::Flavour,
    feed::StreamId,
    fence::Nonce,
    flow::{
        Plan, Step,
        answer::{read_answer, read_verdicts},
        brief::{self, Brief},
        fold::Output as Said,
        plan::{Part, Work as StepWork},
    },
    id::RunId,
    run::{Shown, said_bytes},
    task::Task,
};
use store::Conversation;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{
    super::{Engine, Running, execute::Backend, prompt},
    Unprepared,
};
use crate::{
    coder::{ExternalAgent, Form, NativeAgent, Place},
    orchestrator::{CodeStep, Limited, Recorded},
};

impl Engine {
    pub(super) async fn for_run(
        &self,
        task: &Task,
        id: RunId,
        stream: StreamId,
        running: &Running,
    ) -> Result<Arc<dyn Backend>, Unprepared> {
        let shown = store::runs::get(&self.0.db, id).await?;
        let step = shown.step_of(task.id).ok_or_else(none)?.step.clone();
        let said = store::runs::outputs(&self.0.db, id).await?;
        let project = PathBuf::from(store::workspace::project(&self.0.db, shown.project).await?.path);
        if step.agent().is_none() {
            let (db, coders) = (self.0.db.clone(), Arc::clone(&self.0.coders));
            let work = step.work;
            return Ok(Arc::new(CodeStep { db, coders, stream, shown, said, work, project }));
        }
        let plan = shown.run.plan();
        let outputs = shown.outputs(&plan, &said);
        let brief = self.brief(&shown, &plan, &step, &outputs).await?;
        self.reader(task, stream, running, &step, brief, project)
    }

    /// What an agent is told, out of what was recorded and what was said before.
    async fn brief(
        &self,
        shown: &Shown,
        plan: &Plan,
        step: &Step,
        said: &[Said<'_>],
    ) -> Result<Brief, Unprepared> {
        let folder = self.0.coders.recorded_folder(shown.recorded());
        let (since, template) = (shown.terms.since.clone(), shown.terms.template.clone());
        let target = shown.run.request.target.clone();
        let recorded = spawn_blocking(move || {
            let recorded = Recorded::open(&folder)?;
            let change = since.map(|since| recorded.change_for_prompt(&since, &target)).transpose()?;
            Ok::<_, git::Error>((change, template.and_then(|path| recorded.template(&path))))
        });
        let told = |error: &dyn std::fmt::Display| Unprepared::Told(error.to_string());
        let (change, template) =
            recorded.await.map_err(|error| told(&error))?.map_err(|error| told(&error))?;
        let tokens = self.0.models.catalogue().model(&shown.terms.model).and_then(|(_, model)| model.context);
        let context = brief::Context {
            plan,
            nonce: &Nonce::random(Uuid::new_v4()),
            has_web: shown.terms.has_web,
            diff: change.as_deref(),
            template: template.as_deref(),
            said,
            said_bytes_max: said_bytes(tokens),
        };
        brief::brief(&context, step).map_err(|error| told(&error))
    }

    /// Whoever does the step, where nothing can be changed.
    fn reader(
        &self,
        task: &Task,
        stream: StreamId,
        running: &Running,
        step: &Step,
        brief: Brief,
        project: PathBuf,
    ) -> Result<Arc<dyn Backend>, Unprepared> {
        let StepWork::Agent(agent) = &step.work else { return Err(none()) };
        let coder = task.coder.clone().ok_or_else(none)?;
        let endpoint = self.endpoint(&task.model)?;
        let place = Place::Reading(brief.sees_project.then_some(project));
        let asking = self.asking(stream, &endpoint, running, false);
        let coders = Arc::clone(&self.0.coders);
        let question = store::Said::Question { text: brief.prompt, files: Vec::new(), left_out: Vec::new() };
        if coder.backend.is_native() {
            let (work, model) = (task.work, task.model.clone());
            let conversation = Conversation { work, model, said: vec![question], after: None };
            let request = prompt::request(conversation, endpoint, None).map_err(Unprepared::Told)?;
            let schema = serde_json::from_str(&brief.schema);
            let schema = schema.map_err(|error| Unprepared::Told(error.to_string()))?;
            let fits: fn(&str) -> bool = match agent.part {
                Part::Gate => |text| read_verdicts(text).is_structured(),
                Part::Angle | Part::Synthesis => |text| read_answer(text).is_structured(),
            };
            return Ok(Arc::new(NativeAgent {
                coders,
                client: self.0.client.clone(),
                request,
                stream,
                place,
                coder,
                asking,
                allowed: Some(brief.tools.iter().map(|tool| tool.name().to_owned()).collect()),
                pace: Pace::new(agent.limits.steps, agent.limits.calls),
                form: Some(Form { schema, fits }),
            }));
        }
        let known = coders.agent(&coder.backend);
        let known =
            known.ok_or_else(|| Unprepared::Told(format!("There is no agent called {}.", coder.backend)))?;
        let (before, prompt) = prompt::blocks(vec![question]);
        // What it asks its own account nobody can read, so there only its calls are counted.
        let is_account = endpoint.flavour == Flavour::Account;
        let backend = Arc::new(ExternalAgent {
            coders,
            agent: known,
            stream,
            place,
            coder,
            endpoint,
            model: task.model.model.clone(),
            asking,
            prompt,
            before,
            after: None,
            limits: Some(agent.limits),
        });
        match is_account {
            true => Ok(Arc::new(Limited { backend, calls_max: agent.limits.calls })),
            false => Ok(backend),
        }
    }
}

fn none() -> Unprepared {
    Unprepared::Told("There is nothing to do for this any more.".into())
}

//! The work of battles: contestants, checks, digests, judgements and cross-examinations.

use std::sync::Arc;

use domain::{
    battle::{
        Battle, Contestant, Kind,
        blind::Names,
        digest,
        examination::{self, Shown},
        judge,
        room::Room,
    },
    catalogue::ModelRef,
    feed::StreamId,
    fence::Nonce,
    id::{BattleId, TaskId},
    task::{Task, Work as Purpose},
};
use store::{Conversation, Said};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{
    super::{Engine, Redactor, Running, execute::Backend, prompt},
    Unprepared, Work,
};
use crate::{
    arena::{CheckRun, Contesting, Digesting, Of},
    backend::{Message, Request, Role},
    coder::Place,
};

/// What is read of what one contestant said.
const RESULT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// What is left at least for an examiner's answer.
const EXAMINATION_TOKENS_MIN: u32 = 1_000;

impl Engine {
    pub(super) async fn for_battle(
        &self,
        task: &Task,
        id: BattleId,
        stream: StreamId,
        running: &Running,
    ) -> Result<Arc<dyn Backend>, Unprepared> {
        let battle = store::battles::get(&self.0.db, id).await?;
        match task.work {
            Purpose::Contestant => {
                let backend = self.ask(task, &battle, stream, running, battle.prompt.clone()).await?;
                let coders = Arc::clone(&self.0.coders);
                Ok(match battle.kind {
                    Kind::Coding => Arc::new(Contesting { backend, coders, stream }),
                    Kind::Qa => backend,
                })
            }
            Purpose::Check => self.check(task, &battle, stream),
            Purpose::Digest => self.digest(task, &battle),
            Purpose::Judgement => self.judgement(task, &battle),
            Purpose::Examination => {
                let words = self.examination(task, &battle).await?;
                self.ask(task, &battle, stream, running, words).await
            }
            Purpose::ChatTurn | Purpose::CoderTurn | Purpose::Title | Purpose::Step => Err(none()),
        }
    }

    /// An agent, or a model as its persona, is told `words`.
    async fn ask(
        &self,
        task: &Task,
        battle: &Battle,
        stream: StreamId,
        running: &Running,
        words: String,
    ) -> Result<Arc<dyn Backend>, Unprepared> {
        let endpoint = self.endpoint(&task.model)?;
        let said = vec![Said::Question { text: words, files: Vec::new(), left_out: Vec::new() }];
        let conversation = |work| Conversation { work, model: task.model.clone(), said, after: None };
        if let Some(coder) = task.coder.clone() {
            let place = match battle.kind {
                Kind::Coding => Place::Battle(battle.id),
                // Nobody changed anything there, so there is no beginning of a worktree: whoever looks may read.
                Kind::Qa => {
                    let project = store::workspace::project(&self.0.db, battle.project).await?;
                    Place::Reading(Some(project.path.into()))
                }
            };
            let conversation = conversation(Purpose::CoderTurn);
            return self.agent(
                task,
                stream,
                running,
                Work { coder, place, endpoint, conversation, persona: None },
            );
        }
        let project = store::workspace::project(&self.0.db, battle.project).await?;
        let persona = self.persona(task, project.path).await?;
        let request = prompt::request(conversation(Purpose::ChatTurn), endpoint, persona);
        Ok(self.completion(request.map_err(Unprepared::Told)?))
    }

    fn check(&self, task: &Task, battle: &Battle, stream: StreamId) -> Result<Arc<dyn Backend>, Unprepared> {
        let command = battle.terms.check.clone().ok_or_else(none)?;
        let checked = |contestant: &&Contestant| contestant.check.task() == Some(task.id);
        let of = match battle.contestants.iter().find(checked) {
            Some(contestant) => Of::Result(newest(battle, contestant).ok_or_else(none)?),
            None => Of::Base,
        };
        let (coders, battle, secrets) = (Arc::clone(&self.0.coders), battle.id, self.secrets());
        Ok(Arc::new(CheckRun { coders, stream, command, battle, of, secrets }))
    }

    fn digest(&self, task: &Task, battle: &Battle) -> Result<Arc<dyn Backend>, Unprepared> {
        let analysis = battle.newest_analysis().ok_or_else(none)?;
        let entrant = analysis.entrants.iter().find(|entrant| entrant.digest == task.id).ok_or_else(none)?;
        let result = stream_of(battle, entrant.result).ok_or_else(none)?;
        let room = self.room(&task.model, digest::ANSWER_TOKENS_MAX);
        let request = self.opinion(task, digest::SYSTEM, String::new(), room)?;
        Ok(Arc::new(Digesting {
            db: self.0.db.clone(),
            client: self.0.client.clone(),
            request,
            kind: battle.kind,
            task: battle.prompt.clone(),
            result,
            names: Names::of(battle),
            secrets: self.secrets(),
            room,
            nonce: nonce(),
        }))
    }

    fn judgement(&self, task: &Task, battle: &Battle) -> Result<Arc<dyn Backend>, Unprepared> {
        let analysis = battle.newest_analysis().ok_or_else(none)?;
        let judgement = analysis.judgements.iter().find(|it| it.task == task.id).ok_or_else(none)?;
        let room = self.room(&task.model, judge::ANSWER_TOKENS_MAX);
        let words = judge::question(battle, analysis, judgement, room, &nonce()).ok_or_else(none)?;
        let request = self.opinion(task, judge::SYSTEM, words, room)?;
        Ok(self.completion(Request { schema: Some(judge::schema(judgement.letters())), ..request }))
    }

    async fn examination(&self, task: &Task, battle: &Battle) -> Result<String, Unprepared> {
        let asked = battle.examinations.iter().find(|it| it.task == task.id).ok_or_else(none)?;
        let room = self.room(&task.model, EXAMINATION_TOKENS_MIN);
        let mut texts = Vec::new();
        for contestant in &battle.contestants {
            texts.push(match newest(battle, contestant) {
                Some(stream) => self.result(stream, room.bytes).await?,
                None => Default::default(),
            });
        }
        let titles: Vec<_> = battle.contestants.iter().map(Contestant::title).collect();
        let shown =
            battle.contestants.iter().zip(&texts).zip(&titles).map(|((contestant, (said, patch)), title)| {
                Shown {
                    letter: battle.letter(contestant.id),
                    title,
                    standing: contestant.standing.label(),
                    said,
                    patch,
                    check: contestant.check.told(&battle.course.base_check),
                }
            });
        let shown: Vec<_> = shown.collect();
        Ok(examination::prompt(&battle.prompt, &shown, asked.question.as_deref(), room.bytes, &nonce()))
    }

    /// What an attempt said, and what it changed, as far as it can be shown at all. Whoever reads it may be a
    /// provider's, so no secret is in it.
    async fn result(&self, stream: StreamId, bytes_max: usize) -> Result<(String, String), Unprepared> {
        let said = store::streams::text(&self.0.db, stream, RESULT_BYTES_MAX).await?;
        let patch = store::results::patch_ends(&self.0.db, stream, bytes_max * 2).await?;
        let redactor = Redactor::new(self.secrets());
        let redacted = spawn_blocking(move || {
            let patch = patch.map(|patch| redactor.redact(&patch.text())).unwrap_or_default();
            (redactor.redact(&said), patch)
        });
        redacted.await.map_err(|error| Unprepared::Told(error.to_string()))
    }

    fn room(&self, model: &ModelRef, answer_tokens: u32) -> Room {
        let catalogue = self.0.models.catalogue();
        Room::of(catalogue.model(model).and_then(|(_, model)| model.context), answer_tokens)
    }

    fn opinion(&self, task: &Task, system: &str, words: String, room: Room) -> Result<Request, Unprepared> {
        let (work, model) = (task.work, task.model.clone());
        let conversation = Conversation { work, model, said: Vec::new(), after: None };
        let request = prompt::request(conversation, self.endpoint(&task.model)?, None);
        let messages = vec![Message::new(Role::System, system), Message::new(Role::User, words)];
        let max_tokens = Some(room.answer_tokens);
        Ok(Request { messages, max_tokens, ..request.map_err(Unprepared::Told)? })
    }
}

/// The attempt that counts of a contestant's newest try.
fn newest(battle: &Battle, contestant: &Contestant) -> Option<StreamId> {
    stream_of(battle, *contestant.tries.last()?)
}

fn stream_of(battle: &Battle, task: TaskId) -> Option<StreamId> {
    let attempt = battle.tasks.get(&task)?.attempts().last()?.0;
    Some(StreamId { task, attempt })
}

/// Something that whoever wrote a result could not know.
fn nonce() -> Nonce {
    Nonce::random(Uuid::new_v4())
}

fn none() -> Unprepared {
    Unprepared::Told("There is nothing to do for this any more.".into())
}

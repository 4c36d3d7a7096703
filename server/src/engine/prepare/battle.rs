//! The work of battles: contestants, checks, digests, judgements and cross-examinations.

use std::sync::Arc;

use domain::{
    battle::{
        Battle, Contestant, Identity, Kind,
        blind::Names,
        digest,
        examination::{self, Examined},
        judge,
        room::{self, Room},
    },
    catalogue::ModelRef,
    feed::StreamId,
    fence::Nonce,
    id::BattleId,
    persona::Persona,
    task::{Task, Work as Purpose},
    worktree::Changes,
};
use store::{Conversation, Said};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{
    super::{Engine, Redactor, Running, execute::Backend, prompt},
    Unprepared, Work,
};
use crate::{
    arena::{CheckRun, Contesting, Digesting, Fitting, Of, Told},
    backend::{Message, Request, Role},
    coder::Place,
};

/// What is read of the beginning and of the end of what one contestant said and did: more than can be shown, as most of
/// it is what tools gave.
const RESULT_END_BYTES_MAX: u64 = 256 * 1024;
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
            Purpose::Judgement => self.judgement(task, battle),
            Purpose::Examination => {
                let room = self.room(&task.model, EXAMINATION_TOKENS_MIN);
                let question = self.examination(task, &battle, room).await?;
                match task.coder {
                    Some(_) => self.ask(task, &battle, stream, running, question(room)).await,
                    None => {
                        let request = self.persona_request(task, &battle, question(room)).await?;
                        let client = self.0.client.clone();
                        Ok(Arc::new(Fitting { client, request, room, question, told: Told::AsItComes }))
                    }
                }
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
        if let Some(coder) = task.coder.clone() {
            let place = match battle.kind {
                Kind::Coding => Place::Battle(battle.id),
                // Nobody changed anything there, so there is no beginning of a worktree: whoever looks may read.
                Kind::Qa => {
                    let project = store::workspace::project(&self.0.db, battle.project).await?;
                    Place::Reading(Some(project.path.into()))
                }
            };
            let endpoint = self.endpoint(&task.model)?;
            let conversation = conversation(Purpose::CoderTurn, task, words);
            return self.agent(
                task,
                stream,
                running,
                Work { coder, place, endpoint, conversation, persona: None },
            );
        }
        Ok(self.completion(self.persona_request(task, battle, words).await?))
    }

    /// A model as its persona is told `words`.
    async fn persona_request(
        &self,
        task: &Task,
        battle: &Battle,
        words: String,
    ) -> Result<Request, Unprepared> {
        let project = store::workspace::project(&self.0.db, battle.project).await?;
        let persona = match self.persona_of_contestant(task, battle).await? {
            Some(kept) => Some(kept),
            None => self.persona(task, project.path).await?,
        };
        let conversation = conversation(Purpose::ChatTurn, task, words);
        prompt::request(conversation, self.endpoint(&task.model)?, persona).map_err(Unprepared::Told)
    }

    /// As it was when the battle was launched, whatever the project's file says by now.
    async fn persona_of_contestant(
        &self,
        task: &Task,
        battle: &Battle,
    ) -> Result<Option<Persona>, Unprepared> {
        let Some(name) = task.persona.as_ref().filter(|_| task.work == Purpose::Contestant) else {
            return Ok(None);
        };
        let kept = store::battles::personas(&self.0.db, battle.id).await?;
        Ok(kept.into_iter().find(|persona| persona.name == *name))
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
        let result = battle.stream_of(entrant.result).ok_or_else(none)?;
        let contestant = battle.contestant(entrant.contestant).map_err(|_| none())?;
        let room = self.room(&task.model, digest::ANSWER_TOKENS_MAX);
        let request = self.opinion(task, digest::SYSTEM, String::new(), room)?;
        Ok(Arc::new(Digesting {
            db: self.0.db.clone(),
            client: self.0.client.clone(),
            request,
            kind: battle.kind,
            task: battle.prompt.clone(),
            result,
            left_out: contestant.changes.as_ref().and_then(Changes::left_out_in_brief),
            names: self.names(battle),
            secrets: self.secrets(),
            room,
            nonce: nonce(),
        }))
    }

    fn judgement(&self, task: &Task, battle: Battle) -> Result<Arc<dyn Backend>, Unprepared> {
        let analysis = battle.newest_analysis().cloned().ok_or_else(none)?;
        let judgement = analysis.judgements.iter().find(|it| it.task == task.id);
        let judgement = judgement.cloned().ok_or_else(none)?;
        let room = self.room(&task.model, judge::ANSWER_TOKENS_MAX);
        let schema = Some(judge::schema(judgement.letters()));
        let (names, nonce) = (self.names(&battle), nonce());
        let ask = move |room| judge::question(&battle, &analysis, &judgement, &names, room, &nonce);
        // What is there now is there for as long as it is asked.
        ask(room).ok_or_else(none)?;
        let request = Request { schema, ..self.opinion(task, judge::SYSTEM, String::new(), room)? };
        let question = Box::new(move |room| ask(room).unwrap_or_default());
        let client = self.0.client.clone();
        Ok(Arc::new(Fitting { client, request, room, question, told: Told::OnceWhole }))
    }

    /// What would tell who made a result. What configured agents are called is known where they run.
    fn names(&self, battle: &Battle) -> Names {
        let agents = battle.contestants.iter().filter_map(|it| match &it.identity {
            Identity::Backend(backend) => self.0.coders.agent(backend),
            Identity::Persona(_) | Identity::Plain => None,
        });
        Names::of(battle, &agents.map(|agent| agent.title).collect::<Vec<_>>())
    }

    /// What is asked, as far as it fits into a room that is no larger than this one.
    async fn examination(
        &self,
        task: &Task,
        battle: &Battle,
        most: Room,
    ) -> Result<Box<dyn Fn(Room) -> String + Send + Sync>, Unprepared> {
        let asked = battle.examinations.iter().find(|it| it.task == task.id).ok_or_else(none)?;
        let mut results = Vec::new();
        for contestant in &battle.contestants {
            let (said, patch) = match newest(battle, contestant) {
                Some(stream) => self.result(stream, most.bytes).await?,
                None => Default::default(),
            };
            results.push(Examined {
                letter: battle.letter(contestant.id),
                title: contestant.title(),
                standing: contestant.standing.label(),
                said,
                patch,
                left_out: contestant.changes.as_ref().and_then(Changes::left_out_in_brief),
                check: contestant.check.told(&battle.course.base_check),
            });
        }
        let (prompt, question, nonce) = (battle.prompt.clone(), asked.question.clone(), nonce());
        Ok(Box::new(move |room: Room| {
            examination::prompt(&prompt, &results, question.as_deref(), room.bytes, &nonce)
        }))
    }

    /// What an attempt said, and what it changed, as far as it can be shown at all. Whoever reads it may be a
    /// provider's, so no secret is in it: twice as much is cleaned as is shown, so that none is cut in two.
    async fn result(&self, stream: StreamId, bytes_max: usize) -> Result<(String, String), Unprepared> {
        let (said, _) = store::streams::text_of_ends(&self.0.db, stream, RESULT_END_BYTES_MAX).await?;
        let patch = store::results::patch_ends(&self.0.db, stream, bytes_max * 2).await?;
        let redactor = Redactor::new(self.secrets());
        let redacted = spawn_blocking(move || {
            let patch = match patch {
                Some(patch) if patch.bytes == 0 => digest::NOTHING_CHANGED.to_owned(),
                Some(patch) => redactor.redact(&patch.text()),
                None => String::new(),
            };
            (redactor.redact(&room::ends(&said, bytes_max * 2)), patch)
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
    battle.stream_of(*contestant.tries.last()?)
}

fn conversation(work: Purpose, task: &Task, words: String) -> Conversation {
    let said = vec![Said::Question { text: words, files: Vec::new(), left_out: Vec::new() }];
    Conversation { work, model: task.model.clone(), said, after: None }
}

/// Something that whoever wrote a result could not know.
fn nonce() -> Nonce {
    Nonce::random(Uuid::new_v4())
}

fn none() -> Unprepared {
    Unprepared::Told("There is nothing to do for this any more.".into())
}

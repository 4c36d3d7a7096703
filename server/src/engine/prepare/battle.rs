//! The work of battles: contestants, checks, digests, judgements and cross-examinations.

use std::sync::Arc;

use domain::{
    battle::{
        Analysis, Battle, Contestant, Kind, blind,
        check::Compared,
        digest::{self, Material, Questions},
        examination::{self, Shown},
        judge::{self, Candidate},
    },
    feed::StreamId,
    fence::Nonce,
    id::{BattleId, TaskId},
    task::{Task, Work as Purpose},
};
use store::{Conversation, Said};
use uuid::Uuid;

use super::{
    super::{Engine, Running, execute::Backend, prompt},
    Unprepared, Work,
};
use crate::{
    arena::{CheckRun, Contesting, Digesting, Of},
    backend::{Message, Request, Role},
    coder::Place,
    models::Endpoint,
};

/// What is read of one result.
const RESULT_BYTES_MAX: u64 = 4 * 1024 * 1024;

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
            Purpose::Digest => self.digest(task, &battle).await,
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
            let (place, conversation) = (Place::Battle(battle.id), conversation(Purpose::CoderTurn));
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
        Ok(Arc::new(CheckRun { coders: Arc::clone(&self.0.coders), stream, command, battle: battle.id, of }))
    }

    async fn digest(&self, task: &Task, battle: &Battle) -> Result<Arc<dyn Backend>, Unprepared> {
        let analysis = battle.newest_analysis().ok_or_else(none)?;
        let entrant = analysis.entrants.iter().find(|entrant| entrant.digest == task.id).ok_or_else(none)?;
        let stream = stream_of(battle, entrant.result).ok_or_else(none)?;
        let names = blind::names(battle);
        let (said, patch) = self.result(stream).await?;
        let material = Material {
            task: battle.prompt.clone(),
            said: blind::scrub(&said, &names),
            patch: blind::scrub(&patch, &names),
        };
        let endpoint = self.endpoint(&task.model)?;
        let context = self.0.models.catalogue().model(&task.model).and_then(|(_, model)| model.context);
        let questions = Questions::new(battle.kind, &material, digest::piece_bytes(context), &nonce());
        let request =
            self.opinion(endpoint, task, digest::SYSTEM, String::new(), digest::ANSWER_TOKENS_MAX)?;
        Ok(Arc::new(Digesting { client: self.0.client.clone(), request, questions }))
    }

    fn judgement(&self, task: &Task, battle: &Battle) -> Result<Arc<dyn Backend>, Unprepared> {
        let analysis = battle.newest_analysis().ok_or_else(none)?;
        let judgement = analysis.judgements.iter().find(|it| it.task == task.id).ok_or_else(none)?;
        let first = candidate(battle, analysis, judgement.first).ok_or_else(none)?;
        let second = candidate(battle, analysis, judgement.second).ok_or_else(none)?;
        let words = judge::prompt(battle.kind, &battle.prompt, &first, &second, &nonce());
        let endpoint = self.endpoint(&task.model)?;
        let request = self.opinion(endpoint, task, judge::SYSTEM, words, judge::ANSWER_TOKENS_MAX)?;
        let schema = Some(judge::schema(first.letter, second.letter));
        Ok(self.completion(Request { schema, ..request }))
    }

    async fn examination(&self, task: &Task, battle: &Battle) -> Result<String, Unprepared> {
        let asked = battle.examinations.iter().find(|it| it.task == task.id).ok_or_else(none)?;
        let mut texts = Vec::new();
        for contestant in &battle.contestants {
            texts.push(match newest(battle, contestant) {
                Some(stream) => self.result(stream).await?,
                None => Default::default(),
            });
        }
        let titles: Vec<_> = battle.contestants.iter().map(Contestant::title).collect();
        let base = battle.course.base_check.checked();
        let shown =
            battle.contestants.iter().zip(&texts).zip(&titles).map(|((contestant, (said, patch)), title)| {
                Shown {
                    letter: battle.letter(contestant.id),
                    title,
                    standing: contestant.standing.label(),
                    said,
                    patch,
                    check: contestant.check.checked().map(|checked| checked.compared(base).words()),
                }
            });
        let context = self.0.models.catalogue().model(&task.model).and_then(|(_, model)| model.context);
        let room = digest::piece_bytes(context);
        let shown: Vec<_> = shown.collect();
        Ok(examination::prompt(&battle.prompt, &shown, asked.question.as_deref(), room, &nonce()))
    }

    /// What an attempt said, and what it changed.
    async fn result(&self, stream: StreamId) -> Result<(String, String), Unprepared> {
        let said = store::streams::text(&self.0.db, stream, RESULT_BYTES_MAX).await?;
        let patch = store::results::patch(&self.0.db, stream).await?.unwrap_or_default();
        Ok((said, String::from_utf8_lossy(&patch).into_owned()))
    }

    fn opinion(
        &self,
        endpoint: Endpoint,
        task: &Task,
        system: &str,
        words: String,
        max_tokens: u32,
    ) -> Result<Request, Unprepared> {
        let (work, model) = (task.work, task.model.clone());
        let conversation = Conversation { work, model, said: Vec::new(), after: None };
        let request = prompt::request(conversation, endpoint, None).map_err(Unprepared::Told)?;
        let messages = vec![Message::new(Role::System, system), Message::new(Role::User, words)];
        Ok(Request { messages, max_tokens: Some(max_tokens), ..request })
    }
}

/// What a judge is shown of an entrant.
fn candidate<'a>(battle: &'a Battle, analysis: &'a Analysis, place: usize) -> Option<Candidate<'a>> {
    let entrant = analysis.entrants.get(place)?;
    let contestant = battle.contestant(entrant.contestant).ok()?;
    let base = battle.course.base_check.checked();
    let check: Option<Compared> = contestant.check.checked().map(|checked| checked.compared(base));
    let (digest, changes) = (entrant.text.as_deref()?, contestant.changes.as_ref());
    Some(Candidate { letter: blind::letter(place), digest, changes, check })
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

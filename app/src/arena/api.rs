//! What can be asked of battles. A script asks the same of `/api/battles`.

#[cfg(feature = "ssr")]
use domain::{
    Rejected,
    battle::{CONTESTANTS_MAX, Fresh, Input, analysis::Estimate},
    layout::{Origin, PaneId, Target},
    page::Wanted,
    worktree::Destination,
};
use domain::{
    battle::{Draft, ExaminerDraft},
    feed::StreamId,
    id::{BattleId, ContestantId, SessionId, TaskId},
    persona::Offer,
};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use crate::ports::{self, Compared};
use crate::{error::AppError, wire::Wire};

/// Launches a battle and leads to it. `pane` is where it was asked for, and `launcher` whether in the launcher's own.
#[server(endpoint = "launch_battle")]
pub async fn launch_battle(
    draft: Draft,
    #[server(default)] pane: Option<u32>,
    #[server(default)] launcher: bool,
) -> Result<(), AppError> {
    let origin = Origin { is_maker: launcher, ..Origin::elsewhere(pane.map(PaneId)) };
    // Texts of forms have the line ends of the web.
    let draft = Draft { prompt: draft.prompt.replace("\r\n", "\n"), ..draft };
    let battle = ports::arena()?.launch(draft, origin).await?;
    leptos_axum::redirect(&Wanted::Battle(battle).path());
    Ok(())
}

/// The personas of the session's project, as its file has them now.
#[server(endpoint = "personas_of_session", protocol = Wire)]
pub async fn personas_of_session(session: SessionId) -> Result<Offer, AppError> {
    let project = store::workspace::project_of_session(&ports::db()?, session).await?;
    Ok(ports::personas()?.offer(project.path).await)
}

/// The check that the project names in Settings; empty where it names none.
#[server(endpoint = "check_of_session", protocol = Wire)]
pub async fn check_of_session(session: SessionId) -> Result<String, AppError> {
    let db = ports::db()?;
    let project = store::workspace::project_of_session(&db, session).await?;
    Ok(store::setups::get(&db, project.id).await?.check)
}

#[server(endpoint = "stop_battle")]
pub async fn stop_battle(battle: BattleId) -> Result<(), AppError> {
    decide(battle, Input::Stop { fresh: fresh(), at_ms: now_ms() }).await
}

#[server(endpoint = "stop_contestant")]
pub async fn stop_contestant(battle: BattleId, contestant: ContestantId) -> Result<(), AppError> {
    decide(battle, Input::StopContestant { contestant, fresh: fresh(), at_ms: now_ms() }).await
}

/// Another try from the beginning; one that changes files has a fresh worktree for it.
#[server(endpoint = "retry_contestant")]
pub async fn retry_contestant(battle: BattleId, contestant: ContestantId) -> Result<(), AppError> {
    decide(battle, Input::Retry { contestant, fresh: fresh(), at_ms: now_ms() }).await
}

/// Compares the results, by this model or the default one.
#[server(endpoint = "analyse_battle")]
pub async fn analyse_battle(battle: BattleId, #[server(default)] model: String) -> Result<(), AppError> {
    let judge = ports::arena()?.judge(&model)?;
    decide(battle, Input::Analyse { judge, fresh: fresh(), at_ms: now_ms() }).await
}

#[server(endpoint = "stop_analysis")]
pub async fn stop_analysis(battle: BattleId) -> Result<(), AppError> {
    decide(battle, Input::StopAnalysis { fresh: fresh(), at_ms: now_ms() }).await
}

/// Asks a persona or an agent about the results.
#[server(endpoint = "cross_examine")]
pub async fn cross_examine(
    battle: BattleId,
    examiner: ExaminerDraft,
    #[server(default)] question: String,
) -> Result<(), AppError> {
    let examiner = ports::arena()?.examiner(battle, examiner).await?;
    let question = Some(question);
    decide(battle, Input::Examine { examiner, question, fresh: fresh(), at_ms: now_ms() }).await
}

#[server(endpoint = "stop_examination")]
pub async fn stop_examination(battle: BattleId, task: TaskId) -> Result<(), AppError> {
    decide(battle, Input::StopExamination { task }).await
}

/// The person's own choice; no winner takes it back.
#[server(endpoint = "set_winner")]
pub async fn set_winner(
    battle: BattleId,
    #[server(default)] winner: Option<ContestantId>,
) -> Result<(), AppError> {
    decide(battle, Input::SetWinner { winner }).await
}

/// Brings a result into the project and says how: as a commit on a new branch where one is named.
#[server(endpoint = "adopt_contestant", protocol = Wire)]
pub async fn adopt_contestant(
    contestant: ContestantId,
    #[server(default)] branch: String,
) -> Result<String, AppError> {
    let to = match branch.trim() {
        "" => Destination::Files,
        branch => Destination::Branch(branch.to_owned()),
    };
    ports::arena()?.adopt(contestant, to).await
}

/// Opens a Coder in a contestant's worktree and answers with its address.
#[server(endpoint = "go_on_with", protocol = Wire)]
pub async fn go_on_with(
    contestant: ContestantId,
    #[server(default)] pane: Option<u32>,
) -> Result<String, AppError> {
    let target = Target::Tab { pane: pane.map(PaneId) };
    Ok(Wanted::Chat(ports::arena()?.go_on(contestant, target).await?).path())
}

#[server(endpoint = "discard_worktrees")]
pub async fn discard_worktrees(battle: BattleId) -> Result<(), AppError> {
    ports::arena()?.discard_worktrees(battle).await
}

#[server(endpoint = "restore_worktrees")]
pub async fn restore_worktrees(battle: BattleId) -> Result<(), AppError> {
    ports::arena()?.restore_worktrees(battle).await
}

/// Writes the results folder anew and says where.
#[server(endpoint = "write_results", protocol = Wire)]
pub async fn write_results(battle: BattleId) -> Result<String, AppError> {
    ports::arena()?.write_results(battle).await
}

/// What an analysis of so many results would take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    pub calls: u32,
    /// Where it is known how long this model takes for one.
    pub duration_ms: Option<u64>,
}

/// Of a battle's results as they are, or of so many that are not there yet.
#[server(endpoint = "analysis_cost", protocol = Wire)]
pub async fn analysis_cost(
    #[server(default)] battle: Option<BattleId>,
    entrants: u32,
    #[server(default)] model: String,
) -> Result<Cost, AppError> {
    let unknown = Compared::Unknown((entrants as usize).min(CONTESTANTS_MAX));
    let of = battle.map_or(unknown, Compared::Battle);
    let arena = ports::arena()?;
    let Estimate { calls, duration_ms } = arena.estimate(of, arena.judge(&model)?).await?;
    Ok(Cost { calls, duration_ms })
}

/// What an earlier try said, attempt by attempt.
#[server(endpoint = "output_of_try", protocol = Wire)]
pub async fn output_of_try(battle: BattleId, task: TaskId) -> Result<Vec<(StreamId, String)>, AppError> {
    let db = ports::db()?;
    let battle = store::battles::get(&db, battle).await?;
    let is_own = battle.contestants.iter().any(|contestant| contestant.tries.contains(&task));
    let task = battle.tasks.get(&task).filter(|_| is_own).ok_or_else(|| Rejected::missing("try"))?;
    let mut texts = Vec::new();
    for (attempt, _) in task.attempts() {
        let stream = StreamId { task: task.id, attempt };
        texts.push((stream, store::streams::read(&db, stream, 0, TRY_BYTES_MAX).await?));
    }
    Ok(texts)
}

/// Of a longer output its beginning is shown again.
#[cfg(feature = "ssr")]
const TRY_BYTES_MAX: u64 = 1024 * 1024;

#[cfg(feature = "ssr")]
async fn decide(battle: BattleId, input: Input) -> Result<(), AppError> {
    store::commit::battle(&ports::db()?, battle, input).await?;
    Ok(())
}

#[cfg(feature = "ssr")]
fn fresh() -> Fresh {
    Fresh::new(uuid::Uuid::now_v7())
}

#[cfg(feature = "ssr")]
fn now_ms() -> i64 {
    (time::OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000) as i64
}

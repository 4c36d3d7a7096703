//! What happens to battles, as changes of their rows.

use domain::{
    Rejected,
    battle::{Analysis, Battle, Contestant, Course, Examination, Standing, analysis::Judgement},
    id::{BattleId, TaskId},
    persona::Persona,
};
use sqlx::PgConnection;

use crate::{Error, Result, chats::word};

/// The rows of a battle in which nobody has begun.
pub(crate) async fn insert(connection: &mut PgConnection, battle: &Battle) -> Result<()> {
    sqlx::query!(
        "insert into battles
             (id, session_id, project_id, battle_type, prompt, terms, status, base_check, created_at_ms)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        battle.id.0,
        battle.session.0,
        battle.project.0,
        word(&battle.kind)?,
        battle.prompt,
        serde_json::to_value(&battle.terms)?,
        word(&battle.course.status)?,
        serde_json::to_value(&battle.course.base_check)?,
        battle.created_at_ms
    )
    .execute(&mut *connection)
    .await
    .map_err(|error| {
        Error::on_constraint(error, "battles_pkey", Rejected::Invalid("It was launched already.".into()))
    })?;
    for (place, contestant) in battle.contestants.iter().enumerate() {
        sqlx::query!(
            "insert into contestants (id, battle_id, place, identity, model, variant, lane, status, checked)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            contestant.id.0,
            battle.id.0,
            place as i32,
            contestant.identity.name(),
            contestant.model.to_string(),
            contestant.variant,
            contestant.lane.word(),
            contestant.standing.word(),
            serde_json::to_value(&contestant.check)?
        )
        .execute(&mut *connection)
        .await
        .map_err(|error| {
            let twice = Rejected::Invalid("A contestant is in the battle twice.".into());
            Error::on_constraint(error, "contestants_unique", twice)
        })?;
    }
    Ok(())
}

/// They are long, and no page shows them, so they are no part of the battle itself.
pub(crate) async fn keep_personas(
    connection: &mut PgConnection,
    id: BattleId,
    personas: &[Persona],
) -> Result<()> {
    sqlx::query!("update battles set personas = $2 where id = $1", id.0, serde_json::to_value(personas)?)
        .execute(connection)
        .await?;
    Ok(())
}

/// What lies between queued and over is not the contestant's to tell, so what its task says of that stays.
pub(crate) async fn record_contestant(connection: &mut PgConnection, contestant: &Contestant) -> Result<()> {
    let benchmark = contestant.benchmark.as_ref();
    sqlx::query!(
        "update contestants set task_id = $2, tries = $3, error = $5, duration_ms = $6, tokens_per_sec = $7,
             cost_tokens = $8, benchmark = $9, changes = $10, checked = $11, unkept = $12, mark = $13,
             status = case
                 when $4 = 'queued' and task_id is not distinct from $2 and status in ('dispatched', 'running')
                 then status else $4 end
         where id = $1",
        contestant.id.0,
        contestant.tries.last().map(|task| task.0),
        serde_json::to_value(&contestant.tries)?,
        contestant.standing.word(),
        contestant.standing.reason(),
        benchmark.map(|it| it.duration_ms as i64),
        benchmark.and_then(|it| it.tokens_per_sec),
        contestant.tokens.map(|tokens| tokens as i64),
        benchmark.map(serde_json::to_value).transpose()?,
        contestant.changes.as_ref().map(serde_json::to_value).transpose()?,
        serde_json::to_value(&contestant.check)?,
        contestant.unkept,
        contestant.mark
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// For whoever reads the table: what the contestant's task is doing.
pub(crate) async fn record_task(
    connection: &mut PgConnection,
    task: TaskId,
    standing: &Standing,
) -> Result<()> {
    sqlx::query!("update contestants set status = $2 where task_id = $1", task.0, standing.word())
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn record_course(
    connection: &mut PgConnection,
    id: BattleId,
    course: &Course,
) -> Result<()> {
    sqlx::query!(
        "update battles set status = $2, stopped = $3, base_check = $4, finished_at_ms = $5,
             winner_contestant_id = $6, judged_contestant_id = $7, opinion_tokens = $8, unwritten = $9
         where id = $1",
        id.0,
        word(&course.status)?,
        course.stopped.as_ref().map(word).transpose()?,
        serde_json::to_value(&course.base_check)?,
        course.finished_at_ms,
        course.winner.map(|winner| winner.0),
        course.judged.map(|winner| winner.0),
        course.opinion_tokens as i64,
        course.unwritten
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn record_analysis(
    connection: &mut PgConnection,
    id: BattleId,
    analysis: &Analysis,
) -> Result<()> {
    sqlx::query!(
        "insert into analyses (battle_id, number, analysis) values ($1, $2, $3)
         on conflict (battle_id, number) do update set analysis = excluded.analysis",
        id.0,
        analysis.number as i32,
        serde_json::to_value(analysis)?
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn record_judgement(
    connection: &mut PgConnection,
    id: BattleId,
    analysis: u32,
    place: u32,
    judgement: &Judgement,
) -> Result<()> {
    sqlx::query!(
        "update analyses set analysis = jsonb_set(analysis, array['judgements', $3::text], $4)
         where battle_id = $1 and number = $2",
        id.0,
        analysis as i32,
        place.to_string(),
        serde_json::to_value(judgement)?
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn record_examination(
    connection: &mut PgConnection,
    id: BattleId,
    examination: &Examination,
) -> Result<()> {
    sqlx::query!(
        "insert into cross_examinations (task_id, battle_id, examiner, question, asked_at_ms)
         values ($1, $2, $3, $4, $5)",
        examination.task.0,
        id.0,
        serde_json::to_value(&examination.examiner)?,
        examination.question,
        examination.asked_at_ms
    )
    .execute(connection)
    .await?;
    Ok(())
}

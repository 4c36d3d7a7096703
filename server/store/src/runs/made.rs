//! What the steps of runs made: answers of agents, counts and reports of code.

use std::collections::BTreeMap;

use domain::{
    Rejected,
    feed::StreamId,
    flow::{Report, StepId, answer::Kept, rounds::Tally},
    id::{RunId, TaskId},
};
use sqlx::PgConnection;

use crate::{Db, Result};

/// What an agent answered in the end, with its report.
pub(crate) async fn keep_output(connection: &mut PgConnection, task: TaskId, said: &Kept) -> Result<()> {
    sqlx::query!(
        "update flow_steps set output = $2, left_out = $3 where task_id = $1",
        task.0,
        said.text,
        said.left_out as i64
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// What the agents of a run answered, by step.
pub async fn outputs(db: &Db, id: RunId) -> Result<BTreeMap<StepId, Kept>> {
    let rows = sqlx::query!(
        r#"select step, output as "output!", left_out from flow_steps
           where run_id = $1 and status = 'done' and output is not null"#,
        id.0
    )
    .fetch_all(&db.pool)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (StepId(row.step), Kept { text: row.output, left_out: row.left_out as u64 }))
        .collect())
}

/// Keeps what a step of code made until it reports. One that is no longer running must not.
pub async fn keep_made(
    db: &Db,
    stream: StreamId,
    tally: Option<Tally>,
    report: Option<&Report>,
) -> Result<()> {
    let tally = tally.map(|Tally { new, major, known, contradicted }| {
        serde_json::json!([new, major, known, contradicted])
    });
    let kept = sqlx::query!(
        "insert into task_results (task_id, attempt, tally, report)
         select $1, $2, $3, $4 where exists (
             select from tasks where id = $1 and attempt = $2 and status = 'running')
         on conflict (task_id, attempt) do update set tally = excluded.tally, report = excluded.report",
        stream.task.0,
        stream.attempt.0 as i32,
        tally,
        report.map(serde_json::to_value).transpose()?
    )
    .execute(&db.pool)
    .await?;
    if kept.rows_affected() == 0 { Err(Rejected::Stale.into()) } else { Ok(()) }
}

pub(crate) async fn tally(connection: &mut PgConnection, stream: StreamId) -> Result<Option<Tally>> {
    let row = sqlx::query_scalar!(
        "select tally from task_results where task_id = $1 and attempt = $2",
        stream.task.0,
        stream.attempt.0 as i32
    )
    .fetch_optional(connection)
    .await?
    .flatten();
    let Some(row) = row else { return Ok(None) };
    let [new, major, known, contradicted] = serde_json::from_value(row)?;
    Ok(Some(Tally { new, major, known, contradicted }))
}

/// None while there is none yet.
pub async fn report(db: &Db, id: RunId) -> Result<Option<Report>> {
    let report = sqlx::query_scalar!(
        "select report from flow_steps
         join task_results on task_results.task_id = flow_steps.task_id
             and task_results.attempt = flow_steps.attempt
         where run_id = $1 and flow_steps.status = 'done' and report is not null
         order by place desc limit 1",
        id.0
    )
    .fetch_optional(&db.pool)
    .await?
    .flatten();
    Ok(report.map(serde_json::from_value).transpose()?)
}

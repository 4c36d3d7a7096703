//! What the worktrees of projects begin with.

use domain::{
    Rejected,
    feed::Event,
    id::ProjectId,
    settings::{Part, ProjectEntry},
    setup::Setup,
    workspace::Project,
};

use crate::{Db, Error, Result, feed};

/// Of a project where nobody set anything up: nothing.
pub async fn get(db: &Db, project: ProjectId) -> Result<Setup> {
    let setup = sqlx::query_scalar!("select setup from project_setups where project_id = $1", project.0)
        .fetch_optional(&db.pool)
        .await?;
    Ok(setup.map(serde_json::from_value).transpose()?.unwrap_or_default())
}

pub async fn save(db: &Db, project: ProjectId, setup: &Setup) -> Result<()> {
    let mut tx = db.pool.begin().await?;
    sqlx::query!(
        "insert into project_setups (project_id, setup) values ($1, $2)
         on conflict (project_id) do update set setup = excluded.setup, changed_at = now()",
        project.0,
        serde_json::to_value(setup)?
    )
    .execute(&mut *tx)
    .await
    .map_err(|error| {
        Error::on_constraint(error, "project_setups_project_id_fkey", Rejected::missing("project"))
    })?;
    feed::append(&mut tx, &[Event::SettingsChanged { what: Part::Projects }]).await?;
    tx.commit().await?;
    Ok(())
}

/// Every project of the sidebar, in its order.
pub async fn list(db: &Db) -> Result<Vec<ProjectEntry>> {
    let rows = sqlx::query!(
        r#"select id, name, path, setup as "setup?" from projects
           left join project_setups on project_id = id where not archived order by id"#
    )
    .fetch_all(&db.pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(ProjectEntry {
                project: Project { id: ProjectId(row.id), name: row.name, path: row.path },
                setup: row.setup.map(serde_json::from_value).transpose()?.unwrap_or_default(),
            })
        })
        .collect()
}

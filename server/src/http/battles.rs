//! Battles for scripts, behind the same login as the pages. What is answered is described in `docs/battles.md`.

mod shown;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{StatusCode, header},
    middleware::map_response,
    response::{Html, IntoResponse as _, Response},
    routing::{get, post},
};
use domain::{
    Rejected,
    battle::{Draft, ExaminerDraft, Fresh, Input, Kind, Line},
    id::{BattleId, ContestantId, ProjectId, SessionId},
    layout::Origin,
};
use serde::Deserialize;
use store::Db;
use uuid::Uuid;

use super::scripts::{After, Answer, News, in_our_form};
use crate::{engine::now_ms, live::Live, ports::Ports};
use shown::{Listed, Shown};

#[derive(Clone)]
pub struct Battles {
    pub db: Db,
    pub live: Arc<Live>,
    pub ports: Ports,
}

pub fn routes(battles: Battles) -> Router {
    Router::new()
        .route("/api/battles", get(list).post(create))
        .route("/api/battles/{id}", get(one))
        .route("/api/battles/{id}/stop", post(stop))
        .route("/api/battles/{id}/contestants/{contestant}/stop", post(stop_contestant))
        .route("/api/battles/{id}/contestants/{contestant}/retry", post(retry))
        .route("/api/battles/{id}/analyze", post(analyze))
        .route("/api/battles/{id}/cross-examine", post(cross_examine))
        .route("/api/battles/{id}/winner", post(winner))
        .route("/api/battles/{id}/diff", get(diff))
        .route("/api/battles/{id}/events", get(events))
        .route("/battle/{id}/export", get(export))
        .layer(map_response(in_our_form))
        .with_state(battles)
}

#[derive(Deserialize)]
struct Filter {
    project: Option<ProjectId>,
    #[serde(rename = "type")]
    kind: Option<Kind>,
    before: Option<BattleId>,
    #[serde(default = "fifty")]
    limit: u32,
}

fn fifty() -> u32 {
    50
}

async fn list(State(at): State<Battles>, Query(filter): Query<Filter>) -> Answer<Json<Vec<Listed>>> {
    let Filter { project, kind, before, limit } = filter;
    let rows = store::battles::list(&at.db, project, kind, before, limit.clamp(1, 500)).await?;
    Ok(Json(rows.into_iter().map(Listed::of).collect()))
}

/// What is not said is as the launcher has it when it opens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    id: Option<BattleId>,
    session: SessionId,
    #[serde(rename = "type")]
    kind: Kind,
    prompt: String,
    contestants: Vec<Line>,
    limit_s: Option<u32>,
    tokens_max: Option<u64>,
    #[serde(default)]
    carry: bool,
    /// A command; `none` for none, and nothing for the project's own.
    check: Option<String>,
    /// A model; `none` for nobody, and nothing for the default one.
    #[serde(default)]
    judge: String,
}

async fn create(State(at): State<Battles>, Json(asked): Json<Asked>) -> Answer<Response> {
    let judge = match asked.judge.as_str() {
        "none" => String::new(),
        "" => at.ports.catalogue.default_model().map(|model| model.to_string()).unwrap_or_default(),
        model => model.to_owned(),
    };
    let check = match asked.check.as_deref() {
        Some("none") => String::new(),
        Some(command) => command.to_owned(),
        None => {
            let project = store::workspace::project_of_session(&at.db, asked.session).await?;
            store::setups::get(&at.db, project.id).await?.check
        }
    };
    let draft = Draft {
        id: asked.id.unwrap_or_else(|| BattleId(Uuid::now_v7())),
        session: asked.session,
        kind: asked.kind,
        prompt: asked.prompt,
        contestants: asked.contestants,
        limit_s: asked.limit_s.unwrap_or(domain::battle::LIMIT_S),
        tokens_max: asked.tokens_max,
        carry: asked.carry,
        check,
        judge,
    };
    let id = at.ports.arena.launch(draft, Origin::elsewhere(None)).await?;
    Ok((StatusCode::CREATED, at.shown(id).await?).into_response())
}

async fn one(State(at): State<Battles>, Path(id): Path<BattleId>) -> Answer<Json<Shown>> {
    at.shown(id).await
}

async fn stop(State(at): State<Battles>, Path(id): Path<BattleId>) -> Answer<Json<Shown>> {
    at.decide(id, Input::Stop { fresh: fresh(), at_ms: now_ms() }).await
}

async fn stop_contestant(
    State(at): State<Battles>,
    Path((id, contestant)): Path<(BattleId, ContestantId)>,
) -> Answer<Json<Shown>> {
    at.decide(id, Input::StopContestant { contestant, fresh: fresh(), at_ms: now_ms() }).await
}

async fn retry(
    State(at): State<Battles>,
    Path((id, contestant)): Path<(BattleId, ContestantId)>,
) -> Answer<Json<Shown>> {
    at.decide(id, Input::Retry { contestant, fresh: fresh(), at_ms: now_ms() }).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Analyze {
    #[serde(default)]
    model: String,
}

async fn analyze(
    State(at): State<Battles>,
    Path(id): Path<BattleId>,
    Json(Analyze { model }): Json<Analyze>,
) -> Answer<Json<Shown>> {
    let judge = at.ports.arena.judge(&model)?;
    at.decide(id, Input::Analyse { judge, fresh: fresh(), at_ms: now_ms() }).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CrossExamine {
    backend: Option<String>,
    persona: Option<String>,
    model: String,
    question: Option<String>,
}

async fn cross_examine(
    State(at): State<Battles>,
    Path(id): Path<BattleId>,
    Json(asked): Json<CrossExamine>,
) -> Answer<Json<Shown>> {
    let CrossExamine { backend, persona, model, question } = asked;
    let examiner = at.ports.arena.examiner(id, ExaminerDraft { backend, persona, model }).await?;
    at.decide(id, Input::Examine { examiner, question, fresh: fresh(), at_ms: now_ms() }).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Winner {
    /// None takes the choice back.
    contestant: Option<ContestantId>,
}

async fn winner(
    State(at): State<Battles>,
    Path(id): Path<BattleId>,
    Json(Winner { contestant }): Json<Winner>,
) -> Answer<Json<Shown>> {
    at.decide(id, Input::SetWinner { winner: contestant }).await
}

#[derive(Deserialize)]
struct OfContestant {
    contestant: ContestantId,
    /// Counted from 1; the newest where none is named.
    #[serde(rename = "try")]
    nth: Option<usize>,
}

/// The patch of one of a contestant's tries.
async fn diff(
    State(at): State<Battles>,
    Path(id): Path<BattleId>,
    Query(OfContestant { contestant, nth }): Query<OfContestant>,
) -> Answer<Response> {
    let battle = store::battles::get(&at.db, id).await?;
    let known = battle.contestant(contestant)?;
    let missing = || Rejected::missing("try of this contestant");
    let of = match nth {
        Some(nth) => Some(*nth.checked_sub(1).and_then(|at| known.tries.get(at)).ok_or_else(missing)?),
        None => None,
    };
    let none = || Rejected::missing("diff");
    let stream = battle.stream_of_try(contestant, of)?.ok_or_else(none)?;
    if let Some(why) = store::results::made(&at.db, stream).await?.unkept {
        return Err(Rejected::Invalid(format!("Its changes could not be kept: {why}")).into());
    }
    let patch = store::results::patch(&at.db, stream).await?.ok_or_else(none)?;
    Ok(([(header::CONTENT_TYPE, "text/x-diff; charset=utf-8")], patch).into_response())
}

/// To be kept: nothing in it runs or loads anything, and a browser that shows it lets nothing do so.
async fn export(State(at): State<Battles>, Path(id): Path<BattleId>) -> Answer<Response> {
    let (name, page) = at.ports.arena.export(id).await?;
    let headers = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; sandbox".to_owned(),
        ),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((headers, Html(page)).into_response())
}

/// What happened to the battle after an event; waits a while where there is nothing yet.
async fn events(
    State(at): State<Battles>,
    Path(id): Path<BattleId>,
    Query(after): Query<After>,
) -> Answer<Json<News>> {
    store::battles::get(&at.db, id).await?;
    after.news(&at.db, &at.live, |event| event.battle() == Some(id)).await
}

impl Battles {
    async fn decide(&self, id: BattleId, input: Input) -> Answer<Json<Shown>> {
        store::commit::battle(&self.db, id, input).await?;
        self.shown(id).await
    }

    async fn shown(&self, id: BattleId) -> Answer<Json<Shown>> {
        // Before the battle is read, so that no event after it is missed.
        let seq = store::feed::head(&self.db).await?;
        Ok(Json(Shown::of(&store::battles::get(&self.db, id).await?, seq)))
    }
}

fn fresh() -> Fresh {
    Fresh::new(Uuid::now_v7())
}

//! The history as one list, read in pieces.

use domain::{
    backend::TITLES,
    battle,
    chat::title,
    flow::{Band, FlowId},
    history::{Entry, Filter, Found, Kind, Listing, Place, Speaker, State, Worded as _},
    id::{ProjectId, SessionId},
    run,
    search::{Asked, Marked, snippet},
};
use time::{Duration, OffsetDateTime, Time, macros::datetime};
use uuid::Uuid;

use crate::{Db, Error, Result};

pub const ENTRIES_MAX: usize = 30;
/// Where nobody named a day. An open end would keep Postgres from going by the index.
const EARLIEST: OffsetDateTime = datetime!(0000-01-01 00:00 UTC);
const LATEST: OffsetDateTime = datetime!(9999-12-31 23:59:59 UTC);

/// The piece of the list that a filter asks for, newest first. Each kind is one arm of the union: it brings its
/// own title, time, state and parts, and all else is shared.
pub async fn list(db: &Db, filter: &Filter) -> Result<Listing> {
    let words = filter.asked.as_ref().map_or(&[][..], Asked::words);
    let queries: Vec<String> = words.iter().map(|word| format!("'{word}':*")).collect();
    let midnight = |day: time::Date| day.with_time(Time::MIDNIGHT).assume_utc();
    let from = filter.from.map_or(EARLIEST, midnight);
    let until = filter.to.and_then(|day| midnight(day).checked_add(Duration::DAY)).unwrap_or(LATEST);
    let (before, before_id) =
        filter.before.map_or((LATEST, Uuid::max()), |place| (at(place.at_us), place.id));
    // As they are shown, and as they are called in the tables.
    let plain = battle::Identity::Plain.to_string();
    let known = TITLES.into_iter().chain([("", plain.as_str())]);
    let (names, titles): (Vec<_>, Vec<_>) =
        known.map(|(name, title)| (name.to_owned(), title.to_owned())).unzip();
    let rows = sqlx::query_as!(
        Row,
        r#"with word as (
               select nth, query::tsquery as query from unnest($1::text[]) with ordinality as asked (query, nth)
           ), saying as (
               -- Every word is said somewhere in the chat, not all of them at once.
               select chat_id from (
                   select distinct nth, chat_id from word join search_entries entry on words @@ query
               ) said group by chat_id having count(*) = cardinality($1)
           ), listed as (
               (select 'chat' as kind, chats.id, chats.title, chats.active_at, turn.state,
                    projects.id as project_id, projects.name as project,
                    sessions.id as session_id, sessions.name as session,
                    (select coalesce(max(place) + 1, 0) from messages where chat_id = chats.id) as parts,
                    chats.archived or sessions.archived or projects.archived as archived
                from chats
                join sessions on sessions.id = chats.session_id
                join projects on projects.id = sessions.project_id
                left join lateral (
                    -- A chat works on one turn at a time, and that is the last one.
                    select case
                        when status = 'running' then 'running'
                        when status = 'queued' then 'waiting'
                        when not outcome ?| array['done', 'cancelled'] then 'failed'
                        when exists (select from queued_messages where chat_id = chats.id) then 'waiting'
                        else 'done' end as state
                    from messages join tasks on tasks.id = messages.task_id
                    where messages.chat_id = chats.id order by place desc limit 1
                ) turn on true
                where coalesce($3, 'chat') = 'chat' and not $12 and not $16
                  and (cardinality($1) = 0 or chats.id in (select chat_id from saying))
                  and ($4::uuid is null or projects.id = $4)
                  and ($5::uuid is null or sessions.id = $5)
                  and ($6::text is null or turn.state = $6)
                  and (not $21 or chats.archived or sessions.archived or projects.archived)
                  and chats.active_at >= $7 and chats.active_at < $8
                  and (chats.active_at, chats.id) < ($9::timestamptz, $10)
                order by chats.active_at desc, chats.id desc limit $11)
               union all
               (select 'battle', battles.id, left(battles.prompt, 400), own.active_at, own.state,
                    projects.id, projects.name, sessions.id, sessions.name, own.parts, sessions.archived or projects.archived
                from battles
                join sessions on sessions.id = battles.session_id
                join projects on projects.id = battles.project_id
                cross join lateral (
                    select count(*) as parts, to_timestamp(battles.created_at_ms / 1000.0) as active_at,
                        case battles.status when 'completed' then 'done' when 'cancelled' then 'stopped'
                            else 'running' end as state,
                        bool_or($14::text is null or position($14 in lower(concat_ws(' ', identity, known.title, model))) > 0) as took_part,
                        bool_or($15::text is null or (
                            contestants.id = coalesce(winner_contestant_id, judged_contestant_id)
                            and position($15 in lower(concat_ws(' ', identity, known.title, model))) > 0)) as won
                    from contestants
                    left join unnest($19::text[], $20::text[]) as known (name, title) on known.name = identity
                        and (battles.battle_type = 'coding' or identity = '')
                    where battle_id = battles.id
                ) own
                where coalesce($3, 'battle') = 'battle' and not $16
                  and not exists (
                      select from unnest($2::text[]) as said (word)
                      where position(said.word in lower(battles.prompt)) = 0)
                  and ($4::uuid is null or projects.id = $4)
                  and ($5::uuid is null or sessions.id = $5)
                  and ($6::text is null or own.state = $6)
                  and (not $21 or sessions.archived or projects.archived)
                  and ($13::text is null or battle_type = $13) and own.took_part and own.won
                  and own.active_at >= $7 and own.active_at < $8
                  and (own.active_at, battles.id) < ($9::timestamptz, $10)
                order by own.active_at desc, battles.id desc limit $11)
               union all
               (select 'run', flow_runs.id, flow_runs.flow || ' ' || left(flow_runs.focus, 400), own.active_at, own.state,
                    projects.id, projects.name, sessions.id, sessions.name, own.parts, sessions.archived or projects.archived
                from flow_runs
                join sessions on sessions.id = flow_runs.session_id
                join projects on projects.id = flow_runs.project_id
                cross join lateral (
                    select count(*) filter (where plan -> 'work' ? 'agent') as parts,
                        to_timestamp(flow_runs.created_at_ms / 1000.0) as active_at,
                        case flow_runs.status when 'cancelled' then 'stopped' when 'running' then
                            case when bool_or(status in ('running', 'done', 'failed')) then 'running' else 'waiting' end
                            else flow_runs.status end as state
                    from flow_steps where run_id = flow_runs.id
                ) own
                where coalesce($3, 'run') = 'run' and not $12
                  and not exists (
                      select from unnest($2::text[]) as said (word)
                      where position(said.word in lower(flow_runs.flow || ' ' || flow_runs.focus)) = 0)
                  and ($4::uuid is null or projects.id = $4)
                  and ($5::uuid is null or sessions.id = $5)
                  and ($6::text is null or own.state = $6)
                  and (not $21 or sessions.archived or projects.archived)
                  and ($17::text is null or flow_runs.flow = $17) and ($18::text is null or flow_runs.band = $18)
                  and own.active_at >= $7 and own.active_at < $8
                  and (own.active_at, flow_runs.id) < ($9::timestamptz, $10)
                order by own.active_at desc, flow_runs.id desc limit $11)
               union all
               (select 'session', sessions.id, projects.name || ' · ' || sessions.name, own.active_at, null,
                    null, null, null, null, own.parts, sessions.archived or projects.archived
                from sessions
                join projects on projects.id = sessions.project_id
                cross join lateral (
                    select count(*) as parts, coalesce(max(active_at), sessions.created_at) as active_at
                    from chats where session_id = sessions.id
                ) own
                where coalesce($3, 'session') = 'session' and not $12 and not $16
                  and not exists (
                      select from unnest($2::text[]) as said (word)
                      where position(said.word in lower(projects.name || ' ' || sessions.name)) = 0)
                  and ($4::uuid is null or projects.id = $4)
                  and $5::uuid is null and $6::text is null
                  and (not $21 or sessions.archived or projects.archived)
                  and own.active_at >= $7 and own.active_at < $8
                  and (own.active_at, sessions.id) < ($9::timestamptz, $10)
                order by own.active_at desc, sessions.id desc limit $11)
               order by active_at desc, id desc limit $11
           )
           select kind as "kind!", listed.id as "id!", title as "title!", active_at as "active_at!", state,
               project_id, project, session_id, session, parts as "parts!", archived as "archived!",
               said.is_question as "is_question?", said.body as "said?"
           from listed
           left join lateral (
               select messages.body is not null as is_question, entry.body
               from search_entries entry join messages on messages.id = entry.id
               where entry.chat_id = listed.id and exists (select from word where entry.words @@ word.query)
               order by (select count(*) from word where entry.words @@ word.query) desc, place desc limit 1
           ) said on true
           order by active_at desc, id desc"#,
        &queries,
        words,
        filter.kind.map(Kind::word),
        filter.project.map(|id| id.0),
        filter.session.map(|id| id.0),
        filter.state.map(State::word),
        from,
        until,
        before,
        before_id,
        ENTRIES_MAX as i64 + 1,
        filter.is_of_battles(),
        filter.battle_type.map(battle::Kind::word),
        filter.contestant.as_ref().map(|name| name.to_lowercase()),
        filter.winner.as_ref().map(|name| name.to_lowercase()),
        filter.is_of_runs(),
        filter.flow.map(FlowId::name),
        filter.band.map(Band::name),
        &names,
        &titles,
        filter.archived
    )
    .fetch_all(&db.pool)
    .await?;
    let goes_on = rows.len() > ENTRIES_MAX;
    let entries: Vec<Entry> = rows
        .into_iter()
        .take(ENTRIES_MAX)
        .map(|row| row.into_entry(filter.asked.as_ref()))
        .collect::<Result<_>>()?;
    let older = entries.last().filter(|_| goes_on).map(Entry::cursor);
    Ok(Listing { entries, older })
}

struct Row {
    kind: String,
    id: Uuid,
    title: String,
    active_at: OffsetDateTime,
    state: Option<String>,
    project_id: Option<Uuid>,
    project: Option<String>,
    session_id: Option<Uuid>,
    session: Option<String>,
    parts: i64,
    archived: bool,
    is_question: Option<bool>,
    said: Option<String>,
}

impl Row {
    fn into_entry(self, asked: Option<&Asked>) -> Result<Entry> {
        let unknown = |what: &str| Error::Unknown(format!("{} is {what}", self.id));
        let found = asked.zip(self.said.as_deref()).and_then(|(asked, said)| {
            let by = if self.is_question == Some(true) { Speaker::Person } else { Speaker::Model };
            Some(Found { by, text: snippet(said, asked)? })
        });
        let project = self.project_id.map(ProjectId).zip(self.project);
        let session = self.session_id.map(SessionId).zip(self.session);
        let kind = Kind::from_word(&self.kind).ok_or_else(|| unknown(&self.kind))?;
        let title = match kind {
            Kind::Battle => title::from_prompt(&self.title),
            Kind::Run => {
                let (flow, focus) = self.title.split_once(' ').unwrap_or((&self.title, ""));
                run::call(flow.parse()?, focus)
            }
            Kind::Chat | Kind::Session => self.title.clone(),
        };
        Ok(Entry {
            kind,
            id: self.id,
            state: match &self.state {
                Some(word) => Some(State::from_word(word).ok_or_else(|| unknown(word))?),
                None => None,
            },
            title: Marked::new(title, asked),
            place: project.zip(session).map(|(project, session)| Place { project, session }),
            active_at_us: (self.active_at.unix_timestamp_nanos() / 1_000) as i64,
            parts: self.parts as u64,
            archived: self.archived,
            found,
        })
    }
}

/// A cursor is within what can be told.
fn at(us: i64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::microseconds(us)
}

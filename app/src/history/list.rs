//! The list itself, the same for every kind of entry, and what stands there when it is empty.

use domain::{
    history::{Entry, Filter, Found, Listing, PATH, Place, Speaker, State, Worded as _},
    id::{ProjectId, SessionId},
    search::Marked,
    workspace::Workspace,
};
use leptos::prelude::*;
use time::{OffsetDateTime, format_description::BorrowedFormatItem, macros::format_description};

use super::{
    filters::{condition, state_name},
    kinds::{count, look},
};
use crate::{
    icon::Icon,
    ui::{Badge, Tone},
};

/// Where no script says it better. The server does not know where its reader is, so it says which time it means.
const SAID: &[BorrowedFormatItem<'_>] =
    format_description!("[day padding:none] [month repr:short] [year], [hour]:[minute] UTC");
const EXACT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");

#[component]
pub fn List(filter: Filter, listing: Listing, workspace: Workspace) -> impl IntoView {
    if listing.entries.is_empty() {
        return view! { <Nothing filter workspace /> }.into_any();
    }
    let entries = listing.entries.iter().map(|entry| view! { <Line entry=entry.clone() /> }).collect_view();
    let newest = filter.before.map(|_| {
        let newest = Filter { before: None, ..filter.clone() };
        view! { <a class="button" href=newest.path() rel="first">{Icon::Previous.view()} "Newest"</a> }
    });
    let older = listing.older.map(|place| {
        let older = Filter { before: Some(place), ..filter.clone() };
        view! { <a class="button" href=older.path() rel="next">"Older" {Icon::Next.view()}</a> }
    });
    let way = (newest.is_some() || older.is_some()).then(|| {
        view! { <nav class="history-way" aria-label="Through the history">{newest} {older}</nav> }
    });
    view! {
        <ol class="entries" aria-label="Newest first">{entries}</ol>
        {way}
    }
    .into_any()
}

#[component]
fn Line(entry: Entry) -> impl IntoView {
    let look = look(entry.kind);
    let place = entry.place.map(|Place { project, session }| {
        view! {
            <li><a href=of_project(project.0)>{project.1}</a></li>
            <li><a href=of_session(session.0)>{session.1}</a></li>
        }
    });
    view! {
        <li class="entry" data-kind=entry.kind.word()>
            <span class="entry-icon" title=look.names.0>{look.icon.view()}</span>
            <h2 class="entry-title">
                <span class="visually-hidden">{look.names.0} ": "</span>
                <a href=(look.path)(entry.id)>{marked(&entry.title)}</a>
            </h2>
            {entry.state.map(|state| view! { <StateBadge state /> })}
            {entry.found.map(|found| view! { <Snippet found /> })}
            <ul class="entry-facts">
                {place}
                <li>{count(entry.parts, look.parts)}</li>
                <li>{moment(entry.active_at_us)}</li>
                {entry.archived.then(|| view! { <li><Badge tone=Tone::Cancelled text="Archived" /></li> })}
            </ul>
        </li>
    }
    .into_any()
}

#[component]
fn StateBadge(state: State) -> impl IntoView {
    let tone = match state {
        State::Running => Tone::Running,
        State::Waiting => Tone::Waiting,
        State::Failed => Tone::Failed,
        State::Done => Tone::Done,
        State::Stopped => Tone::Cancelled,
    };
    view! { <Badge tone text=state_name(state) /> }
}

#[component]
fn Snippet(found: Found) -> impl IntoView {
    let by = match found.by {
        Speaker::Person => "You",
        Speaker::Model => "Answer",
    };
    view! { <p class="entry-snippet"><span class="entry-speaker">{by}": "</span> {marked(&found.text)}</p> }
}

/// Nodes, never HTML: what was said is data.
fn marked(text: &Marked) -> AnyView {
    let piece = |(is_marked, piece): (bool, &str)| {
        let piece = piece.to_owned();
        if is_marked { view! { <mark>{piece}</mark> }.into_any() } else { piece.into_any() }
    };
    text.pieces().into_iter().map(piece).collect_view().into_any()
}

fn moment(at_us: i64) -> AnyView {
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(at_us) * 1_000).ok();
    at.and_then(|at| Some((at.format(SAID).ok()?, at.format(EXACT).ok()?)))
        .map(|(said, exact)| view! { <time datetime=exact>{said}</time> })
        .into_any()
}

/// Nothing yet, nothing older, or nothing that matches: each with the way on.
#[component]
fn Nothing(filter: Filter, workspace: Workspace) -> impl IntoView {
    let conditions = filter.conditions();
    if filter.before.is_some() {
        let newest = Filter { before: None, ..filter }.path();
        return view! {
            <div class="empty-state">
                {Icon::History.view()}
                <h2>"Nothing older"</h2>
                <p>"Here the history begins."</p>
                <a class="button" href=newest>"Newest"</a>
            </div>
        }
        .into_any();
    }
    if conditions.is_empty() {
        return view! {
            <div class="empty-state">
                {Icon::History.view()}
                <h2>"Nothing has happened yet"</h2>
                <p>"Add a project and ask a model about it. Every chat is kept, and is found here again."</p>
                <a class="button primary" href="/">"Add a project"</a>
            </div>
        }
        .into_any();
    }
    let loosened = |field| {
        let words = condition(&filter, field, &workspace);
        view! { <li><a class="button small" href=filter.without(field).path()>"Without " {words}</a></li> }
    };
    let ways = conditions.iter().map(|field| loosened(*field)).collect_view();
    let advice = match (&filter.asked, conditions.len()) {
        (Some(asked), 1) if asked.words().len() > 1 => {
            "Every word has to be in the same chat. Search for fewer of them."
        }
        (Some(_), 1) => "No title, question or answer has a word that begins like this.",
        (Some(_), _) => "Search for fewer words, or let go of one of these:",
        (None, 1) => "Let go of the condition:",
        (None, _) => "Let go of one of these conditions:",
    };
    view! {
        <div class="empty-state">
            {Icon::Search.view()}
            <h2>"Nothing matches"</h2>
            <p>{advice}</p>
            <ul class="loosen">{ways} <li><a class="button small" href=PATH>"Show everything"</a></li></ul>
        </div>
    }
    .into_any()
}

fn of_project(id: ProjectId) -> String {
    Filter { project: Some(id), ..Filter::default() }.path()
}

fn of_session(id: SessionId) -> String {
    Filter { session: Some(id), ..Filter::default() }.path()
}

use domain::{
    feed::Snapshot,
    history::{Cursor, Entry, Field, Filter, Found, Kind, Listing, Place, Speaker, State},
    id::{ProjectId, SessionId},
    page::Page,
    search::{Asked, Marked},
    workspace::{Project, Session, Workspace},
};
use uuid::Uuid;

use super::*;

fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn asked(text: &str) -> Option<Asked> {
    Some(Asked::new(text).unwrap())
}

fn entry(kind: Kind, title: &str) -> Entry {
    Entry {
        archived: false,
        kind,
        id: id(7),
        title: Marked::plain(title.into()),
        place: Some(Place {
            project: (ProjectId(id(1)), "shop".into()),
            session: (SessionId(id(2)), "Session 1".into()),
        }),
        active_at_us: 1_740_787_200_000_000,
        parts: 1,
        state: Some(State::Failed),
        found: None,
    }
}

fn request(query: &str) -> Parts {
    let request = axum::http::Request::get(format!("{PATH}?{query}"));
    request.header("cookie", "boocode-theme=dark").body(()).unwrap().into_parts().0
}

/// The page for an address, with these entries on it.
fn html(query: &str, entries: Vec<Entry>, older: Option<Cursor>) -> String {
    let workspace = Workspace {
        projects: vec![Project { id: ProjectId(id(1)), name: "shop".into(), path: "/shop".into() }],
        sessions: vec![Session { id: SessionId(id(2)), project: ProjectId(id(1)), name: "Session 1".into() }],
        ..Workspace::default()
    };
    let (mut filter, mut faults) = Filter::parse(query);
    faults.extend(filter.keep_known(&workspace));
    let snapshot = Snapshot { seq: 1, state: Page { workspace, session: None }, streams: Vec::new() };
    let listing = Listing { entries, older };
    let document = Document::render(request(query), Ok(Shown { filter, faults, listing, snapshot }));
    assert!(document.html.contains(&format!("nonce=\"{}\"", document.nonce)));
    document.html.replace("<!>", "").replace("<!---->", "")
}

#[track_caller]
fn check(html: &str, parts: &[&str]) {
    for part in parts {
        assert!(html.contains(part), "{part} is not in {html}");
    }
}

#[test]
fn an_entry_is_a_link_with_what_there_is_to_know() {
    let html = html("", vec![entry(Kind::Chat, "Slow queries")], None);
    check(
        &html,
        &["href=\"/chat/00000000-0000-0000-0000-000000000007\"", "Slow queries", "1 message", "Failed"],
    );
    check(
        &html,
        &[
            "<time datetime=\"2025-03-01T00:00:00Z\">1 Mar 2025, 00:00 UTC</time>",
            "badge failed",
            "data-theme=\"dark\"",
        ],
    );
    check(&html, &["href=\"/history?project=", "href=\"/history?session=", "aria-current=\"page\""]);
    assert!(!html.contains("rel=\"next\"") && !html.contains("rel=\"first\""), "{html}");
    assert!(!html.contains("style=") && !html.contains(".wasm") && !html.contains("onclick"), "{html}");
}

#[test]
fn what_was_said_is_never_markup() {
    let attack = "<script>alert(1)</script> <b onclick=x>";
    let mut entry = entry(Kind::Chat, attack);
    entry.found =
        Some(Found { by: Speaker::Model, text: Marked::new(attack.into(), asked("alert").as_ref()) });
    entry.place.as_mut().unwrap().project.1 = attack.into();
    let html = html("q=%3Cscript%3Ealert(1)", vec![entry], None);
    check(&html, &["&lt;script&gt;<mark>alert</mark>(1)&lt;/script&gt;"]);
    assert!(!html.contains("<script>") && !html.contains("<b onclick"), "{html}");
}

#[test]
fn the_form_shows_what_is_asked_for() {
    let query = "q=why+%22so%22&state=failed&project=00000000-0000-0000-0000-000000000001&from=2025-03-01";
    let html = html(query, vec![entry(Kind::Session, "Session 1")], None);
    check(
        &html,
        &["value=\"why &quot;so&quot;\"", "<option value=\"failed\" selected", "value=\"2025-03-01\""],
    );
    check(&html, &["“why \"so\"”", "from 2025-03-01", "Clear all", "<optgroup label=\"shop\">"]);
}

#[test]
fn the_way_through_the_list_keeps_the_conditions() {
    let place = Cursor { at_us: 5, id: id(9) };
    let first = html("q=why", vec![entry(Kind::Chat, "Why?")], Some(place));
    check(&first, &["href=\"/history?q=why&amp;before=5.00000000000000000000000000000009\""]);
    assert!(!first.contains("rel=\"first\""), "{first}");
    let next = html("q=why&before=5.00000000000000000000000000000009", vec![entry(Kind::Chat, "Why?")], None);
    check(&next, &["href=\"/history?q=why\" rel=\"first\""]);
    assert!(!next.contains("rel=\"next\""), "{next}");
}

#[test]
fn an_empty_list_says_what_to_do() {
    check(&html("", Vec::new(), None), &["Nothing has happened yet", "Add a project"]);
    assert!(!html("", Vec::new(), None).contains("<form class=\"history-form\""));
    let none = html("q=unsaid+word&state=failed", Vec::new(), None);
    check(
        &none,
        &["Nothing matches", "Without “unsaid word”", "Without Failed", "href=\"/history?state=failed\""],
    );
    check(&html("q=unsaid", Vec::new(), None), &["begins like this", "Show everything"]);
    let before = "before=5.00000000000000000000000000000009";
    check(&html(before, Vec::new(), None), &["Nothing older", "href=\"/history\""]);
}

#[test]
fn what_was_not_understood_is_said_at_its_field() {
    let html =
        html("state=asleep&from=tomorrow&q=!!&before=x&session=nil", vec![entry(Kind::Chat, "Why?")], None);
    for field in [Field::State, Field::From, Field::Asked, Field::Session] {
        check(&html, &[&format!("id=\"history-{}-error\" ", field.name())]);
    }
    check(&html, &["“asleep” is not a state. It is left out.", "“tomorrow” is not a day", "no word in that"]);
    check(&html, &["<details open", "aria-invalid=\"true\"", "is not a place in this list"]);
    assert!(!html.contains("class=\"chips\""), "none of them is a condition: {html}");
}

#[test]
fn a_failure_is_said_in_words() {
    let failed = Document::render(request(""), Err(AppError::Unavailable));
    check(&failed.html, &["The history cannot be shown", "Try again in a moment"]);
}

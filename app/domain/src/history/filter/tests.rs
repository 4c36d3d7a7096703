use proptest::prelude::*;

use super::*;
use crate::workspace::{Project, Session};

fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn any_day() -> impl Strategy<Value = Date> {
    (0..=9999, 1..=366u16)
        .prop_filter_map("there is such a day", |(year, day)| Date::from_ordinal_date(year, day).ok())
}

fn any_filter() -> impl Strategy<Value = Filter> {
    let asked =
        prop::option::of("\\PC{0,30}").prop_map(|typed| typed.and_then(|typed| Asked::new(&typed).ok()));
    let kind = prop::option::of(prop::sample::select(Kind::ALL));
    let state = prop::option::of(prop::sample::select(State::ALL));
    let ids = (prop::option::of(any::<u128>()), prop::option::of(any::<u128>()));
    let days = (prop::option::of(any_day()), prop::option::of(any_day()));
    let before = prop::option::of((0..=253_402_300_799_999_999i64, any::<u128>()));
    let types = prop::option::of(prop::sample::select(vec![battle::Kind::Coding, battle::Kind::Qa]));
    let names = (prop::option::of("[a-zé/]{1,20}"), prop::option::of("[a-z]{1,20}"));
    let runs = (
        prop::option::of(prop::sample::select(FlowId::ALL.to_vec())),
        prop::option::of(prop::sample::select(Band::ALL.to_vec())),
    );
    let states = (state, any::<bool>());
    (asked, kind, states, ids, days, before, types, names, runs).prop_map(
        |(
            asked,
            kind,
            (state, archived),
            (project, session),
            days,
            before,
            battle_type,
            (contestant, winner),
            (flow, band),
        )| {
            let (from, to) = match days {
                (Some(a), Some(b)) => (Some(a.min(b)), Some(a.max(b))),
                days => days,
            };
            Filter {
                asked,
                kind: kind.map(|(kind, _)| kind),
                project: project.map(|n| ProjectId(id(n))),
                session: session.map(|n| SessionId(id(n))),
                state: state.map(|(state, _)| state),
                archived,
                battle_type,
                contestant,
                winner,
                flow,
                band,
                from,
                to,
                before: before.map(|(at_us, n)| Cursor { at_us, id: id(n) }),
            }
        },
    )
}

fn query(path: &str) -> &str {
    path.split_once('?').map_or("", |(_, query)| query)
}

proptest! {
    #[test]
    fn a_filter_survives_the_way_through_the_address(filter in any_filter()) {
        let path = filter.path();
        prop_assert!(path.is_ascii() && !path.contains(' '), "{}", path);
        prop_assert_eq!(Filter::parse(query(&path)), (filter.clone(), Vec::new()), "{}", path);
        prop_assert!(!Filter::has_blanks(query(&path)));
        prop_assert_eq!(Filter::without_blanks(query(&path)), path);
    }

    #[test]
    fn any_address_is_read_and_what_was_read_stays(query_text in "\\PC{0,60}|((q|kind|project|session|state|from|to|before)=[0-9a-f.%&=-]{0,20}&?){0,6}") {
        let (filter, _) = Filter::parse(&query_text);
        prop_assert_eq!(Filter::parse(query(&filter.path())), (filter, Vec::new()));
        let without = Filter::without_blanks(&query_text);
        prop_assert!(!Filter::has_blanks(query(&without)), "{}", without);
        prop_assert_eq!(Filter::parse(query(&without)), Filter::parse(&query_text));
    }

    #[test]
    fn letting_go_of_a_condition_lets_go_of_it_alone(filter in any_filter(), field in prop::sample::select(&Field::ALL[..7])) {
        let loose = filter.without(field);
        let expected: Vec<_> = filter.conditions().into_iter().filter(|other| *other != field).collect();
        prop_assert_eq!(loose.conditions(), expected);
        prop_assert_eq!(loose.before, None);
    }
}

#[test]
fn what_is_not_understood_is_said_at_its_field_and_ignored() {
    let check = |query: &str, field: Field, words: &str| {
        let (filter, faults) = Filter::parse(query);
        assert_eq!(filter, Filter::default(), "{query}");
        let [fault] = &faults[..] else { panic!("{query}: {faults:?}") };
        assert!(fault.field == field && fault.words.contains(words), "{query}: {fault:?}");
    };
    check("from=yesterday", Field::From, "“yesterday” is not a day");
    for day in
        ["2025-02-30", "2025-13-01", "25-01-01", "2025-1-1", "+025-01-01", "2025-01-01T00:00", "99999-01-01"]
    {
        check(&format!("to={day}"), Field::To, "is not a day");
    }
    check("state=asleep", Field::State, "“asleep” is not a state");
    check("kind=war", Field::Kind, "is not something that is listed");
    check("project=shop", Field::Project, "is not a project");
    check("session=1", Field::Session, "is not a session");
    check("q=%21%26%7C", Field::Asked, "no word");
    for place in ["now", "1", "-1.00000000000000000000000000000001", "9999999999999999999.0", "5.x"] {
        check(&format!("before={place}"), Field::Before, "is not a place");
    }
    check(&format!("state={}", "x".repeat(5_000)), Field::State, "x…”");
}

#[test]
fn days_in_the_wrong_order_leave_the_first_one() {
    let (filter, faults) = Filter::parse("from=2025-03-02&to=2025-03-01");
    assert_eq!(filter.conditions(), [Field::From]);
    assert_eq!(faults[0].field, Field::To);
    assert!(Filter::parse("from=2025-03-02&to=2025-03-02").1.is_empty());
}

#[test]
fn blank_fields_are_no_conditions_and_leave_the_address() {
    let sent = "q=why+so+slow&kind=&project=&state=+&other=&from=";
    let (filter, faults) = Filter::parse(sent);
    assert_eq!((filter.conditions(), faults), (vec![Field::Asked], Vec::new()));
    assert!(Filter::has_blanks(sent));
    assert_eq!(Filter::without_blanks(sent), "/history?q=why+so+slow&other=");
    assert_eq!(Filter::without_blanks("q=&kind="), "/history");
}

#[test]
fn what_does_not_exist_any_more_is_let_go_of() {
    let project = |n| Project { id: ProjectId(id(n)), name: "shop".into(), path: "/shop".into() };
    let session =
        |n, of| Session { id: SessionId(id(n)), project: ProjectId(id(of)), name: "Session 1".into() };
    let workspace = Workspace {
        projects: vec![project(1), project(2)],
        sessions: vec![session(10, 1), session(20, 2)],
        ..Workspace::default()
    };
    let check = |of: Option<u128>, within: Option<u128>, kept: &[Field], said: &[Field]| {
        let project = of.map(|n| ProjectId(id(n)));
        let session = within.map(|n| SessionId(id(n)));
        let mut filter = Filter { project, session, ..Filter::default() };
        let faults: Vec<_> = filter.keep_known(&workspace).into_iter().map(|fault| fault.field).collect();
        assert_eq!((&filter.conditions()[..], &faults[..]), (kept, said), "{of:?} {within:?}");
    };
    check(Some(1), Some(10), &[Field::Project, Field::Session], &[]);
    check(None, Some(20), &[Field::Session], &[]);
    check(Some(1), Some(20), &[Field::Project], &[Field::Session]);
    check(Some(9), Some(20), &[Field::Session], &[Field::Project]);
    check(Some(9), Some(90), &[], &[Field::Project, Field::Session]);
}

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::*;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    text: String,
    number: i64,
    small: u16,
    share: f64,
    maybe: Option<Box<Everything>>,
    list: Vec<Choice>,
    pair: (u32, String),
    by_id: BTreeMap<Uuid, Wrapped>,
    #[serde(default)]
    left_out: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Plain,
    Wrapped(Wrapped),
    Pair(u8, bool),
    Named { id: Uuid, content: Option<String> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Wrapped(i32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "detail", rename_all = "snake_case")]
enum Told {
    Simple,
    Longer { why: String },
}

#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + fmt::Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(read::<T>(&text).as_ref(), Ok(value), "{text}");
}

fn choices() -> impl Strategy<Value = Choice> + Clone {
    prop_oneof![
        Just(Choice::Plain),
        any::<i32>().prop_map(|n| Choice::Wrapped(Wrapped(n))),
        any::<(u8, bool)>().prop_map(|(n, is)| Choice::Pair(n, is)),
        (any::<u128>(), any::<Option<String>>())
            .prop_map(|(id, content)| Choice::Named { id: Uuid::from_u128(id), content }),
    ]
}

fn everything() -> impl Strategy<Value = Everything> {
    let one = (
        any::<String>(),
        any::<i64>(),
        any::<u16>(),
        // Exact in few digits: serde_json rounds the last bit of others.
        any::<i32>().prop_map(|n| f64::from(n) / 4.0),
        prop::collection::vec(choices(), 0..4),
        any::<(u32, String)>(),
        prop::collection::btree_map(any::<u128>().prop_map(Uuid::from_u128), any::<i32>(), 0..3),
        any::<bool>(),
    );
    let one = one.prop_map(|(text, number, small, share, list, pair, by_id, left_out)| {
        let by_id = by_id.into_iter().map(|(id, n)| (id, Wrapped(n))).collect();
        Everything { text, number, small, share, maybe: None, list, pair, by_id, left_out }
    });
    let inner = prop::option::of(one.clone().prop_map(Box::new));
    (one, inner).prop_map(|(outer, maybe)| Everything { maybe, ..outer })
}

proptest! {
    #[test]
    fn what_serde_writes_is_read(value in everything()) {
        check(&value);
    }

    /// Nothing but JSON is read, and nothing makes it panic.
    #[test]
    fn json_with_a_letter_changed_is_read_as_serde_json_reads_it(
        value in everything(), at in any::<prop::sample::Index>(), letter in "[\\[\\]{}:,\"a0.e\\-n ]",
    ) {
        let text = serde_json::to_string(&value).unwrap();
        let changed: Vec<char> = text.chars().collect();
        let at = at.index(changed.len());
        let changed: String = changed[..at].iter().copied().chain(letter.chars()).chain(changed[at + 1..].iter().copied()).collect();
        prop_assert_eq!(read::<serde_json::Value>(&changed).ok(), serde_json::from_str(&changed).ok());
    }
}

#[test]
fn tags_beside_their_content_are_read_in_any_order() {
    check(&Told::Simple);
    check(&Told::Longer { why: "so".into() });
    let turned = r#"{"detail":{"why":"so","more":[1]},"other":null,"kind":"longer"}"#;
    assert_eq!(read(turned), Ok(Told::Longer { why: "so".into() }));
}

#[test]
fn what_is_new_is_passed_over_and_what_is_missing_is_refused() {
    let newer = r#"{"named":{"id":"00000000-0000-0000-0000-000000000007","later":{"a":[1,{}]}}}"#;
    assert_eq!(read(newer), Ok(Choice::Named { id: Uuid::from_u128(7), content: None }));
    for text in
        [r#"{"named":{}}"#, r#"{"pair":[1]}"#, r#"{"pair":[300,true]}"#, "\"unknown\"", "{}", "[", "7"]
    {
        assert_eq!(read::<Choice>(text), Err(Unfit), "{text}");
    }
}

use super::*;

#[test]
fn sizes_are_said_as_a_disk_shows_them() {
    let check = |bytes, words: &str| assert_eq!(size(bytes), words);
    check(0, "0 KB");
    check(1, "1 KB");
    check(999_000, "999 KB");
    check(20_500_000, "20 MB");
    check(1_550_000_000, "1.5 GB");
}

#[test]
fn a_budget_is_a_number_of_gigabytes() {
    let check = |typed: &str, expected: Option<u64>| {
        assert_eq!(Budget::parse(typed).ok().map(Budget::bytes), expected, "{typed:?}");
    };
    check(" 20 ", Some(20_000_000_000));
    check("1", Some(1_000_000_000));
    check("100000", Some(100_000_000_000_000));
    for wrong in ["", "0", "-1", "1.5", "20 GB", "100001", "99999999999999999999"] {
        check(wrong, None);
    }
    assert!(Budget::parse("much").unwrap_err().to_string().contains("\"much\" is no budget"));
}

#[test]
fn what_takes_more_than_its_budget_is_told() {
    let entry = |bytes, state| WorktreeEntry {
        of: Wanted::Chat(crate::id::ChatId(uuid::Uuid::nil())),
        title: "Task".into(),
        project: "shop".into(),
        state,
        bytes,
    };
    let mut recordings = Recordings::default();
    let mut check = |bytes: &[Option<u64>], strays: &[Option<u64>], recorded: u64, words: Option<&str>| {
        let worktrees = bytes.iter().map(|bytes| entry(*bytes, State::Ready)).collect();
        let budget = Budget::parse("2").unwrap();
        recordings.bytes = recorded;
        let warning = WorktreeSettings { worktrees, strays: strays.to_vec(), recordings, budget }.warning();
        assert_eq!(warning.is_some(), words.is_some(), "{warning:?}");
        assert!(warning.unwrap_or_default().contains(words.unwrap_or_default()));
    };
    let gb = 1_000_000_000;
    check(&[], &[], 0, None);
    check(&[Some(gb), Some(gb)], &[None], 0, None);
    check(&[Some(gb), Some(gb)], &[Some(gb)], 0, Some("take 3.0 GB, more than the 2 GB"));
    check(&[None, Some(3 * gb)], &[], 0, Some("3.0 GB"));
    check(&[Some(gb)], &[], 2 * gb, Some("3.0 GB"));
}

#[test]
fn a_typed_key_is_one_word_and_is_not_repeated() {
    let check = |typed: &str, expected: Result<Option<&str>, &str>| {
        let key = TypedKey(typed.to_owned());
        match (key.parse(), expected) {
            (Err(words), Err(part)) => assert!(words.contains(part), "{words}"),
            (got, expected) => assert_eq!(got, expected, "{typed:?}"),
        }
        assert_eq!(format!("{key:?} {:#?}", Some(&key)).matches("sk-").count(), 0);
    };
    check("", Ok(None));
    check(" \n", Ok(None));
    check(" sk-or-v1_abc/+=.~ \n", Ok(Some("sk-or-v1_abc/+=.~")));
    check("sk-1 sk-2", Err("without spaces"));
    check("sk-1\nsk-2", Err("without spaces"));
    check("sk-ключ", Err("plain letters"));
    check("sk-\0", Err("plain letters"));
    check(&"k".repeat(TypedKey::BYTES_MAX + 1), Err("too long"));
}

fn look(state: ServerState, models: &[&str]) -> Look {
    Look { flavour: Flavour::LlamaSwap, state, models: models.iter().map(|id| Model::named(*id)).collect() }
}

#[test]
fn a_look_says_what_it_found() {
    let check = |look: Look, expected: &str| assert_eq!(look.words(), expected);
    check(look(ServerState::Reachable, &["qwen"]), "llama-swap, 1 model: qwen");
    check(look(ServerState::Reachable, &["a", "b", "c"]), "llama-swap, 3 models: a, b, c");
    check(
        look(ServerState::Reachable, &["a", "b", "c", "d", "e"]),
        "llama-swap, 5 models: a, b, c and 2 more",
    );
    check(look(ServerState::Reachable, &[]), "llama-swap. It answers, and serves no models");
    check(look(ServerState::Starting, &[]), "llama-swap. It answers, and is still loading its model");
    check(
        look(ServerState::Unreachable { reason: "connection refused".into() }, &["a"]),
        "connection refused",
    );
}

#[test]
fn removing_a_server_says_what_becomes_of_its_tasks() {
    let check = |queued, running, parts: &[&str]| {
        let words = Work { queued, running }.after_removal();
        assert_eq!(words.is_empty(), parts.is_empty(), "{words}");
        parts.iter().for_each(|part| assert!(words.contains(part), "{words}"));
    };
    check(0, 0, &[]);
    check(1, 0, &["One task waits"]);
    check(3, 0, &["3 tasks wait", "gone"]);
    check(0, 1, &["One task is being worked on"]);
    check(2, 4, &["2 tasks wait", "4 tasks are being worked on"]);
}

#[test]
fn an_origin_says_where_a_value_is_changed() {
    let check = |origin: Origin, words: &str, is_fixed| {
        assert_eq!((origin.to_string().as_str(), origin.is_fixed()), (words, is_fixed));
    };
    check(Origin::Flag("--default-model".into()), "set by the flag --default-model", true);
    check(Origin::Environment("DEFAULT_MODEL".into()), "set by the environment variable DEFAULT_MODEL", true);
    check(Origin::File("/etc/boocode.toml".into()), "set in /etc/boocode.toml", true);
    check(Origin::Settings, "set here", false);
    check(Origin::Found, "found on this machine", false);
    check(Origin::Default, "the default", false);
}

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

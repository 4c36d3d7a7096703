use super::*;

/// The signals of one file, each with where it was found.
fn check(path: &str, text: &str, expected: &str) {
    let mut search = SignalSearch::default();
    search.look(path, text);
    let signals = search.finish();
    let found: Vec<_> = signals.found.iter().map(|(signal, found)| format!("{signal:?} {found}")).collect();
    assert_eq!(found.join(", "), expected, "{path}: {text}");
}

#[test]
fn code_shows_signals_by_its_words() {
    check("src/a.rs", "use std;\nlet x = Arc::new(Mutex::new(0));", "Concurrency src/a.rs:2");
    check("src/a.ts", "const q = await fetch(url)", "Concurrency src/a.ts:1, Resilience src/a.ts:1");
    check("src/a.py", "def check_password(raw): ...", "Security src/a.py:1");
    check("a.go", "rows := db.Query(\"select id from users\")", "Data a.go:1");
    check("a.py", "sql = f\"SELECT id FROM users WHERE n = {n}\"", "Security a.py:1, Data a.py:1");
    check("a.rs", "sqlx::query!(\"delete from carts where id = $1\")", "Data a.rs:1");
    check("a.java", "producer = new KafkaProducer(props);", "Seam a.java:1");
    check("package.json", "\"kafkajs\": \"2.0\"", "Seam package.json:1");
    check("src/metrics.rs", "prometheus::Counter::new()", "Devops src/metrics.rs:1");
}

#[test]
fn words_count_as_whole_words_only() {
    check("src/a.rs", "let block = clock.unblock(); blocking(); mytokens;", "");
    check("src/a.rs", "// nothing selected, from here on updated settings", "");
}

#[test]
fn a_path_can_speak_for_itself() {
    check("Dockerfile", "", "Devops Dockerfile");
    check(".github/workflows/ci.yml", "", "Devops .github/workflows/ci.yml");
    check("db/migrations/0001_users.sql", "", "Data db/migrations/0001_users.sql");
    check("api/shop.proto", "", "Seam api/shop.proto");
    check("infra/main.tf", "", "Devops infra/main.tf");
    check("src/migrations.md", "", "");
}

#[test]
fn prose_old_answers_and_other_peoples_code_tell_nothing() {
    check("README.md", "We use a Mutex and await the password.", "");
    check("Arena/2026-01-01-coding-1/a/diff.patch", "", "");
    check("Arena/x.rs", "Mutex", "");
    check("node_modules/left/index.js", "await fetch()", "");
    check("src/Arena/x.rs", "Mutex", "Concurrency src/Arena/x.rs:1");
}

#[test]
fn a_file_that_is_too_long_is_known_to_be_unread() {
    let mut search = SignalSearch::default();
    search.pass_over("node_modules/all.js");
    assert!(!search.signals.is_partial);
    search.pass_over("db/migrations/0001_dump.sql");
    let signals = search.finish();
    assert!(signals.is_partial && signals.has(Signal::Data));
    let absence = "no sign of calls to other systems in the part that was searched (1 file)";
    assert_eq!(signals.absence(Signal::Resilience), absence);
}

#[test]
fn the_first_place_is_kept_and_shortened() {
    let mut search = SignalSearch::default();
    search.look("b.rs", &format!("  let mutex = 1; {}", "x".repeat(500)));
    search.look("a.rs", "let mutex = 2;");
    let found = search.finish().found.remove(&Signal::Concurrency).unwrap();
    assert_eq!((found.path.as_str(), found.line), ("b.rs", Some(1)));
    assert_eq!(found.text.chars().count(), SHOWN_CHARS_MAX);
    assert!(found.text.starts_with("let mutex = 1;"));
}

#[test]
fn the_search_ends_at_its_limits_and_says_so() {
    let mut search = SignalSearch::default();
    for _ in 0..FILES_MAX {
        search.look("a.txt", "");
    }
    assert!(!search.is_over(), "nothing was left out yet");
    search.look("b.rs", "mutex");
    assert!(search.is_over() && !search.wants_text("b.rs"));
    let signals = search.finish();
    assert_eq!((signals.files, signals.is_partial, signals.found.len()), (FILES_MAX, true, 0));
    assert_eq!(
        signals.absence(Signal::Data),
        "no sign of a database in the part that was searched (20000 files)"
    );

    let mut search = SignalSearch::default();
    let long = format!("{}\nmutex", "é".repeat(FILE_BYTES_MAX));
    search.look("a.rs", &long);
    let signals = search.finish();
    assert!(signals.is_partial && signals.found.is_empty());
}

#[test]
fn when_all_is_found_nothing_more_is_read() {
    let mut search = SignalSearch::default();
    assert!(search.wants_text("a.rs") && !search.wants_text("a.png"));
    search.look("a.rs", "mutex password sqlx prometheus retry kafka");
    assert!(search.is_over() && !search.wants_text("b.rs"));
    assert_eq!(search.finish().files, 1);
}

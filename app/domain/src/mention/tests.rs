use proptest::prelude::*;

use super::*;

#[test]
fn a_text_names_files() {
    let check = |text: &str, expected: &[&str]| assert_eq!(paths(text), expected, "{text}");
    check("look at @src/main.rs", &["src/main.rs"]);
    check("@a.rs and @b.rs, or @a.rs?", &["a.rs", "b.rs"]);
    check("(see @src/a.rs). Then `@src/b.rs`…", &["src/a.rs", "src/b.rs"]);
    check(r#"what of @"docs/my notes.md"?"#, &["docs/my notes.md"]);
    check(r#"@"a \"b\" \\c""#, &[r#"a "b" \c"#]);
    check("@src/a.rs:", &["src/a.rs"]);
    check("@app/(group)/page.tsx\n@.env", &["app/(group)/page.tsx", ".env"]);
    // Addresses, an @ alone, an open quote.
    check("ada@example.org @ @, @\"open", &[]);
    check("@\"two\nlines\"", &[]);
    check("@ädä.md", &["ädä.md"]);
    let many: String = (0..99).map(|n| format!("@f{n} ")).collect();
    assert_eq!(paths(&many).len(), MENTIONS_MAX);
}

#[test]
fn only_what_looks_like_a_file_is_missed() {
    for path in ["nope.txt", "src/nope.rs", "./nope", "../nope", "my notes", "app/(group)/page.tsx"] {
        assert!(is_surely_a_file(path), "{path}");
    }
    // People, annotations, packages, versions.
    for word in [
        "ada",
        "Override",
        "pytest.fixture",
        "app.get(\"/",
        "click.option(",
        "types/node",
        "angular/common/http",
        "/components/Foo.vue",
        "functools.cache",
        "app.task",
        "john.doe",
        "src/deep/nope",
        "angular/core@18.1",
        "v1.2",
        "src/",
        "x.",
        "https://example.org/a.html",
    ] {
        assert!(!is_surely_a_file(word), "{word}");
    }
}

#[test]
fn the_one_being_typed_is_found() {
    let check = |marked: &str, expected: Option<(usize, &str)>| {
        let caret = marked.find('|').unwrap();
        let text = marked.replace('|', "");
        let found = typing(&text, caret).map(|typing| (typing.start, typing.query));
        assert_eq!(found, expected, "{marked}");
    };
    check("@|", Some((0, "")));
    check("see @sr|c", Some((4, "sr")));
    check("see @src/main.rs |", None);
    check("see @\"my no|", Some((4, "my no")));
    check("see @\"my notes\" |", None);
    check("ada@exa|mple", None);
    check("@one @tw|o", Some((5, "tw")));
    check("no mention|", None);
    assert_eq!(typing("ä@", 1), None);
}

proptest! {
    /// Whatever a file is called, its mention names it, wherever it stands.
    #[test]
    fn what_is_written_is_read(path in "[a-zä .,)\"\\\\/@'_-]{1,12}", before in "(|x |\\(|\n)", after in "(| y|\\.|, z|\n)") {
        prop_assume!(!path.trim().is_empty());
        // A quoted path ends at its quote, so nothing after it matters; the same for a plain one.
        let text = format!("{before}{}{after}", written(&path));
        prop_assert_eq!(paths(&text).into_iter().next(), Some(path), "{}", text);
    }
}

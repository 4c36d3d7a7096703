use proptest::prelude::*;

use super::*;

fn asked(text: &str) -> Asked {
    Asked::new(text).unwrap()
}

#[test]
fn words_are_letters_and_digits_in_lower_case() {
    let check = |text: &str, expected: &str| assert_eq!(index_words(text).join(" "), expected, "{text:?}");
    check("Fix the build, fix IT", "build fix it the");
    check("src/main.rs and /etc/passwd", "and etc main passwd rs src");
    check("read_to_string https://a.example/b?c=1", "1 a b c example https read string to");
    check("“Schön”—wie GRÖSSE", "grösse schön wie");
    check("設定 ok", "ok 定 設");
    check("don't\0stop\u{1e}it", "don it stop t");
    check("'; drop table chats; --", "chats drop table");
    check(" \n…—!&|():* ", "");
    check(&"a".repeat(100), &"a".repeat(40));
}

#[test]
fn what_cannot_be_searched_for_is_said() {
    let check = |text: &str, words: &str| {
        assert!(Asked::new(text).is_err_and(|refusal| refusal.contains(words)), "{text:?}");
    };
    check("", "no word");
    check("!&|:*()<->'\\\"", "no word");
    check(&"x".repeat(10_000), "too long");
    check(&(0..40).map(|n| format!("{n} ")).collect::<String>(), "too many");
    assert_eq!(asked("  Why\n\tso\0slow ").text(), "Why so slow");
}

#[test]
fn marks_stand_on_whole_words() {
    let check = |text: &str, search: &str, expected: &str| {
        let marked = Marked::new(text.into(), Some(&asked(search)));
        let shown: String = marked
            .pieces()
            .iter()
            .map(|(mark, piece)| if *mark { format!("[{piece}]") } else { piece.to_string() })
            .collect();
        assert_eq!(shown, expected, "{search} in {text}");
    };
    check("The configuration of src/main.rs", "conf MAIN", "The [configuration] of src/[main].rs");
    check("unconfigured", "conf", "unconfigured");
    check("<b>bold</b> & bold", "bold", "<b>[bold]</b> & [bold]");
    check("日本語の設定", "設定", "日本語の[設][定]");
    check("Straße, STRASSE", "straße", "[Straße], STRASSE");
}

#[test]
fn a_snippet_is_where_most_words_stand_together() {
    let long = format!("slow {} the pool is slow here {} pool", "filler ".repeat(100), "more ".repeat(100));
    let found = snippet(&long, &asked("slow pool")).unwrap();
    assert!(found.text.contains("the pool is slow here"), "{}", found.text);
    assert!(found.text.starts_with("… ") && found.text.ends_with(" …"), "{}", found.text);
    assert_eq!(found.pieces().iter().filter(|(mark, _)| *mark).count(), 2);

    assert_eq!(snippet("a\n\n  b\tc", &asked("b")).unwrap().text, "a b c");
    assert_eq!(snippet("nothing of it", &asked("other")), None);
    assert_eq!(snippet("", &asked("other")), None);
}

#[test]
fn only_the_beginning_of_a_long_text_is_found() {
    let long = format!("{}é end", "x".repeat(TEXT_BYTES_MAX - 1));
    assert_eq!(searchable(&long).len(), TEXT_BYTES_MAX - 1);
    assert_eq!(searchable("a\0b"), "a\u{fffd}b");
}

/// Words in several scripts, punctuation that separates them, and characters of every length.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-cA-C]{1,4}",
        "[ÄßЖ設の]{1,3}",
        "[ \n.,/_'\\\\\"&|:*\0-]{1,3}",
        Just("👩‍💻".to_owned()),
        Just("x".repeat(70))
    ];
    prop::collection::vec(piece, 0..200).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn whatever_is_in_a_text_is_found_in_it(text in text(), from in any::<prop::sample::Index>()) {
        let indexed = index_words(&text);
        prop_assume!(!indexed.is_empty());
        let word = from.get(&indexed);
        let shown = snippet(&text, &asked(word)).unwrap();
        prop_assert!(!shown.marks.is_empty());
        prop_assert!(shown.text.chars().count() <= SNIPPET_CHARS + 4);
    }

    #[test]
    fn marks_are_in_order_and_begin_with_what_was_asked(text in text(), search in "[a-cÄß設 ]{1,8}") {
        let Ok(asked) = Asked::new(&search) else { return Ok(()) };
        let marked = Marked::new(text.clone(), Some(&asked));
        prop_assert_eq!(marked.pieces().iter().map(|(_, piece)| *piece).collect::<String>(), text);
        for pair in marked.marks.windows(2) {
            prop_assert!(pair[0].end <= pair[1].start);
        }
        for (_, piece) in marked.pieces().into_iter().filter(|(mark, _)| *mark) {
            let lower: String = piece.chars().flat_map(char::to_lowercase).collect();
            prop_assert!(asked.words().iter().any(|word| lower.starts_with(word.as_str())), "{} {:?}", piece, asked);
        }
    }

    #[test]
    fn what_is_asked_for_stays_the_same_when_it_is_read_again(typed in "\\PC{0,40}") {
        if let Ok(asked) = Asked::new(&typed) {
            prop_assert_eq!(Asked::new(asked.text()), Ok(asked));
        }
    }
}

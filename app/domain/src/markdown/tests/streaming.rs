use std::sync::Arc;

use proptest::prelude::*;

use super::*;

fn shown(streaming: &Streaming) -> String {
    sketch(&streaming.blocks().iter().map(|block| (**block).clone()).collect::<Vec<_>>())
}

#[track_caller]
fn check_streaming(pieces: &[&str], expected: &str) {
    let mut streaming = Streaming::default();
    pieces.iter().for_each(|piece| streaming.push(piece));
    assert_eq!(shown(&streaming), expected, "{pieces:?}");
}

#[test]
fn what_is_unfinished_looks_sane() {
    check_streaming(&["```rust\nlet a = 1;\nlet"], "code[rust](\"let a = 1;\\nlet\")");
    check_streaming(&["```\na\n", "``"], "code[](\"a\\n\")");
    check_streaming(&["```\na\n", "```", "\nb"], "code[](\"a\\n\") p(b)");
    check_streaming(&["A list:\n", "-"], "p(A list:)");
    check_streaming(&["A list:\n", "-", " a"], "p(A list:) ul(- p(a);)");
    check_streaming(&["A list:\n", "1", "."], "p(A list:)");
    check_streaming(&["some **bol"], "p(some **bol)");
}

#[test]
fn settled_blocks_stay_the_same() {
    let mut streaming = Streaming::default();
    streaming.push("# a\n\nb\n\n```\nc\n```\n\nd");
    let before: Vec<_> = streaming.blocks()[..3].to_vec();
    streaming.push(" e\n\nf\n\n- g");
    assert!(before.iter().zip(streaming.blocks()).all(|(old, new)| Arc::ptr_eq(old, new)));
}

#[test]
fn what_is_taken_back_opens_again() {
    let mut streaming = Streaming::default();
    streaming.push("one\n\ntwo\n\n```\nthree\n```\n");
    streaming.truncate("one\n".len());
    streaming.push("more");
    assert_eq!(shown(&streaming), "p(one~more)");
    streaming.set("one\n\nother");
    assert_eq!(shown(&streaming), "p(one) p(other)");
    streaming.set("ä");
    streaming.set("ö");
    assert_eq!(shown(&streaming), "p(ö)");
}

#[test]
fn definitions_count_once_finished() {
    let mut streaming = Streaming::default();
    for piece in ["[a][1] b\n\n", "c\n\n", "[1]: https://x.example\n\n", "d\n\n", "e [f][1]\n"] {
        streaming.push(piece);
    }
    assert_eq!(shown(&streaming), "p([a][1] b) p(c) p(d) p(e [f][1])");
    streaming.finish();
    assert_eq!(shown(&streaming), "p(a[https://x.example](a) b) p(c) p(d) p(e a[https://x.example](f))");
    streaming.push("\n[g][1]");
    streaming.finish();
    assert!(shown(&streaming).ends_with("p(a[https://x.example](g))"));
}

/// Pushes in pieces the size of tokens and returns how many bytes were parsed for each byte of text.
fn parse_ratio(text: &str) -> usize {
    let mut streaming = Streaming::default();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(4));
        streaming.push(piece);
        rest = after;
    }
    streaming.finish();
    assert!(streaming.blocks().iter().map(|block| &**block).eq(&parse(text)));
    streaming.parsed_bytes / text.len()
}

#[test]
fn cost_is_linear() {
    let paragraph = format!("{}\n\n", "Some words that make a paragraph, ".repeat(12));
    let (short, long) = (parse_ratio(&paragraph.repeat(20)), parse_ratio(&paragraph.repeat(400)));
    assert!(long <= 120, "{long} bytes parsed for each byte");
    assert!(long <= short + 1, "{short} for the short text, {long} for the long one");
}

#[test]
fn an_open_fence_is_not_parsed_again() {
    let line = "let answer = compute(42); // a line of code\n";
    let text = format!("Here:\n\n```rust\n{}```\n\nAnd then.\n", line.repeat(25_000));
    assert!(text.len() > 1024 * 1024);
    assert_eq!(parse_ratio(&text), 0);
}

#[test]
fn a_block_without_an_end_costs_a_bounded_multiple() {
    let text = "word ".repeat(60_000);
    let mut streaming = Streaming::default();
    for piece in text.as_bytes().chunks(500) {
        streaming.push(std::str::from_utf8(piece).unwrap());
    }
    // Parsing all at every piece would be three hundred times the text.
    assert!(streaming.parsed_bytes / text.len() < 60, "{}", streaming.parsed_bytes / text.len());
    streaming.finish();
    assert!(streaming.blocks().iter().map(|block| &**block).eq(&parse(&text)));
}

/// Pieces of markdown that meet in ways nobody writes.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        4 => prop::sample::select(vec!["\n", "\n\n", "\n \n", " ", "  ", "    ", "\t", "\r\n", "\r"]),
        4 => prop::sample::select(vec!["a", "b c", "ä", "é€😀", "word. ", "0", "1", "\0"]),
        4 => prop::sample::select(vec![
            "- ", "* ", "+ ", "1. ", "2) ", "> ", ">", "# ", "###", "- [ ] ", "---", "***", "===", "-", "=", "   -",
        ]),
        3 => prop::sample::select(vec![
            "```", "````", "~~~", "```rust\n", "`", "``", "\n```\n", "\n```", "  ```\n", "\n    ```\n", "```x`",
        ]),
        2 => prop::sample::select(vec!["**", "*", "_", "__", "~~", "\\", "&amp;", "  \n"]),
        2 => prop::sample::select(vec!["|", "|a|b|\n", "|-|-|\n", "|-|-|", "a|b\n-|-\n", ":-:|"]),
        2 => prop::sample::select(vec![
            "<div>", "</div>", "<!-- ", " -->", "<pre>", "</pre>", "<script>\n", "<b>", "<br>", "<?", "<x a='", "<",
        ]),
        2 => prop::sample::select(vec![
            "[", "]", "](https://x.example)", "![", "[a]", "[a]: ", "[a]: /b\n", "'ti", "'\n", "\"", "(", ")",
            "https://x.example/", "[^1]", "[^1]: c",
        ]),
    ];
    prop::collection::vec(fragment, 0..24).prop_map(|all| all.concat())
}

/// Cuts a text at the given places, wherever characters allow.
fn cut<'a>(text: &'a str, at: &[prop::sample::Index]) -> Vec<&'a str> {
    let mut places: Vec<usize> =
        at.iter().map(|i| text.floor_char_boundary(i.index(text.len() + 1))).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

fn finished(mut streaming: Streaming) -> String {
    streaming.finish();
    shown(&streaming)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn streaming_ends_as_parsing(text in fragments(), at in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let mut streaming = Streaming::default();
        let mut so_far = String::new();
        for piece in cut(&text, &at) {
            streaming.push(piece);
            so_far.push_str(piece);
            if !streaming.has_definitions {
                prop_assert_eq!(shown(&streaming), sketch(&parse(&so_far[..streaming.shown])), "{:?}", so_far);
            }
            prop_assert_eq!(finished(streaming.clone()), sketch(&parse(&so_far)), "{:?}", so_far);
        }
    }

    #[test]
    fn taking_back_is_as_if_it_never_came(
        text in fragments(),
        other in fragments(),
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        len in any::<prop::sample::Index>(),
    ) {
        let mut streaming = Streaming::default();
        cut(&text, &at).into_iter().for_each(|piece| streaming.push(piece));
        let len = text.floor_char_boundary(len.index(text.len() + 1));
        streaming.truncate(len);
        prop_assert_eq!(finished(streaming.clone()), sketch(&parse(&text[..len])));
        let whole = text[..len].to_owned() + &other;
        streaming.set(&whole);
        prop_assert_eq!(finished(streaming), sketch(&parse(&whole)));
    }

    #[test]
    fn any_text_is_parsed(text in "\\PC{0,80}") {
        parse(&text);
    }
}

use proptest::prelude::*;

use super::*;

mod streams;
use streams::*;

/// One letter and its text a piece, so that a table reads like the stream.
fn told(pieces: &[Piece]) -> String {
    let tell = |piece: &Piece| match piece {
        Piece::Text(text) => format!("text {text:?}"),
        Piece::Reasoning(text) => format!("reasoning {text:?}"),
        Piece::Call(part) => {
            format!("call {} {:?} {}", part.index, part.name.as_deref().unwrap_or_default(), part.arguments)
        }
        Piece::LoadingBanner => "banner".to_owned(),
        Piece::Usage(usage) => {
            format!("usage {:?} {:?}", usage.prompt_tokens.unwrap_or(0), usage.completion_tokens.unwrap_or(0))
        }
        Piece::Timings(timings) => {
            format!("timings {} at {}", timings.predicted_n, timings.predicted_per_second)
        }
        Piece::Finish(finish) => format!("finish {finish:?}"),
        Piece::Done => "done".to_owned(),
    };
    let mut told: Vec<String> = pieces.iter().map(tell).collect();
    told.dedup_by(|one, other| one == "banner" && other == "banner");
    told.join(", ")
}

fn read<'a>(cuts: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Piece>, Result<Finish, Fault>) {
    let mut parser = Parser::new();
    let mut pieces = Vec::new();
    for part in cuts {
        pieces.extend(parser.push(part));
        assert!(held_bytes(&parser) <= 2 * LINE_BYTES_MAX + 1024, "the parser holds too much");
    }
    let (rest, ending) = parser.end();
    pieces.extend(rest);
    (pieces, ending)
}

fn held_bytes(parser: &Parser) -> usize {
    let banner = match &parser.banner {
        Banner::Possible { held } => held.len(),
        Banner::Open { line, .. } => line.len(),
        Banner::Closing | Banner::Over => 0,
    };
    parser.line.len() + parser.data.len() + banner + parser.stray.as_ref().map_or(0, String::len)
}

fn check(stream: &str, pieces: &str, ending: Result<Finish, Fault>) {
    let whole = read([stream.as_bytes()]);
    assert_eq!((told(&whole.0).as_str(), &whole.1), (pieces, &ending), "{stream}");
    let bytewise = read(stream.as_bytes().chunks(1));
    assert_eq!(bytewise, whole, "cut into bytes: {stream}");
}

fn server(message: &str) -> Result<Finish, Fault> {
    Err(Fault::Server { message: message.to_owned() })
}

#[test]
fn a_llama_cpp_stream_with_usage() {
    check(
        &[ROLE, &text("Hel"), &text("lo"), FINISH, LAST, DONE].concat(),
        r#"text "Hel", text "lo", finish Stop, usage 9 2, timings 2 at 40.5, done"#,
        Ok(Finish::Stop),
    );
}

#[test]
fn timings_on_the_finish_chunk() {
    let finish = r#"data: {"id":"a","choices":[{"finish_reason":"length","index":0,"delta":{}}],"timings":{"predicted_n":7,"predicted_per_second":3.5,"cache_n":-1}}"#;
    check(
        &format!("{}{finish}\n\n", text("x")),
        r#"text "x", timings 7 at 3.5, finish Length"#,
        Ok(Finish::Length),
    );
}

#[test]
fn an_end_without_a_marker_is_a_cut() {
    check(&[ROLE, &text("Hel")].concat(), r#"text "Hel""#, Err(Fault::Truncated));
    check("", "", Err(Fault::Truncated));
    check(LAST, "usage 9 2, timings 2 at 40.5", Err(Fault::Truncated));
}

#[test]
fn either_marker_is_an_end() {
    check(&[&text("a"), DONE].concat(), r#"text "a", done"#, Ok(Finish::Unsaid));
    check(&[&text("a"), FINISH].concat(), r#"text "a", finish Stop"#, Ok(Finish::Stop));
    check(&[&text("a"), "data: [DONE]"].concat(), r#"text "a", done"#, Ok(Finish::Unsaid));
    check(FINISH.trim_end(), "finish Stop", Ok(Finish::Stop));
}

#[test]
fn framing_as_it_comes() {
    let a = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    let done = r#"text "a", done"#;
    for stream in [
        format!("data: {a}\r\n\r\ndata: [DONE]\r\n\r\n"),
        format!("data:{a}\n\ndata:[DONE]\n\n"),
        format!("data: {a}\ndata: [DONE]\n"),
        format!("\u{feff}data: {a}\n\ndata: [DONE]\n\n"),
        format!(": ping\n\nevent: message\nid: 7\nretry: 10\ndata: {a}\n\n: ping\ndata: [DONE]\n\n"),
        format!("data: {}\n\ndata: [DONE]\n\n", a.replace(",", ",\ndata: ").replace("[{", "[\ndata:{")),
        format!("data: {a}\n\ndata: [DONE]\n\ndata: {a}\n\nafter the end\n"),
    ] {
        check(&stream, done, Ok(Finish::Unsaid));
    }
}

#[test]
fn fields_of_another_shape_cost_nothing() {
    for chunk in [
        r#"{"choices":[],"usage":null,"timings":7,"error":null}"#,
        r#"{"choices":[{"delta":{"content":null,"tool_calls":{"index":0}},"finish_reason":null}]}"#,
        r#"{"choices":[{"delta":{"content":["part"],"reasoning":{"a":1}}}]}"#,
        r#"{"choices":[{"delta":{"content":"","reasoning_content":""}}]}"#,
        r#"{"choices":"none"}"#,
        r#"{}"#,
    ] {
        check(&format!("data: {chunk}\n\n{FINISH}"), "finish Stop", Ok(Finish::Stop));
    }
}

#[test]
fn calls_of_tools_come_in_parts() {
    let chunk = |call: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let stream = [
        chunk(r#"{"index":0,"id":"c","function":{"name":"read","arguments":""}}"#),
        chunk(r#"{"index":0,"function":{"arguments":"{}"}}"#),
        r#"data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned(),
        "\n\ndata: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let expected = r#"call 0 "read" , call 0 "" {}, finish ToolCalls, done"#;
    check(&stream, expected, Ok(Finish::ToolCalls));
}

#[test]
fn a_server_that_does_not_stream() {
    check(
        r#"{"id":"a","choices":[{"message":{"content":"whole"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
        r#"text "whole", usage 1 2, finish Stop"#,
        Ok(Finish::Stop),
    );
}

#[test]
fn reasoning_by_either_name() {
    let stream =
        [&reasoning("hm"), r#"data: {"choices":[{"delta":{"reasoning":"so"}}]}"#, "\n\n", FINISH].concat();
    check(&stream, r#"reasoning "hm", reasoning "so", finish Stop"#, Ok(Finish::Stop));
}

#[test]
fn the_loading_banner_is_not_reasoning() {
    for banner in [banner_in_lines(), banner_in_crumbs(4), banner_in_crumbs(1), banner_in_crumbs(1000)] {
        let after = [&reasoning("hm"), &text("yes"), FINISH].concat();
        let heard = r#"banner, reasoning "hm", text "yes", finish Stop"#;
        check(&format!("{banner}{after}"), heard, Ok(Finish::Stop));
        // Also when the model's own chunks are as unsigned as the banner's.
        let unsigned = after.replace(r#","id":"a","object":"chat.completion.chunk""#, "");
        assert_ne!(unsigned, after);
        check(&format!("{banner}{unsigned}"), heard, Ok(Finish::Stop));
    }
}

#[test]
fn a_banner_cut_off_by_the_model() {
    let banner = unsigned("━━━━━\nllama-swap loading model: q\n....");
    check(
        &[&banner, &reasoning("hm"), FINISH].concat(),
        r#"banner, reasoning "hm", finish Stop"#,
        Ok(Finish::Stop),
    );
    check(&[&banner, &text("yes"), FINISH].concat(), r#"banner, text "yes", finish Stop"#, Ok(Finish::Stop));
}

#[test]
fn what_only_looks_like_a_banner_is_kept() {
    for start in
        ["━━━━━\nllama-swap is a proxy", "llama-swap loading model: q", "\n", "━", "Done! (1s)\n━━━━━\n"]
    {
        let stream = [&reasoning(start), FINISH].concat();
        check(&stream, &format!("reasoning {start:?}, finish Stop"), Ok(Finish::Stop));
    }
    let late = [&reasoning("hm"), &unsigned("━━━━━\nllama-swap loading model: q\n"), FINISH].concat();
    check(
        &late,
        r#"reasoning "hm", reasoning "━━━━━\nllama-swap loading model: q\n", finish Stop"#,
        Ok(Finish::Stop),
    );
}

#[test]
fn errors_inside_a_stream() {
    let crash = "upstream command exited prematurely";
    for (line, message) in [
        (format!(r#"{{"error":{{"message":"{crash}","code":500,"type":"server_error"}}}}"#), crash),
        (format!(r#"{{"error":"{crash}"}}"#), crash),
        (format!(r#"data: {{"error":{{"message":"{crash}","code":"model_died"}}}}"#), crash),
        (format!(r#"data: {{"object":"error","message":"{crash}","code":500}}"#), crash),
        (crash.to_owned(), crash),
        (r#"data: {"error":{"code":500}}"#.to_owned(), "500"),
        (r#"data: {"error":{}}"#.to_owned(), "it gave no reason"),
        (r#"data: {"choices":[{"delta":{},"finish_reason":"error"}]}"#.to_owned(), "it gave no reason"),
    ] {
        check(&format!("{}{line}\n", text("a")), r#"text "a""#, server(message));
        check(&format!("{}{line}", text("a")), r#"text "a""#, server(message));
        check(&format!("{}{line}", banner_in_lines()), "banner", server(message));
    }
    let overflow = r#"data: {"error":{"code":400,"type":"exceed_context_size_error","message":"m","n_prompt_tokens":9,"n_ctx":8}}"#;
    let expected = Overflow { prompt: Some(9), context: Some(8) };
    check(overflow, "", Err(Fault::ContextOverflow(expected)));
}

#[test]
fn what_is_no_completion_is_malformed() {
    for (line, excerpt) in
        [("data: hello", "hello"), ("data: [1]", "[1]"), ("data: {\"a\":", "{\"a\":"), ("{oops", "{oops")]
    {
        let stream = format!("{}{line}\n\n{FINISH}", text("a"));
        check(&stream, r#"text "a""#, Err(Fault::Malformed { excerpt: excerpt.to_owned() }));
    }
}

#[test]
fn a_line_has_a_limit() {
    let endless = vec![b'x'; LINE_BYTES_MAX + 1];
    let lines = "data: [1,\n".repeat(LINE_BYTES_MAX / 3);
    for stream in [endless.as_slice(), lines.as_bytes()] {
        assert_eq!(read([stream]).1, Err(Fault::LineTooLong));
        assert_eq!(read(stream.chunks(1000)).1, Err(Fault::LineTooLong));
    }
}

#[test]
fn broken_characters_do_not_cost_the_answer() {
    let stream =
        [&b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xffb\"}}]}\n\n"[..], FINISH.as_bytes()].concat();
    assert_eq!(told(&read([stream.as_slice()]).0), "text \"a\u{fffd}b\", finish Stop");
}

#[test]
fn refusals_by_status_and_body() {
    let said = |refusal: Refusal| refusal.to_string();
    for (status, body, expected) in [
        (
            404,
            r#"{"error":"could not find real modelID for x"}"#,
            "the model server does not serve this model: could not find real modelID for x",
        ),
        (404, "404 page not found", "the model server does not serve this model: 404 page not found"),
        (
            500,
            "unable to start process\n",
            "the model could not be run, its process failed: unable to start process",
        ),
        (
            429,
            r#"{"error":{"message":"slow down","code":"429"}}"#,
            "the model server has too many requests: slow down",
        ),
        (429, "", "the model server has too many requests: it gave no reason"),
        (
            401,
            r#"{"error":{"message":"Invalid API Key","code":401}}"#,
            "the model server did not accept the API key, or needs one: Invalid API Key",
        ),
        (403, r#"{"detail":"no"}"#, "the model server did not accept the API key, or needs one: no"),
        (
            503,
            r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
            "the model server is loading the model",
        ),
        (503, "busy", "the model server cannot serve now (503): busy"),
        (502, "<html>Bad gateway</html>", "the model server cannot serve now (502): it gave no reason"),
        (
            400,
            r#"{"error":{"message":"bad temperature"}}"#,
            "the model server refused the request (400): bad temperature",
        ),
        (302, "", "the model server refused the request (302): it gave no reason"),
        (
            400,
            r#"{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_prompt_tokens":900,"n_ctx":512}}"#,
            "the conversation is too long for this model (900 tokens, and it takes 512): shorten it, start a new one, or give the model a larger context",
        ),
        (
            400,
            r#"{"error":{"code":"context_length_exceeded","message":"m"}}"#,
            "the conversation is too long for this model: shorten it, start a new one, or give the model a larger context",
        ),
        (
            500,
            "the request exceeds the available context size",
            "the conversation is too long for this model: shorten it, start a new one, or give the model a larger context",
        ),
    ] {
        assert_eq!(said(error_body(status, body)), expected, "{status} {body}");
    }
}

proptest! {
    #[test]
    fn any_cutting_reads_the_same(stream in stream(), cuts in cuts()) {
        let bytes = stream.as_bytes();
        prop_assert_eq!(read(cut(bytes, &cuts)), read([bytes]));
    }

    #[test]
    fn a_prefix_of_an_answer_is_a_cut(answer in answer(), at in any::<prop::sample::Index>()) {
        let bytes = answer.as_bytes();
        prop_assert_eq!(read([&bytes[..at.index(bytes.len() + 1)]]).1, Err(Fault::Truncated));
        let whole = format!("{answer}{FINISH}");
        prop_assert_eq!(read([whole.as_bytes()]).1, Ok(Finish::Stop));
    }

    #[test]
    fn all_text_arrives_and_nothing_else(words in prop::collection::vec(any::<String>(), 0..8), cuts in cuts()) {
        let stream: String = words.iter().map(|word| text(word)).chain([FINISH.to_owned()]).collect();
        let (pieces, _) = read(cut(stream.as_bytes(), &cuts));
        let arrived: String = pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            _ => None,
        }).collect();
        prop_assert_eq!(arrived, words.concat());
    }

    #[test]
    fn any_bytes_read_the_same_and_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000), cuts in cuts()) {
        prop_assert_eq!(read(cut(&bytes, &cuts)), read([bytes.as_slice()]));
    }

    #[test]
    fn any_error_body_is_classified(status in any::<u16>(), body in any::<String>()) {
        prop_assert!(!error_body(status, &body).to_string().is_empty());
    }
}

#[test]
fn a_refusal_of_images_is_told_as_one() {
    let check = |status: u16, message: &str, is_told: bool| {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        let refusal = error_body(status, &body);
        assert!(!matches!(refusal, Refusal::NoImages { .. }), "the control: nobody sent one");
        let told = matches!(refusal.of_images(), Refusal::NoImages { message: words } if words == message);
        assert_eq!(told, is_told, "{status} {message}");
    };
    check(500, "image input is not supported - hint: you may need to provide the mmproj", true);
    check(404, "No endpoints found that support image input", true);
    check(400, "Invalid content type. image_url is only supported by certain models.", true);
    check(400, "qwen3 is not a multimodal model", true);
    check(500, "upstream command exited prematurely", false);
    check(401, "no key for the image", false);
    check(429, "too many images a minute", false);
}

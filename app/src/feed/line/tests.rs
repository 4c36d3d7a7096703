use super::*;

/// Runs `what@ms` words (`tick` is of a page that is awake, `hid` of one that is not) and compares what is done.
fn check(script: &str, expected: &str) {
    let (line, done) = run(script);
    assert_eq!(format!("{done} {:?}", line.shown()), expected, "{script}");
}

fn run(script: &str) -> (Line, String) {
    let mut line = Line::default();
    let mut done = Vec::new();
    for word in script.split_whitespace() {
        let (what, at) = word.split_once('@').unwrap();
        let seen = match what {
            "tick" => Seen::Tick { awake: true },
            "hid" => Seen::Tick { awake: false },
            "opened" => Seen::Opened,
            "heard" => Seen::Heard,
            "beat" => Seen::Beat,
            "failed" => Seen::Failed,
            "gap" => Seen::Gap,
            "reset" => Seen::Reset,
            "watch" => Seen::WatchChanged,
            "nav" => Seen::Navigated,
            "answered" => Seen::Answered,
            "out" => Seen::SignedOut,
            "old" => Seen::Outdated,
            other => panic!("unknown word {other}"),
        };
        done.push(match line.next(seen, at.parse().unwrap()) {
            None => "-".to_owned(),
            Some(Do::WaitMs(ms)) => format!("wait{ms}"),
            Some(act) => format!("{act:?}").to_lowercase(),
        });
    }
    (line, done.join(" "))
}

#[test]
fn a_page_connects_and_is_live() {
    check("tick@0", "connect Connecting");
    check("tick@0 opened@20 beat@2000 tick@4000", "connect - - - Live");
}

#[test]
fn silence_in_a_visible_page_reconnects() {
    check("tick@0 beat@100 tick@3500 tick@3600 beat@3800", "connect - - connect - Live");
    check("tick@0 tick@4000 tick@5000 tick@5999 tick@6000", "connect - connect - connect Offline");
}

#[test]
fn a_connection_that_dies_alone_is_replaced_in_time() {
    // Wherever between two looks the last word of it came.
    for heard in 1..=TICK_MS {
        let mut line = Line::default();
        line.next(Seen::Tick { awake: true }, 0);
        line.next(Seen::Beat, heard);
        let mut looks = (1..).map(|nth| nth * TICK_MS);
        let again =
            looks.find(|now_ms| line.next(Seen::Tick { awake: true }, *now_ms) == Some(Do::Connect)).unwrap();
        assert!(again - heard <= 4_000, "heard at {heard}, connected again at {again}");
        line.next(Seen::Opened, again + 900);
        assert_eq!(line.shown(), Shown::Live, "a second is enough to open");
    }
}

#[test]
fn the_other_dead_connections_of_the_browser_are_used_up_quickly() {
    check(
        "tick@0 beat@1 tick@3501 tick@4501 tick@5501 tick@6501 tick@7501 tick@8501 tick@12501 tick@13501",
        "connect - connect connect connect connect connect connect - connect Offline",
    );
}

#[test]
fn a_broken_connection_is_tried_again_ever_more_slowly() {
    check("tick@0 beat@1 failed@10 tick@100 tick@210 beat@300", "connect - wait200 - connect - Live");
    check(
        "tick@0 failed@0 tick@200 failed@200 tick@600 failed@600 tick@1400 failed@1400 tick@3000 failed@3000 \
         tick@6200 failed@6200",
        "connect wait200 connect wait400 probe wait800 probe wait1600 probe wait3200 probe wait5000 Offline",
    );
    // A second error of the connection that was given up does not count.
    check("tick@0 failed@10 failed@11 tick@210", "connect wait200 - connect Connecting");
}

#[test]
fn a_probe_tells_a_server_that_is_back_from_a_login_that_ended() {
    check(
        "tick@0 failed@0 tick@200 failed@200 tick@600 answered@650 opened@700",
        "connect wait200 connect wait400 probe connect - Live",
    );
    check(
        "tick@0 failed@0 tick@200 failed@200 tick@600 out@650 tick@9000 nav@9001",
        "connect wait200 connect wait400 probe close - - SignedOut",
    );
}

#[test]
fn a_gap_resumes_and_a_reset_fetches_but_never_in_a_hot_loop() {
    check("tick@0 beat@1 gap@5 tick@205 heard@210 gap@211", "connect - wait200 connect - wait400 Offline");
    check("tick@0 beat@1 reset@5 answered@50", "connect - fetch connect Connecting");
    check(
        "tick@0 beat@1 reset@5 answered@50 reset@60 tick@460 answered@500 beat@2500",
        "connect - fetch connect wait400 fetch connect - Live",
    );
    // A connection's first beat comes together with its reset, before or after it.
    check(
        "tick@0 beat@1 reset@2 answered@50 opened@60 beat@61 reset@61 tick@461 answered@500 beat@510 reset@510",
        "connect - fetch connect - - wait400 fetch connect - wait800 Offline",
    );
    // One that lasts is trusted again.
    check(
        "tick@0 beat@1 reset@2 answered@50 beat@60 beat@2060 reset@2070",
        "connect - fetch connect - - fetch Connecting",
    );
}

#[test]
fn a_changed_watch_set_and_another_page_are_followed() {
    // To the reader it is one connection, unless the new one does not come.
    check("tick@0 opened@1 watch@5", "connect - connect Live");
    check("tick@0 opened@1 watch@5 watch@6 failed@9", "connect - connect connect wait200 Connecting");
    check("tick@0 opened@1 watch@5 tick@5005", "connect - connect connect Connecting");
    check("tick@0 watch@5", "connect connect Connecting");
    check("tick@0 opened@1 nav@5 beat@6 answered@50", "connect - fetch - connect Connecting");
    check("nav@0 failed@9 tick@300", "fetch wait200 probe Connecting");
}

#[test]
fn an_answer_that_does_not_come_is_not_waited_for() {
    check("nav@0 tick@14000 tick@15000 answered@15001 tick@15200", "fetch - wait200 - probe Connecting");
}

#[test]
fn a_page_of_another_version_stops() {
    check("nav@0 old@9 tick@300 nav@400 tick@90000", "fetch close - - - Outdated");
}

#[test]
fn a_hidden_page_gives_its_connection_back() {
    check("tick@0 beat@1 hid@1000 hid@9000 hid@11000 hid@12000", "connect - - - close - Connecting");
    check("tick@0 beat@1 hid@1000 hid@11000 tick@50000 opened@50010", "connect - - close connect - Live");
    check("hid@0 hid@20000 tick@20001", "- - connect Connecting");
}

#[test]
fn what_was_missed_is_no_news() {
    let check = |script: &str, now_ms, expected| {
        assert_eq!(run(script).0.age(now_ms), expected, "{script} {now_ms}");
    };
    // What happened between the page and its connection comes before the first beat.
    check("tick@0 opened@10", 20, Age::Missed);
    check("tick@0 opened@10 beat@20", 30, Age::News);
    // Another connection in the place of one that is fine, another page, and a hiccup.
    check("tick@0 beat@10 watch@1000 opened@1010", 1_020, Age::News);
    check("tick@0 beat@10 nav@1000 answered@1500 opened@1510", 1_520, Age::News);
    check("tick@0 beat@10 failed@20 tick@220 opened@230", 240, Age::News);
    // Asleep for a while, however it connects again, and for too short a while to matter.
    check("tick@0 beat@10 hid@1000 hid@11000 tick@90000 opened@90010", 90_020, Age::Overslept);
    check("tick@0 beat@10 hid@1000 hid@11000 tick@90000 opened@90010 beat@90020", 90_030, Age::News);
    check(
        "tick@0 beat@10 hid@1000 hid@11000 tick@90000 failed@90010 tick@90210 watch@90220",
        90_230,
        Age::Overslept,
    );
    check("tick@0 beat@10 hid@1000 hid@11000 tick@11500 opened@11510", 11_520, Age::Overslept);
    check("tick@0 beat@10 hid@1000 tick@9000", 9_010, Age::News);
    // Hidden from the beginning, or without a network.
    check("tick@0 hid@1000 hid@11000 tick@90000 opened@90010", 90_020, Age::Missed);
    check("tick@0 beat@10 tick@60000 opened@60010", 60_020, Age::Missed);
}

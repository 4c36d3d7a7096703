use super::*;

/// `name@lane: model model; …`: a name that ends in `~` is starting, in `!` unreachable.
fn catalogue(text: &str) -> Catalogue {
    let servers = text.split(';').map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let (head, models) = line.split_once(':').unwrap();
        let (name, kind) = head.split_once('@').unwrap();
        let state = match name.chars().last().unwrap() {
            '~' => ServerState::Starting,
            '!' => ServerState::Unreachable { reason: "connection refused".into() },
            _ => ServerState::Reachable,
        };
        let (lane, flavour) = match kind {
            "local" => (Lane::Local, Flavour::LlamaSwap),
            "cloud" => (Lane::Cloud, Flavour::OpenAi),
            "small" => (Lane::Local, Flavour::Small),
            "account" => (Lane::Cloud, Flavour::Account),
            other => panic!("no such kind: {other}"),
        };
        ModelServer {
            name: name.trim_end_matches(['~', '!']).into(),
            flavour,
            lane,
            base_url: "http://127.0.0.1".into(),
            state,
            models: models.split_whitespace().map(Model::named).collect(),
            also_speaks: Vec::new(),
            machine: None,
        }
    });
    Catalogue { servers: servers.collect() }
}

#[test]
fn the_default_model() {
    let check = |servers: &str, configured: Option<&str>, expected: Option<&str>| {
        let chosen = choose_default(&catalogue(servers), configured).map(|model| model.to_string());
        assert_eq!(chosen.as_deref(), expected, "{servers} with {configured:?}");
    };
    check("", None, None);
    check("swap@local: qwen phi", None, Some("swap/qwen"));
    // Local goes before cloud, whatever the order; the small model goes last.
    check("openai@cloud: gpt; swap@local: qwen", None, Some("swap/qwen"));
    check("small@small: smol; openai@cloud: gpt", None, Some("openai/gpt"));
    check("small@small: smol", None, Some("small/smol"));
    check("small~@small: smol", None, Some("small/smol"));
    check("swap~@local: qwen; openai@cloud: gpt", None, Some("openai/gpt"));
    check("swap!@local: qwen; openai@cloud: gpt", None, Some("openai/gpt"));
    check("swap!@local: qwen", None, None);
    check("swap@local:; openai@cloud: gpt", None, Some("openai/gpt"));
    // What is configured wins by either spelling, also while unreachable.
    check("swap@local: qwen phi", Some("phi"), Some("swap/phi"));
    check("swap@local: qwen; openai@cloud: gpt", Some("openai/gpt"), Some("openai/gpt"));
    check("swap!@local: qwen; openai@cloud: gpt", Some("qwen"), Some("swap/qwen"));
    check("swap@local: qwen", Some("unheard-of"), Some("swap/qwen"));
    // An account answers its agent alone.
    check("claude@account: default", None, None);
    check("claude@account: default; openai@cloud: gpt", Some("claude/default"), Some("openai/gpt"));
}

#[test]
fn the_model_of_flows() {
    let check = |servers: &str, default: Option<&str>, expected: Option<&str>| {
        let catalogue = catalogue(servers);
        let default = choose_default(&catalogue, default);
        let chosen = choose_for_flows(&catalogue, &Backend::native(), default).map(|model| model.to_string());
        assert_eq!(chosen.as_deref(), expected, "{servers}");
    };
    let (made_with, served) = (FLOW_MODEL, |server: &str| Some(format!("{server}/{FLOW_MODEL}")));
    check("", None, None);
    // The one that they were made with, where it answers, and sooner here than for money.
    check(&format!("swap@local: qwen {made_with}"), Some("qwen"), served("swap").as_deref());
    check(&format!("rent@cloud: {made_with}; swap@local: qwen"), None, served("rent").as_deref());
    check(&format!("rent@cloud: {made_with}; swap@local: {made_with}"), None, served("swap").as_deref());
    check(&format!("gone!@local: {made_with}; swap@local: qwen"), None, Some("swap/qwen"));
    check(&format!("own@account: {made_with}; swap@local: qwen"), None, Some("swap/qwen"));
    // Then a local one, although the default model is another.
    check("openai@cloud: gpt; swap@local: qwen phi", Some("openai/gpt"), Some("swap/qwen"));
    check("openai@cloud: gpt; swap@local: qwen phi", Some("phi"), Some("swap/phi"));
    check("one~@local: a; two@local: b", Some("openai/gpt"), Some("two/b"));
    // Then the default model, whatever it is.
    check("openai@cloud: gpt; swap!@local: qwen", Some("openai/gpt"), Some("openai/gpt"));
    check("small@small: smol; openai@cloud: gpt mini", Some("mini"), Some("openai/mini"));
    check("small@small: smol", None, Some("small/smol"));
    check("swap!@local: qwen", Some("qwen"), Some("swap/qwen"));
}

#[test]
fn the_model_of_flows_takes_enough_for_whoever_works() {
    let check = |servers: &str, known: &[(&str, u32)], backend: &str, expected: &str| {
        let mut catalogue = catalogue(servers);
        for model in catalogue.servers.iter_mut().flat_map(|server| &mut server.models) {
            model.context = known.iter().find(|(id, _)| *id == model.id).map(|(_, tokens)| *tokens);
        }
        let default = choose_default(&catalogue, Some("gpt"));
        let chosen = choose_for_flows(&catalogue, &Backend(backend.to_owned()), default);
        let chosen = chosen.map(|model| model.to_string());
        assert_eq!(chosen.as_deref(), Some(expected), "{servers} {known:?} {backend}");
    };
    let locals = "swap@local: tiny qwen; openai@cloud: gpt";
    check(locals, &[("tiny", 8_192)], "qwen", "swap/qwen");
    check(locals, &[("tiny", 8_192)], "native", "swap/tiny");
    check(locals, &[("tiny", 32_768), ("qwen", 65_536)], "qwen", "swap/tiny");
    // Also the one that they were made with, and the default model as a local one.
    let made_with = format!("swap@local: {FLOW_MODEL} qwen; openai@cloud: gpt");
    check(&made_with, &[(FLOW_MODEL, 16_384)], "qwen", "swap/qwen");
    check(&made_with, &[(FLOW_MODEL, 16_384)], "native", &format!("swap/{FLOW_MODEL}"));
    check("swap@local: gpt qwen", &[("gpt", 8_192)], "qwen", "swap/qwen");
    // The default model says why it cannot be used, where nothing else can.
    check(locals, &[("tiny", 8_192), ("qwen", 8_192)], "qwen", "openai/gpt");
    check(locals, &[("tiny", 8_192), ("qwen", 8_192), ("gpt", 8_192)], "qwen", "openai/gpt");
}

#[test]
fn a_model_found_by_what_was_written() {
    let check = |servers: &str, text: &str, expected: Option<&str>| {
        let found = catalogue(servers).resolve(text).map(|model| model.to_string());
        assert_eq!(found.as_deref(), expected, "{text} in {servers}");
    };
    let router = "router@cloud: qwen/qwen3 gpt; qwen@local: qwen3";
    check(router, "router/qwen/qwen3", Some("router/qwen/qwen3"));
    check(router, "qwen/qwen3", Some("qwen/qwen3"));
    check(router, "gpt", Some("router/gpt"));
    check(router, "qwen", None);
    check("one!@local: m; two@local: m", "m", Some("two/m"));
    check("one!@local: m; two!@local: m", "m", Some("one/m"));
}

#[test]
fn references_read_back_what_they_write() {
    let check = |text: &str, expected: Option<(&str, &str)>| {
        let parsed = text.parse::<ModelRef>().ok();
        let parts = parsed.as_ref().map(|model| (model.server.as_str(), model.model.as_str()));
        assert_eq!(parts, expected, "{text}");
        if let Some(model) = &parsed {
            assert_eq!(model.to_string(), text);
        }
    };
    check("swap/qwen", Some(("swap", "qwen")));
    check("router/qwen/qwen3", Some(("router", "qwen/qwen3")));
    check("qwen", None);
    check("/qwen", None);
    check("swap/", None);
}

#[test]
fn lanes_by_host() {
    let check = |host: &str, expected| assert_eq!(Lane::of_host(host), expected, "{host}");
    for host in
        ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.8.0.1", "[::1]", "::ffff:127.0.0.1"]
    {
        check(host, Lane::Local);
    }
    for host in ["api.openai.com", "localhost.evil.com", "notlocalhost", "192.168.1.5", "10.0.0.1", "0.0.0.0"]
    {
        check(host, Lane::Cloud);
    }
}

#[test]
fn lookups() {
    let catalogue = catalogue("swap@local: qwen; openai!@cloud: gpt");
    let gpt: ModelRef = "openai/gpt".parse().unwrap();
    assert_eq!(catalogue.lane(&gpt), Some(Lane::Cloud));
    assert_eq!(
        catalogue.model(&gpt).map(|(server, model)| (&*server.name, &*model.id)),
        Some(("openai", "gpt"))
    );
    assert_eq!(catalogue.model(&"swap/gpt".parse().unwrap()), None);
    assert_eq!(catalogue.server("ollama"), None);
}

#[test]
fn the_wire_form_is_fixed() {
    let catalogue = Catalogue {
        servers: vec![ModelServer {
            name: "swap".into(),
            flavour: Flavour::LlamaSwap,
            lane: Lane::Local,
            base_url: "http://127.0.0.1:8080".into(),
            state: ServerState::Unreachable { reason: "connection refused".into() },
            models: vec![
                Model::named("qwen"),
                Model {
                    label: Some("Phi 4".into()),
                    context: Some(16_384),
                    sees: Some(false),
                    ..Model::named("phi")
                },
            ],
            also_speaks: Vec::new(),
            machine: None,
        }],
    };
    let json = r#"{"servers":[{"name":"swap","flavour":"llama_swap","lane":"local","base_url":"http://127.0.0.1:8080","state":{"unreachable":{"reason":"connection refused"}},"models":[{"id":"qwen"},{"id":"phi","label":"Phi 4","context":16384,"sees":false}]}]}"#;
    assert_eq!(serde_json::to_string(&catalogue).unwrap(), json);
    assert_eq!(serde_json::from_str::<Catalogue>(json).unwrap(), catalogue);
}

#[test]
fn a_chat_is_not_answered_by_an_agents_account() {
    let catalogue = catalogue("swap@local: qwen; claude@account: default");
    let check = |server: &str| catalogue.server(server).unwrap().check_chat().map_err(|no| no.to_string());
    assert_eq!(check("swap"), Ok(()));
    let words = "claude is the login of an agent, which works in a Coder only. Choose another model.";
    assert_eq!(check("claude"), Err(words.to_owned()));
}

#[test]
fn what_keeps_a_queued_task_waiting() {
    let catalogue = catalogue("swap@local: qwen; slow~@local: phi; down!@cloud: gpt");
    let check = |server: &str, expected| assert_eq!(catalogue.hindrance(server), expected, "{server}");
    check("swap", None);
    check("down", None);
    check("slow", Some(Hindrance::Starting));
    check("desk", Some(Hindrance::Gone));
}

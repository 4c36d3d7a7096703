use std::collections::HashMap;

use domain::{catalogue::Lane, protocol::Protocol, settings::Draft};

use super::*;
use crate::secret::Secret;

const FILE: &str = "/etc/boocode/boocode.toml";

/// Loads from `--flag value` arguments, `NAME=value` variables and the text of a settings file.
fn load(flags: &[&str], env: &[&str], toml: &str) -> Result<Config, Vec<Problem>> {
    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        serve: ServeArgs,
    }
    let cli: Cli = clap::Parser::try_parse_from(["boocode"].iter().chain(flags)).unwrap();
    let home = [("HOME", "/home/ada")];
    let env: HashMap<_, _> =
        home.into_iter().chain(env.iter().map(|pair| pair.split_once('=').unwrap())).collect();
    let file = (!toml.is_empty()).then(|| (FILE.into(), toml.to_owned()));
    Config::load(cli.serve, |name| env.get(name).map(|value| (*value).to_owned()), file)
}

fn load_ok(flags: &[&str], env: &[&str], toml: &str) -> Config {
    load(flags, env, toml).unwrap_or_else(|problems| panic!("{flags:?} {env:?} {toml}: {problems:#?}"))
}

#[test]
fn defaults() {
    let config = load_ok(&[], &[], "");
    assert_eq!(config.listen.to_string(), "127.0.0.1:4400");
    assert_eq!(config.data_dir, Path::new("/home/ada/.local/share/boocode"));
    assert_eq!(config.log_format, LogFormat::Text);
    assert!(config.small_model && config.discover);
    let here = std::env::current_dir().unwrap();
    assert_eq!(config.allowed_roots, std::slice::from_ref(&here), "a home that is not there is left out");
    assert_eq!(load_ok(&[], &["HOME=/usr"], "").allowed_roots, [PathBuf::from("/usr"), here]);
    assert_eq!((config.database_url, config.pg_bin_dir, config.default_model), (None, None, None));
    assert!(config.model_servers.is_empty());
    assert_eq!((config.flow_backend.as_str(), config.flow_model), ("qwen", None));
    assert_eq!(load_ok(&[], &["HOME=/root"], "").data_dir, Path::new("/var/lib/boocode"));
    assert_eq!(load_ok(&[], &["XDG_DATA_HOME=/d"], "").data_dir, Path::new("/d/boocode"));
}

#[test]
fn the_higher_source_wins() {
    let check = |flags: &[&str], env: &[&str], toml: &str, expected: &str| {
        assert_eq!(load_ok(flags, env, toml).default_model.as_deref(), Some(expected));
    };
    check(&["--default-model", "flag"], &["DEFAULT_MODEL=env"], "default_model = 'file'", "flag");
    check(&[], &["DEFAULT_MODEL=env"], "default_model = 'file'", "env");
    check(&[], &[], "default_model = 'file'", "file");
    check(&[], &["DEFAULT_MODEL="], "default_model = 'file'", "file");
}

#[test]
fn who_works_in_flows() {
    let check = |flags: &[&str], env: &[&str], toml: &str, backend: &str, model: Option<&str>| {
        let config = load_ok(flags, env, toml);
        assert_eq!((config.flow_backend.as_str(), config.flow_model.as_deref()), (backend, model));
    };
    check(&["--flow-backend", "native"], &["FLOW_MODEL=a/b"], "", "native", Some("a/b"));
    check(&[], &["FLOW_BACKEND=goose"], "flow_model = 'm'\nflow_backend = 'x'", "goose", Some("m"));
    assert!(load(&["--flow-backend", " "], &[], "").is_err() && load(&[], &[], "flow_model = ' '").is_err());
}

#[test]
fn address_and_port() {
    let check = |flags: &[&str], env: &[&str], toml: &str, expected: &str| {
        assert_eq!(load_ok(flags, env, toml).listen.to_string(), expected, "{flags:?} {env:?} {toml}");
    };
    check(&["--port", "5000"], &[], "", "127.0.0.1:5000");
    check(&[], &["BOOCODE_PORT=0"], "", "127.0.0.1:0");
    check(&[], &[], "port = 5000", "127.0.0.1:5000");
    check(&["--listen", "localhost:5000"], &[], "", "127.0.0.1:5000");
    check(&["--listen", "[::1]"], &["BOOCODE_PORT=5000"], "", "[::1]:5000");
    check(&["--listen", "::1"], &[], "", "[::1]:4400");
    // A port inside a higher `listen` beats a lower `port`, and the other way round.
    check(&["--listen", "127.0.0.1:5000"], &["BOOCODE_PORT=6000"], "", "127.0.0.1:5000");
    check(&["--port", "6000"], &["BOOCODE_LISTEN=127.0.0.1:5000"], "", "127.0.0.1:6000");
    check(&["--port", "5000", "--listen", "127.0.0.1:5000"], &[], "", "127.0.0.1:5000");
    check(
        &[],
        &[],
        "listen = '0.0.0.0:80'\npublic_url = 'https://code.example.org/'\ntrusted_proxies = '10.0.0.2'",
        "0.0.0.0:80",
    );
}

#[test]
fn paths_and_switches() {
    let config = load_ok(
        &["--no-model", "--allowed-root", "/usr", "--allowed-root", "/etc"],
        &["PG_BIN_DIR=~/pg/bin", "BOOCODE_DISCOVER=off", "DATABASE_URL=postgres://u:p@h/d"],
        "data_dir = 'data'\nlog_format = 'json'\nsmall_model = true\nsmall_model_python = '/venv/bin/python'",
    );
    assert_eq!(config.data_dir, Path::new("/etc/boocode/data"));
    assert_eq!(config.pg_bin_dir.as_deref(), Some(Path::new("/home/ada/pg/bin")));
    assert_eq!(config.allowed_roots, [PathBuf::from("/usr"), "/etc".into()]);
    assert_eq!(config.log_format, LogFormat::Json);
    assert_eq!(config.small_model_python.as_deref(), Some(Path::new("/venv/bin/python")));
    assert!(!config.small_model && !config.discover);
    assert_eq!(config.database_url.as_ref().map(|url| url.expose()), Some("postgres://u:p@h/d"));
    assert!(!format!("{config:?}").contains("u:p"));
    let from_env = load_ok(&[], &["BOOCODE_ALLOWED_ROOTS=/usr:/etc"], "");
    assert_eq!(from_env.allowed_roots, [PathBuf::from("/usr"), "/etc".into()]);
    for wrong in ["/no/such/folder", "/etc/passwd"] {
        let problems = load(&["--allowed-root", wrong], &[], "").unwrap_err();
        let said = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(said.starts_with("`allowed_roots` from") && said.contains(wrong), "{said}");
    }
}

#[test]
fn a_small_model_that_is_installed_is_found() {
    let tools = tempfile::tempdir().unwrap();
    let venv = tools.path().join("small-model-venv");
    std::fs::create_dir(&venv).unwrap();
    let variable = format!("BOOCODE_TOOLS_DIR={}", tools.path().display());
    let found = || load_ok(&[], &[&variable], "").small_model_python;
    assert_eq!(found(), None, "half of it is there");
    std::fs::write(venv.join("boocode-packages"), "").unwrap();
    assert_eq!(found(), Some(venv.join("bin/python")));
    let named = load_ok(&["--small-model-python", "/mine"], &[&variable], "").small_model_python;
    assert_eq!(named.as_deref(), Some(Path::new("/mine")));
}

#[test]
fn model_servers() {
    let toml = r#"
        [[model_server]]
        name = "swap"
        url = "http://localhost:9292/v1"
        [[model_server]]
        name = "openai"
        url = "https://api.openai.com/v1"
        api_key_env = "OPENAI_API_KEY"
        parallel = 8
        models = ["gpt-5"]
        [[model_server]]
        name = "rack"
        url = "http://10.0.0.9:8080"
        lane = "local"
        api_key_env = "RACK_KEY"
    "#;
    let config = load_ok(&[], &["OPENAI_API_KEY=sk-hunter2"], toml);
    let shown: Vec<_> = config
        .model_servers
        .iter()
        .map(|server| (&*server.name, server.address.root(), server.lane, server.parallel))
        .collect();
    let expected = [
        ("swap", "http://localhost:9292", Lane::Local, 1),
        ("openai", "https://api.openai.com", Lane::Cloud, 8),
        ("rack", "http://10.0.0.9:8080", Lane::Local, 1),
    ];
    assert_eq!(shown, expected);
    let keys: Vec<_> = config.model_servers.iter().map(|server| &server.key).collect();
    let set = Key::Set { variable: "OPENAI_API_KEY".into(), value: Secret::new("sk-hunter2") };
    assert_eq!(keys, [&Key::None, &set, &Key::Missing { variable: "RACK_KEY".into() }]);
    assert_eq!(config.model_servers[1].models, ["gpt-5"]);
    assert!(!format!("{config:?}").contains("hunter2"));

    // The higher source replaces the list.
    let names = |flags: &[&str], env: &[&str]| -> Vec<_> {
        load_ok(flags, env, toml).model_servers.into_iter().map(|server| server.name).collect()
    };
    assert_eq!(
        names(&["--model-server", "a=http://127.0.0.1:1"], &["BOOCODE_MODEL_SERVERS=b=http://h"]),
        ["a"]
    );
    assert_eq!(names(&[], &["BOOCODE_MODEL_SERVERS=b=http://h:1,c=http://h:2"]), ["b", "c"]);
}

#[test]
fn problems_name_the_setting_its_source_and_what_is_allowed() {
    let check = |flags: &[&str], env: &[&str], toml: &str, expected: &[&str]| {
        let problems = load(flags, env, toml).expect_err("the settings were accepted");
        let text: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(text.len(), 1, "{text:#?}");
        for part in expected {
            assert!(text[0].contains(part), "{} lacks {part}", text[0]);
        }
        assert!(!text[0].contains("hunter2"), "a secret was repeated: {}", text[0]);
    };
    check(&["--port", "80x"], &[], "", &["`port` from the flag --port", "\"80x\"", "0 to 65535"]);
    check(&[], &["BOOCODE_PORT=65536"], "", &["the environment variable BOOCODE_PORT"]);
    check(&[], &[], "port = -1", &["`port` from /etc/boocode/boocode.toml"]);
    check(&[], &[], "port = [1, 2]", &["one value is allowed"]);
    check(&[], &[], "port = 1.5", &["float"]);
    check(&["--listen", "example.org"], &[], "", &["not an address", "127.0.0.1:4400"]);
    check(&["--listen", "127.0.0.1:1", "--port", "2"], &[], "", &["`port`", "contradicts"]);
    check(
        &["--listen", "0.0.0.0"],
        &[],
        "",
        &["`listen` from the flag --listen", "`public_url`", "trusted_proxies"],
    );
    check(&["--listen", "::"], &[], "", &["reachable from outside"]);
    // Neither half of the permission is enough.
    check(&["--listen", "0.0.0.0", "--public-url", "https://x.org"], &[], "", &["trusted_proxies"]);
    check(&["--listen", "0.0.0.0", "--trusted-proxy", "10.0.0.2"], &[], "", &["`public_url`"]);
    check(&["--public-url", "http://x.org"], &[], "", &["https"]);
    check(&["--public-url", "https://x.org/path"], &[], "", &["without a path"]);
    check(&["--trusted-proxy", "proxy.org"], &[], "", &["`trusted_proxies`", "IP addresses"]);
    check(&["--log-format", "xml"], &[], "", &["`log_format`", "\"text\" and \"json\""]);
    check(&[], &["BOOCODE_SMALL_MODEL=maybe"], "", &["`small_model`", "true and false"]);
    check(&[], &["DATABASE_URL=mysql://u:hunter2@h/d"], "", &["`database_url`", "postgres://"]);
    check(&[], &["DATABASE_URL=hunter2"], "", &["not a URL"]);
    check(&[], &["HOME="], "", &["`data_dir` from the default", "--data-dir"]);
    check(&[], &[], "prot = 1", &["`prot`", "did you mean `port`?"]);
    check(&[], &[], "allowed_root = '/x'", &["did you mean `allowed_roots`?"]);
    check(&[], &[], "zzz = 1", &["allowed are listen, port"]);
    check(&[], &[], "port = ", &["`config` from /etc/boocode/boocode.toml", "line 1"]);
}

#[test]
fn problems_of_model_servers() {
    let check = |body: &str, expected: &[&str]| {
        let toml = format!("[[model_server]]\n{body}");
        let problems = load(&[], &["KEY=hunter2"], &toml).expect_err("the server was accepted");
        let text: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(text.len(), 1, "{text:#?}");
        for part in expected {
            assert!(text[0].contains(part), "{} lacks {part}", text[0]);
        }
        assert!(!text[0].contains("hunter2"), "a secret was repeated: {}", text[0]);
    };
    let server = |rest: &str| format!("name = 'a'\nurl = 'https://host'\n{rest}");
    check("url = 'https://host'", &["`model_server[1].name`", "missing"]);
    check("name = 'a'", &["`model_server[1].url`", "missing"]);
    check("name = 'a/b'\nurl = 'https://host'", &["not a name"]);
    check("name = 'small'\nurl = 'https://host'", &["built-in"]);
    check("name = 'a'\nurl = 'host'", &["not a URL"]);
    check(&server("lane = 'fast'"), &["`model_server[1].lane`", "\"local\" and \"cloud\""]);
    check(
        &server("speaks = ['chat']"),
        &["`model_server[1].speaks`", "\"messages\", \"responses\", \"gemini\""],
    );
    check(&server("speaks = 'messages'"), &["`model_server[1].speaks`", "a list is allowed"]);
    check(&server("lane = 'local'\nparallel = 2"), &["one task at a time"]);
    check(&server("parallel = 0"), &["1 to 64"]);
    check(&server("models = 'gpt'"), &["a list of model names"]);
    check(&server("api_key = 'hunter2'"), &["`api_key_env`"]);
    check(&server("api_key_env = 'sk-hunter2'"), &["not the name of a variable"]);
    check(&server("api_key_env = 'DATABASE_URL'"), &["BooCode's own"]);
    check(&server("api_key_env = 'BOOCODE_ANYTHING'"), &["BooCode's own"]);
    check(&server("paralel = 2"), &["did you mean `parallel`?"]);
    check("name = 'a'\nurl = 'http://host.org'\napi_key_env = 'KEY'", &["unencrypted"]);
    check(
        &server("[[model_server]]\nname = 'a'\nurl = 'https://other'"),
        &["`model_server[2].name`", "twice"],
    );
    check(&server("[[model_server]]\nname = 'b'\nurl = 'https://host:443/v1'"), &["the server \"a\" again"]);
}

#[test]
fn a_form_has_the_rules_of_the_file() {
    let env = |name: &str| (name == "KEY").then(|| "hunter2".to_owned());
    let draft = Draft {
        name: " rack ".into(),
        url: "https://host/v1".into(),
        lane: String::new(),
        parallel: "8".into(),
        api_key_env: "KEY".into(),
        models: "one, two\r\nthree\n".into(),
        speaks: "messages, gemini".into(),
    };
    let server = from_draft(&draft, &env).unwrap();
    assert_eq!((&*server.name, server.lane, server.parallel), ("rack", Lane::Cloud, 8));
    assert_eq!(server.models, ["one", "two", "three"]);
    assert_eq!(server.speaks.as_deref(), Some(&[Protocol::Messages, Protocol::Gemini][..]));
    assert!(matches!(server.key, Key::Set { .. }));

    let check = |change: fn(&mut Draft), field: &str, words: &str| {
        let mut draft = draft.clone();
        change(&mut draft);
        let problems = from_draft(&draft, &env).expect_err("the draft was accepted");
        let [(key, message)] = &problems[..] else { panic!("{problems:?}") };
        assert!(key == field && message.contains(words), "{problems:?}");
        assert!(!message.contains("hunter2"), "a secret was repeated: {message}");
    };
    check(|draft| draft.name.clear(), "name", "missing");
    check(|draft| draft.url.clear(), "url", "missing");
    check(|draft| draft.url = "file:///etc/passwd".into(), "url", "not a web address");
    check(|draft| draft.url = "http://host".into(), "url", "unencrypted");
    check(|draft| draft.lane = "fast".into(), "lane", "\"local\" and \"cloud\"");
    check(|draft| draft.lane = "local".into(), "parallel", "one task at a time");
    check(|draft| draft.parallel = "many".into(), "parallel", "1 to 64");
    check(|draft| draft.api_key_env = "sk-hunter2".into(), "api_key_env", "not the name of a variable");
}

#[test]
fn a_setting_knows_who_said_it() {
    let config = load_ok(&["--port", "5000"], &["DEFAULT_MODEL=m"], "log_format = 'json'");
    let check = |key: &str, expected: &str| assert_eq!(config.source(key).to_string(), expected);
    check("port", "the flag --port");
    check("default_model", "the environment variable DEFAULT_MODEL");
    check("log_format", FILE);
    check("data_dir", "the default");
}

#[test]
fn all_problems_are_reported_at_once() {
    let problems =
        load(&["--port", "x"], &["BOOCODE_LOG_FORMAT=xml"], "colour = 'red'\n[[model_server]]").unwrap_err();
    let settings: Vec<_> = problems.iter().map(|problem| &*problem.setting).collect();
    assert_eq!(settings, ["colour", "port", "log_format", "model_server[1].name", "model_server[1].url"]);
}

const TINY: &str = r#"[[agent]]
name = "tiny"
command = "~/bin/tiny"
arguments = ["--model={model}"]
folders = ["/opt/tiny"]
needs = ["node", "terminals", "port"]
speaks = "messages"
modes = { ask = "careful", edit = "free" }
tokens = "total"
tokens_prove_success = true
error_beginnings = ["Error: "]
[agent.environment]
BASE = "{url}/v1"
[agent.files]
".tiny/settings.json" = '{"model": "{json:model}"}'
"#;

#[test]
fn agents() {
    let config = load_ok(&[], &[], TINY);
    let [agent] = config.agents.as_slice() else { panic!("{:?}", config.agents) };
    assert_eq!((agent.title.as_str(), agent.command.as_path()), ("tiny", Path::new("/home/ada/bin/tiny")));
    assert_eq!(agent.environment, [("BASE".to_owned(), "{url}/v1".to_owned())]);
    assert_eq!(agent.files, [(".tiny/settings.json".to_owned(), r#"{"model": "{json:model}"}"#.to_owned())]);
    assert_eq!(agent.needs, [acp::Need::Node, acp::Need::Terminals, acp::Need::Port]);
    assert_eq!((agent.modes.ask.as_deref(), agent.modes.read_only.as_deref()), (Some("careful"), None));
    assert_eq!((agent.speaks, agent.tokens), (Protocol::Messages, acp::Tokens::Total));
    // Only what has to be there: it speaks chat completions, and tells no tokens.
    let least = load_ok(&[], &[], "[[agent]]\nname = 'a'\ntitle = 'An A'\ncommand = '/bin/a'").agents;
    assert_eq!((least[0].title.as_str(), least[0].tokens), ("An A", acp::Tokens::Untold));
}

#[test]
fn problems_of_agents() {
    let check = |line: &str, parts: &[&str]| {
        let toml = format!("[[agent]]\nname = 'a'\ncommand = '/bin/a'\n{line}");
        let problems = load(&[], &[], &toml).unwrap_err();
        let said: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert!(parts.iter().all(|part| said.join("\n").contains(part)), "{line}: {said:#?}");
    };
    let whole = |toml: &str| load(&[], &[], toml).unwrap_err()[0].to_string();
    assert!(whole("[[agent]]\ncommand = '/bin/a'").contains("`agent[1].name` from"));
    assert!(whole("[[agent]]\nname = 'a'").contains("`agent[1].command`"));
    assert!(whole("agent = 'a'").contains("tables are allowed"));
    check("modus = 'x'", &["`agent[1].modus`", "did you mean `modes`"]);
    check("[[agent]]\nname = 'a'\ncommand = '/bin/b'", &["`agent[2].name`", "twice"]);
    check("[[agent]]\nname = 'qwen'\ncommand = '/bin/b'", &["`agent[2].name`", "BooCode knows"]);
    check("[[agent]]\nname = 'native'\ncommand = '/bin/b'", &["`agent[2].name`", "BooCode knows"]);
    check("[[agent]]\nname = 'a b'\ncommand = ''", &["not a name", "`agent[2].command`", "empty"]);
    check("arguments = ['{modle}']", &["`agent[1].arguments`", "{modle}", "{model}"]);
    check("arguments = 'x'", &["`agent[1].arguments`", "a list is allowed, not a string"]);
    check("needs = ['root']", &["`agent[1].needs`", "\"node\", \"terminals\" and \"port\""]);
    check("speaks = 'smtp'", &["`agent[1].speaks`", "\"messages\""]);
    check("tokens = 'all'", &["`agent[1].tokens`", "\"last_call\""]);
    check("tokens_prove_success = true", &["`agent[1].tokens_prove_success`", "needs `tokens`"]);
    check("modes = { plan = 'x' }", &["`agent[1].modes`", "\"plan\""]);
    check("modes = { ask = 1 }", &["`agent[1].modes`", "\"ask\": a text is allowed"]);
    for name in ["LD_PRELOAD", "HOME", "PATH", "GLIBC_TUNABLES"] {
        check(&format!("[agent.environment]\n{name} = 'x'"), &["`agent[1].environment`", "not an agent's"]);
    }
    check("[agent.environment]\n'a b' = 'x'", &["`agent[1].environment`", "not the name of a variable"]);
    check("[agent.environment]\nA = '{json:mod}'", &["`agent[1].environment`", "\"A\"", "{json:mod}"]);
    for path in ["/etc/passwd", "../up", "a/../../b", "", "folder/"] {
        check(&format!("[agent.files]\n'{path}' = 'x'"), &["`agent[1].files`", "below the agent's home"]);
    }
}

/// What the README shows can be copied.
#[test]
fn the_settings_of_the_readme_can_be_used() {
    let readme = include_str!("../../../README.md");
    let blocks: Vec<_> =
        readme.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let all: Vec<_> = blocks.iter().map(|block| load_ok(&[], &["OPENROUTER_API_KEY=k"], block)).collect();
    assert!(all.iter().any(|config| config.agents.len() == 1), "the one with an agent");
    assert!(all.iter().any(|config| config.model_servers.len() == 2), "the one with model servers");
}

use domain::{
    backend::Backend,
    browser::{Browser, Code, Pairing, Qr},
    catalogue::{Flavour, Lane, Model, ModelRef, ServerState},
    id::{BrowserId, ProjectId},
    settings::{
        Budget, Checked, DefaultModel, Draft, Fact, Fault, FlowBackend, FlowSettings, KeyState, Look,
        ModelSettings, Origin, ProjectEntry, Recordings, ServerEntry, Shown, Work, WorktreeSettings,
    },
    setup::Setup,
    workspace::Project,
};
use uuid::Uuid;

use super::{
    pane::{self, Place},
    *,
};

/// A section as the server sends it.
fn html(section: Section, shown: Shown) -> String {
    Owner::new_root(None).with(|| {
        let place = Place { section: Signal::stored(section), choose: None };
        let html = pane::view(place, Some(shown), None).to_html();
        html.replace("<!>", "").replace("<!---->", "")
    })
}

#[track_caller]
fn check(html: &str, parts: &[&str]) {
    for part in parts {
        assert!(html.contains(part), "{part} is not in {html}");
    }
    assert!(!html.contains("style="), "{html}");
}

fn server(name: &str, origin: Origin) -> ServerEntry {
    let models = vec![Model::named("qwen")];
    ServerEntry {
        name: name.into(),
        url: "http://127.0.0.1:9292".into(),
        lane: Lane::Local,
        parallel: 1,
        key: KeyState::None,
        origin,
        look: Some(Look { flavour: Flavour::LlamaSwap, state: ServerState::Reachable, models }),
        unused: None,
        work: Work::default(),
    }
}

fn models(servers: Vec<ServerEntry>, default_model: DefaultModel, checked: Option<Checked>) -> Shown {
    Shown::Models(ModelSettings {
        servers,
        default_model,
        flows: flows(Origin::Default, automatic()),
        checked,
    })
}

fn flows(origin: Origin, model: DefaultModel) -> FlowSettings {
    let offered = vec![Backend::native(), Backend("qwen".into())];
    FlowSettings { backend: FlowBackend { used: Backend("qwen".into()), origin, offered }, model }
}

fn automatic() -> DefaultModel {
    let model = ModelRef { server: "desk".into(), model: "qwen".into() };
    DefaultModel { set: None, origin: Origin::Default, used: Some(model.clone()), offered: vec![model] }
}

#[test]
fn every_section_is_in_the_menu() {
    let html = html(Section::default(), models(vec![], automatic(), None));
    for section in Section::ALL {
        check(&html, &[entry(section).title, &format!("href=\"/settings/{}\"", section.id())]);
        assert_eq!(entry(section).section, section);
    }
    assert_eq!(html.matches("aria-current=\"page\"").count(), 1);
    check(&html, &["There is no model server yet"]);
}

#[test]
fn a_server_says_how_it_is_and_who_set_it() {
    let fixed = server("rack", Origin::File("/etc/boocode.toml".into()));
    let down = ServerEntry {
        look: Some(Look {
            flavour: Flavour::OpenAi,
            state: ServerState::Unreachable { reason: "connection refused".into() },
            models: vec![],
        }),
        key: KeyState::Missing { variable: "A_KEY".into() },
        work: Work { queued: 2, running: 0 },
        ..server("desk", Origin::Settings)
    };
    let html = html(Section::Models, models(vec![fixed, down], automatic(), None));
    check(&html, &["llama-swap, 1 model: qwen", "set in /etc/boocode.toml"]);
    check(&html, &["connection refused", "A_KEY is not set", "set here", "2 tasks wait for it"]);
    // Only what was set here can be removed here.
    assert_eq!(html.matches("action=\"/api/remove_model_server\"").count(), 1);
    check(&html, &["name=\"told\" value=\"2\"", "Used now: desk/qwen, the default."]);
}

#[test]
fn who_works_in_flows_is_shown_and_changed_unless_it_is_set_elsewhere() {
    let shown = |flows| {
        let shown = ModelSettings { servers: vec![], default_model: automatic(), flows, checked: None };
        html(Section::Models, Shown::Models(shown))
    };
    let form = |html: &str| {
        let (_, rest) = html.split_once("action=\"/api/choose_for_flows\"").expect("a form");
        rest.split_once("</form>").expect("its end").0.to_owned()
    };
    let free = form(&shown(flows(Origin::Default, automatic())));
    check(&free, &["Used now: Qwen Code, the default.", "Used now: desk/qwen, the default.", "Save"]);
    check(&free, &["<option value=\"native\">BooCode</option>"]);
    assert!(!free.contains("disabled"), "{free}");
    let flag = |name: &str| Origin::Flag(name.to_owned());
    let set = DefaultModel { set: Some("gone/x".into()), origin: flag("--flow-model"), ..automatic() };
    let half = form(&shown(flows(Origin::Settings, set.clone())));
    check(&half, &["<option value=\"qwen\" selected>Qwen Code</option>", "gone/x (not offered now)", "Save"]);
    assert_eq!(half.matches(" disabled").count(), 1, "{half}");
    let fixed = form(&shown(flows(flag("--flow-backend"), set)));
    assert!(!fixed.contains("Save"), "{fixed}");
}

#[test]
fn a_key_is_told_to_be_there_and_no_field_is_filled_with_one() {
    let with = |name: &str, key| ServerEntry { key, ..server(name, Origin::Settings) };
    let servers = vec![
        with("one", KeyState::Kept),
        with("two", KeyState::Elsewhere),
        with("three", KeyState::Unreadable),
        with("four", KeyState::None),
        server("fixed", Origin::Flag("--model-server".into())),
    ];
    let html = html(Section::Models, models(servers, automatic(), None));
    check(
        &html,
        &["key set", "key set on another machine, not on this one", "its key can no longer be read"],
    );
    assert_eq!(
        html.matches("action=\"/api/set_server_key\"").count(),
        4,
        "only for those that were added here"
    );
    assert_eq!(html.matches("action=\"/api/remove_server_key\"").count(), 3, "only where there is one");
    for field in html.split("<input").skip(1).map(|rest| rest.split('>').next().unwrap_or_default()) {
        assert!(!field.contains("type=\"password\"") || !field.contains("value="), "{field}");
    }
}

#[test]
fn a_project_shows_what_its_worktrees_begin_with() {
    let project = |n, name: &str, setup| ProjectEntry {
        project: Project {
            id: ProjectId(Uuid::from_u128(n)),
            name: name.into(),
            path: format!("/src/{name}"),
        },
        setup,
    };
    let setup = Setup { copy: vec![".env".into()], command: "make <all>".into(), check: String::new() };
    let shown = Shown::Projects(vec![project(1, "shop", setup), project(2, "blog", Setup::default())]);
    let html = html(Section::Projects, shown);
    check(&html, &["shop", "/src/shop", "copies .env, runs a command", "nothing set up", "make &lt;all&gt;"]);
    check(&html, &["name=\"setup[copy]\"", "name=\"setup[check]\"", "Save the setup of blog"]);
    check(&html, &[&format!("id=\"{}\"", project_anchor(ProjectId(Uuid::from_u128(2))))]);
    assert_eq!(html.matches("action=\"/api/save_setup\"").count(), 2);
}

#[test]
fn worktrees_that_take_too_much_are_told() {
    let shown = |bytes| {
        let budget = Budget::parse("2").unwrap();
        let recordings = Recordings { count: 2, bytes: 3_000_000 };
        Shown::Worktrees(WorktreeSettings {
            worktrees: Vec::new(),
            strays: vec![Some(bytes)],
            recordings,
            budget,
        })
    };
    let html = |bytes| html(Section::Worktrees, shown(bytes));
    check(&html(3_000_000_000), &["more than the 2 GB", "1 worktree, 3.0 GB together", "name=\"budget\""]);
    assert!(!html(1_000_000_000).contains("more than the"));
    check(&html(1_000_000_000), &["Delete 1 discarded worktree for good"]);
    check(&html(0), &["2 recordings of finished runs take 3 MB", "action=\"/api/free_recordings\""]);
}

#[test]
fn a_draft_that_was_refused_stays_with_the_words_at_its_field() {
    let draft = Draft { name: "desk".into(), url: "ftp://desk".into(), ..Draft::default() };
    let faults = vec![Fault { field: "url".into(), words: "this is not a web address".into() }];
    let checked = Checked { draft, faults, look: None, added: false };
    let html = html(Section::Models, models(vec![], automatic(), Some(checked)));
    check(
        &html,
        &["value=\"desk\"", "value=\"ftp://desk\"", "This is not a web address.", "aria-invalid=\"true\""],
    );
    check(&html, &["action=\"/api/check_model_server\"", "name=\"draft[url]\""]);
}

#[test]
fn what_the_configuration_sets_cannot_be_changed() {
    let default = DefaultModel {
        set: Some("gone".into()),
        origin: Origin::Flag("--default-model".into()),
        ..automatic()
    };
    let html = html(Section::Models, models(vec![], default, None));
    check(&html, &["gone (not offered now)", "set by the flag --default-model", "disabled"]);
    let (_, form) = html.split_once("action=\"/api/choose_default_model\"").unwrap();
    let (form, _) = form.split_once("</form>").unwrap();
    assert!(!form.contains(">Save<"), "{form}");
}

#[test]
fn this_browser_is_marked_and_others_can_be_signed_out() {
    let browser = |n, is_this| Browser {
        id: BrowserId(Uuid::from_u128(n)),
        user_agent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0 <script>".into(),
        created_ms: 0,
        seen_ms: 0,
        is_this,
        is_connected: is_this,
    };
    let html = html(Section::Browsers, Shown::Browsers(vec![browser(1, true), browser(2, false)]));
    check(&html, &["Firefox on Linux", "This browser", "open now", "last seen 1970-01-01 00:00 UTC"]);
    check(&html, &["action=\"/logout\"", "action=\"/api/revoke_browser\"", "Sign out 1 other browser"]);
    assert!(!html.contains("<script>"), "{html}");
}

#[test]
fn a_code_is_drawn_for_a_phone_and_only_where_one_gets() {
    let qr = Qr { size: 29, path: "M4 4h7v1h-7z".into() };
    let open = Code::Open { link: "https://code.example.org/login?token=x".into(), qr, expires_ms: 60_000 };
    let pairing = |is_loopback, code| {
        let url = if is_loopback { "http://127.0.0.1:4400" } else { "https://code.example.org" };
        Shown::Phone(Pairing { url: url.into(), is_loopback, code })
    };
    let public = html(Section::Phone, pairing(false, Some(open.clone())));
    check(&public, &["M4 4h7v1h-7z", "token=x", "until 1970-01-01 00:01 UTC", "Make a new code"]);
    let local = html(Section::Phone, pairing(true, Some(open)));
    check(&local, &["A phone cannot reach this address", "reverse_proxy 127.0.0.1:4400", "token=x"]);
    assert!(!local.contains("d=\"M4 4h7v1h-7z\""), "{local}");
    check(&html(Section::Phone, pairing(false, Some(Code::Used))), &["This code was used"]);
    check(&html(Section::Phone, pairing(false, Some(Code::Expired))), &["This code has expired"]);
    check(&html(Section::Phone, pairing(false, None)), &["Make a code"]);
}

#[test]
fn facts_say_where_they_come_from() {
    let fact = Fact {
        name: "Data directory".into(),
        help: "Holds all.".into(),
        value: "/data".into(),
        origin: Some(Origin::Environment("BOOCODE_DATA_DIR".into())),
    };
    let html = html(Section::About, Shown::About(vec![fact]));
    check(&html, &["Data directory", "/data", "set by the environment variable BOOCODE_DATA_DIR"]);
}

#[test]
fn notifications_are_shown_as_nobody_chose_and_switched_by_the_browser_alone() {
    let html = html(Section::Notifications, Shown::Notifications);
    check(&html, &["In the page", "From the browser", "need JavaScript", "Send a test"]);
    assert_eq!(html.matches("role=\"switch\"").count(), 6, "{html}");
    assert_eq!(html.matches(" checked").count(), 3, "the page tells all, the browser nothing: {html}");
}

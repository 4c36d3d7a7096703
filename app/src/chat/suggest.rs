//! What is suggested while one types: actions after a slash, files of the project after an `@`.

use domain::{
    flow::Flow,
    id::{ChatId, ProjectId},
};
use leptos::{
    ev::KeyboardEvent,
    html::{Div, Form, Textarea},
    prelude::*,
    task::spawn_local,
    web_sys::{Element, HtmlElement},
};

use super::Pane;
use crate::{
    actions::{Action, Brief, Hands, Slash, flows, slashes},
    erased::{Erase, Erased, effect},
    feed::Feed,
    files::{FilesFound, api::find_files},
    icon::Icon,
    later::{CHUNK, Part},
    orchestrator::launch_at_once,
    ui::{Align, Choice, OptionList, is_composing, is_held_with, matching, next_enabled, put},
};

const FILES_MAX: usize = 30;

/// What the text before the cursor asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Action(String),
    /// A file, and where its `@` stands.
    File {
        at: usize,
        query: String,
    },
}

impl Asked {
    /// A slash counts only as the first letter of the message, an `@` only at the start of a word.
    fn by(text: &str, cursor: usize) -> Option<Self> {
        let before = text.get(..cursor)?;
        if let Some(name) = before.strip_prefix('/')
            && !name.contains(char::is_whitespace)
        {
            return Some(Self::Action(name.to_owned()));
        }
        let word = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let word = before.ceil_char_boundary(word);
        let query = before[word..].strip_prefix('@')?;
        Some(Self::File { at: word, query: query.to_owned() })
    }
}

/// The suggestions of one composer.
#[derive(Clone, Copy)]
pub struct Suggest {
    chat: ChatId,
    asked: RwSignal<Option<Asked>>,
    choices: RwSignal<Vec<Choice>>,
    /// What the choices answer. Files of an earlier question are shown until those of the next one are here.
    answered: StoredValue<Option<Asked>>,
    /// The first of what is still to come was taken already.
    is_owed: StoredValue<bool>,
    active: RwSignal<Option<usize>>,
    /// Which one tells more about itself.
    told: RwSignal<Option<usize>>,
    draft: RwSignal<String>,
    input: NodeRef<Textarea>,
    project: Option<ProjectId>,
    hands: Hands,
}

impl Suggest {
    pub fn new(input: NodeRef<Textarea>) -> Self {
        let feed = expect_context::<Feed>();
        let Pane { chat, draft, .. } = expect_context::<Pane>();
        let project = untrack(|| feed.workspace(|all| Some(all.session(all.chat(chat)?.session)?.project)));
        Self {
            chat,
            asked: RwSignal::new(None),
            choices: RwSignal::new(Vec::new()),
            answered: StoredValue::new(None),
            is_owed: StoredValue::new(false),
            active: RwSignal::new(None),
            told: RwSignal::new(None),
            draft,
            input,
            project,
            hands: expect_context::<Hands>(),
        }
    }

    /// To be called whenever the text or the cursor changed.
    pub fn look(self) {
        let Some(input) = self.input.get_untracked() else { return };
        let text = input.value();
        // The browser counts in UTF-16.
        let units = input.selection_start().ok().flatten().unwrap_or_default() as usize;
        let mut seen = 0;
        let cursor = text.char_indices().find_map(|(at, c)| {
            let is_here = seen >= units;
            seen += c.len_utf16();
            is_here.then_some(at)
        });
        let asked = Asked::by(&text, cursor.unwrap_or(text.len()));
        if self.asked.get_untracked() == asked {
            return;
        }
        self.asked.set(asked.clone());
        self.answered.set_value(None);
        self.is_owed.set_value(false);
        match asked {
            None => self.show(Vec::new()),
            Some(Asked::Action(name)) => self.show(matching(&actions(), &name)),
            Some(Asked::File { query, .. }) => self.find(query),
        }
    }

    fn find(self, query: String) {
        let Some(project) = self.project else { return };
        spawn_local(async move {
            let found = find_files(project, query.clone(), FILES_MAX).await;
            let is_current = matches!(
                self.asked.try_get_untracked().flatten(),
                Some(Asked::File { query: now, .. }) if now == query
            );
            // Whoever closed the list meanwhile does not want it back.
            if is_current && self.is_stale() {
                self.show(found.map(files).unwrap_or_default());
                if self.is_owed.get_value() {
                    self.choose_active();
                }
            }
        });
    }

    /// Whether something else was asked since.
    fn is_stale(self) -> bool {
        self.answered.with_value(|answered| *answered != self.asked.get_untracked())
    }

    fn show(self, choices: Vec<Choice>) {
        // A field that goes loses the focus, and its suggestions are gone by then.
        let Some(asked) = self.asked.try_get_untracked() else { return };
        self.answered.set_value(asked);
        self.active.set(choices.iter().position(|choice| choice.disabled.is_none()));
        self.told.set(None);
        self.choices.set(choices);
    }

    /// Until something else is asked for.
    pub fn close(self) {
        self.is_owed.set_value(false);
        self.show(Vec::new());
    }

    /// Of the list, for whoever listens.
    pub fn list_id(self) -> String {
        format!("suggestions-{}", self.chat)
    }

    /// Which of its options Enter would take.
    pub fn pointed(self) -> Option<String> {
        self.active.get().map(|active| format!("{}-{active}", self.list_id()))
    }

    pub fn list(self) -> Erased {
        view! {
            <OptionList
                id=self.list_id()
                name=Signal::stored("Suggestions".to_owned())
                choices=Signal::derive(move || self.choices.get())
                active=self.active
                told=self.told
                on_choose=Callback::new(move |value| self.choose(value))
            />
        }
        .erase()
    }

    pub fn is_open(self) -> bool {
        !self.choices.read().is_empty()
    }

    /// What a key does that is for the suggestions; all others are the field's.
    pub fn take(self, key: &KeyboardEvent) {
        if self.choices.read_untracked().is_empty() || is_held_with(key) || is_composing(key) {
            return;
        }
        let name = key.key();
        let is_stale = self.is_stale();
        match name.as_str() {
            "Escape" => self.close(),
            // What was typed since may mean another file.
            "Enter" | "Tab" if is_stale => self.is_owed.set_value(true),
            "Enter" | "Tab" if !self.choose_active() => return,
            "Enter" | "Tab" => {}
            "ArrowDown" | "ArrowUp" => {
                let next = next_enabled(&self.choices.read_untracked(), &name, self.active.get_untracked());
                self.active.set(next);
                self.told.set(None);
            }
            "ArrowRight" if self.can_tell() => self.told.set(self.active.get_untracked()),
            "ArrowLeft" if self.told.get_untracked().is_some() => self.told.set(None),
            _ => return,
        }
        key.prevent_default();
    }

    /// Whether the one that is pointed at has more to say than it does.
    fn can_tell(self) -> bool {
        let (active, choices) = (self.active.get_untracked(), self.choices.read_untracked());
        let more = active.and_then(|n| choices.get(n)?.more);
        more.is_some() && self.told.get_untracked() != active
    }

    /// Whether there was one.
    fn choose_active(self) -> bool {
        let active = self.active.get_untracked();
        let chosen = active.and_then(|n| self.choices.read_untracked().get(n).cloned());
        let is_one = chosen.is_some();
        chosen.into_iter().for_each(|chosen| self.choose(chosen.value));
        is_one
    }

    fn choose(self, value: String) {
        let Some(asked) = self.asked.get_untracked() else { return };
        self.asked.set(None);
        self.close();
        match asked {
            Asked::Action(_) => self.act(&value),
            Asked::File { at, query } => {
                let (text, caret) = with_mention(&self.draft.get_untracked(), at, &query, &value);
                self.write(text, caret);
            }
        }
    }

    /// What is written behind the command goes with it, or stays.
    fn act(self, title: &str) {
        let rest = self.draft.with_untracked(|draft| behind_command(draft).to_owned());
        if let Some(flow) = flows().find(|flow| flow.title == title) {
            return self.begin(flow, &rest);
        }
        let Some((action, slash)) = slashes().find(|(action, _)| action.title == title) else { return };
        match slash.with_text.filter(|_| !rest.is_empty()) {
            Some(run) => {
                self.draft.set(format!("/{} {rest}", slash.name));
                run(self.hands, Brief { text: rest, command: Some(self.draft) });
            }
            None => {
                self.draft.set(rest);
                (action.run)(self.hands);
            }
        }
    }

    /// One that has its question, or can do without, begins at once; the others wait for it.
    fn begin(self, flow: &Flow, question: &str) {
        let text = format!("/{} {question}", flow.name);
        if question.is_empty() && flow.focus.is_needed() {
            let caret = text.len();
            return self.write(text, caret);
        }
        self.draft.set(text);
        launch_at_once(self.hands, flow.id, question, self.draft);
    }

    /// Puts the text into the field and the cursor at this byte of it.
    fn write(self, text: String, caret: usize) {
        if let Some(input) = self.input.get_untracked() {
            let units = text[..text.floor_char_boundary(caret)].encode_utf16().count() as u32;
            input.set_value(&text);
            input.set_selection_range(units, units).ok();
            input.focus().ok();
        }
        self.draft.set(text);
    }
}

/// What was found, or that nothing was; and where there is more, that there is.
fn files(found: FilesFound) -> Vec<Choice> {
    let count = found.files.len();
    let file = |path: String| {
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        Choice::new(path.clone(), name).describe(path).icon(Icon::File)
    };
    let mut choices: Vec<_> = found.files.into_iter().map(|found| file(found.path)).collect();
    let note = |label: &str, why: &str| Choice::new("", label).disabled(why);
    if count == 0 {
        choices.push(note("No file", "Nothing in this project is called that."));
    }
    if found.total > count {
        let more = format!("{} more", found.total - count);
        choices.push(note(&more, "Type more of the name to see them."));
    }
    if found.is_cut {
        choices.push(note("Not all files", "The project has more than are searched."));
    }
    choices
}

/// What is left of a message without the command that it begins with.
fn behind_command(text: &str) -> &str {
    text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start())
}

/// The text with the mention of a path in place of what was typed to find it, and where the cursor goes.
fn with_mention(text: &str, at: usize, query: &str, path: &str) -> (String, usize) {
    let (before, rest) =
        (text.get(..at).unwrap_or(text), text.get(at + 1 + query.len()..).unwrap_or_default());
    let mention = mention(path);
    let caret = before.len() + mention.len() + 1;
    // One space is enough.
    (format!("{before}{mention} {}", rest.strip_prefix(' ').unwrap_or(rest)), caret)
}

/// As it is written in a message; a path with spaces stands in quotes.
fn mention(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

fn actions() -> Vec<Choice> {
    let choice = |(action, slash): (&'static Action, Slash)| {
        Choice::new(action.title, format!("/{}", slash.name))
            .explain(slash.what, slash.when)
            .group(action.group)
            .icon(action.icon)
            .describe(format!("{}. {}", action.title, action.about))
    };
    let flow = |flow: &'static Flow| {
        Choice::new(flow.title, format!("/{}", flow.name))
            .explain(flow.what, flow.when)
            .group("Orchestrator")
            .icon(Icon::Workflow)
            .describe(flow.line)
    };
    slashes().map(choice).chain(flows().map(flow)).collect()
}

/// Beside the composer and over all else: a short pane has no room for it.
#[component]
pub fn Suggestions(suggest: Suggest, form: NodeRef<Form>) -> impl IntoView {
    let is_open = Memo::new(move |_| suggest.is_open());
    let is_enabled = |choice: &&Choice| choice.disabled.is_none();
    let count = move || match suggest.choices.read().iter().filter(is_enabled).count() {
        0 if is_open.get() => "No file is called that".to_owned(),
        0 => String::new(),
        1 => "One suggestion, Enter takes it".to_owned(),
        many => format!("{many} suggestions, arrow keys choose one"),
    };
    let layer = NodeRef::<Div>::new();
    effect(move || {
        suggest.choices.track();
        suggest.told.track();
        let (Some(layer), Some(form)) = (layer.get(), form.get()) else { return };
        // What it holds is there by then, so that it can be measured.
        request_animation_frame(move || float(&layer, &form));
    });
    let list = move || {
        is_open.get().then(|| {
            view! {
                <div class="suggestions" popover="manual" node_ref=layer>
                    {CHUNK.view(Part::Suggestions(suggest))}
                </div>
            }
            .erase()
        })
    };
    view! { <p class="visually-hidden" role="status">{count}</p> {list} }.erase()
}

fn float(layer: &HtmlElement, form: &Element) {
    // Refused when it is shown already, or gone by now.
    layer.show_popover().ok();
    layer.style().set_property("width", &format!("{}px", form.client_width())).ok();
    put(layer, form, Align::Start);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_begins_a_message_and_an_at_a_word() {
        let check = |text: &str, expected: Option<Asked>| {
            let cursor = text.find('|').unwrap();
            assert_eq!(Asked::by(&text.replace('|', ""), cursor), expected, "{text}");
        };
        let file = |at, query: &str| Some(Asked::File { at, query: query.into() });
        check("/ne|", Some(Asked::Action("ne".into())));
        check("/|", Some(Asked::Action(String::new())));
        check("/new chat|", None);
        check("a /new|", None);
        check("look at @src/li|b", file(8, "src/li"));
        check("@|", file(0, ""));
        check("é @x|", file(3, "x"));
        check("me@example|", None);
        check("@done now|", None);
    }

    #[test]
    fn what_is_not_shown_is_said() {
        let check = |count: usize, total, is_cut, expected: &[&str]| {
            let file = |n| crate::files::Found { path: format!("src/{n}.rs"), positions: Vec::new() };
            let found = FilesFound { files: (0..count).map(file).collect(), total, is_cut };
            let labels: Vec<_> = files(found).into_iter().map(|choice| choice.label).collect();
            assert_eq!(labels, expected);
        };
        check(2, 2, false, &["0.rs", "1.rs"]);
        check(1, 9, false, &["0.rs", "8 more"]);
        check(1, 2, true, &["0.rs", "1 more", "Not all files"]);
        check(0, 0, false, &["No file"]);
    }

    #[test]
    fn a_path_with_spaces_is_quoted() {
        assert_eq!(mention("src/main.rs"), "@src/main.rs");
        assert_eq!(mention("my notes.md"), "@\"my notes.md\"");
    }

    #[test]
    fn a_mention_takes_the_place_of_what_was_typed_and_the_cursor_stands_behind_it() {
        let check = |text: &str, expected: &str| {
            let cursor = text.find('|').unwrap();
            let text = text.replace('|', "");
            let Some(Asked::File { at, query }) = Asked::by(&text, cursor) else { panic!("{text}") };
            let (written, caret) = with_mention(&text, at, &query, "src/lib.rs");
            assert_eq!(format!("{}|{}", &written[..caret], &written[caret..]), expected, "{text}");
        };
        check("@li|", "@src/lib.rs |");
        check("é @li| and more", "é @src/lib.rs |and more");
        check("in @|\nnext", "in @src/lib.rs |\nnext");
    }

    #[test]
    fn what_stands_behind_a_command_is_kept() {
        let check = |text, expected| assert_eq!(behind_command(text), expected, "{text}");
        check("/new", "");
        check("/ne what I wrote", "what I wrote");
        check("/arena\n two\nlines", "two\nlines");
    }

    #[test]
    fn a_command_that_is_typed_in_full_is_the_first_one() {
        let all = actions();
        for choice in &all {
            let name = choice.label.trim_start_matches('/');
            assert_eq!(matching(&all, name)[0].value, choice.value, "{name}");
        }
    }
}

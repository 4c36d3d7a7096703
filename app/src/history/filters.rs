//! What of the history is shown: a form that asks for an address, and the conditions it holds now.

use domain::{
    battle::Kind,
    flow::{Band, FlowId},
    history::{Fault, Field, Filter, ONLY, PATH, State, Worded as _},
    search::ASKED_CHARS_MAX,
    workspace::Workspace,
};
use leptos::prelude::*;

use super::kinds;
use crate::icon::Icon;

/// A plain form: it needs no script, and what it asks for can be linked.
#[component]
pub fn FilterForm(filter: Filter, faults: Vec<Fault>, workspace: Workspace) -> impl IntoView {
    let fields = Fields { filter: &filter, faults: &faults };
    let is_refused = |fault: &Fault| !matches!(fault.field, Field::Asked | Field::Before);
    // Closed, because what is chosen stands below; open where something in it has to be put right.
    let is_open = faults.iter().any(is_refused);
    let projects = workspace.projects.iter().chain(&workspace.archived.projects);
    let projects = projects.map(|project| (project.id.to_string(), project.name.clone()));
    let states = State::ALL.iter().map(|(state, word)| (word.to_string(), state_name(*state).to_owned()));
    let place = faults.iter().find(|fault| fault.field == Field::Before).map(|fault| {
        view! { <p class="notice info" role="status">{fault.words.clone()} " This is its beginning."</p> }
    });
    view! {
        <form class="history-form" method="get" action=PATH role="search">
            <div class="history-search">
                <label class="visually-hidden" for="history-q">"Search in titles, questions and answers"</label>
                <input
                    class="input"
                    id="history-q"
                    type="search"
                    name=Field::Asked.name()
                    value=filter.get(Field::Asked)
                    maxlength=ASKED_CHARS_MAX.to_string()
                    placeholder="Search in titles, questions and answers"
                    autocomplete="off"
                    aria-invalid=fields.invalid(Field::Asked)
                    aria-describedby="history-q-error"
                />
                <button class="button primary" type="submit">{Icon::Search.view()} <span>"Search"</span></button>
            </div>
            {fields.error(Field::Asked)}
            <details class="history-filters" open=is_open>
                <summary class="button ghost small">{Icon::Filter.view()} "Filters"</summary>
                <div class="history-fields">
                    {fields.choice(Field::Kind, "Show", "Everything", options(kinds::choices()))}
                    {fields.choice(Field::State, "State", "Any state", options(states.collect()))}
                    {fields.choice(Field::Archived, "Archived", "Included", options(archived()))}
                    {fields.choice(Field::Project, "Project", "All projects", options(projects.collect()))}
                    {fields.choice(Field::Session, "Session", "All sessions", sessions(&workspace))}
                    {fields.choice(Field::BattleType, "Type of battle", "Any type", options(battle_types()))}
                    {fields.name(Field::Contestant, "Contestant")}
                    {fields.name(Field::Winner, "Winner")}
                    {fields.choice(Field::Flow, "Flow", "Any flow", options(flows()))}
                    {fields.choice(Field::Band, "Band", "Any band", options(bands()))}
                    {fields.day(Field::From, "First day")}
                    {fields.day(Field::To, "Last day")}
                    <div class="history-apply">
                        <p class="field-hint">"Days begin at midnight UTC."</p>
                        <button class="button" type="submit">"Apply"</button>
                    </div>
                </div>
            </details>
        </form>
        {place}
    }
    .into_any()
}

/// The conditions in force, each with the way out of it.
#[component]
pub fn Conditions(filter: Filter, workspace: Workspace) -> impl IntoView {
    let conditions = filter.conditions();
    (!conditions.is_empty()).then(|| {
        let chip = |field: Field| {
            let words = condition(&filter, field, &workspace);
            view! {
                <li>
                    <a class="chip" href=filter.without(field).path() aria-label=format!("Without {words}")>
                        <span>{words.clone()}</span>
                        {Icon::Close.view()}
                    </a>
                </li>
            }
        };
        let chips = conditions.iter().map(|field| chip(*field)).collect_view();
        let all = (conditions.len() > 1)
            .then(|| view! { <li><a class="button ghost small" href=PATH>"Clear all"</a></li> });
        view! { <ul class="chips" aria-label="Only what matches">{chips} {all}</ul> }
    })
}

/// A condition in words.
pub fn condition(filter: &Filter, field: Field, workspace: &Workspace) -> String {
    let value = filter.get(field).unwrap_or_default();
    match field {
        Field::Asked => format!("“{value}”"),
        Field::Kind => filter.kind.map_or(value, |kind| kinds::look(kind).names.1.to_owned()),
        Field::Project => {
            let project = filter.project.and_then(|id| workspace.project(id));
            project.map_or(value, |project| project.name.clone())
        }
        Field::Session => {
            let session = filter.session.and_then(|id| workspace.session(id));
            session.map_or(value, |session| session.name.clone())
        }
        Field::State => filter.state.map_or(value, |state| state_name(state).to_owned()),
        Field::Archived => "archived".to_owned(),
        Field::BattleType => filter.battle_type.map_or(value, |kind| format!("{} battles", kind.label())),
        Field::Contestant => format!("with {value}"),
        Field::Winner => format!("won by {value}"),
        Field::Flow => filter.flow.map_or(value, |flow| flow.flow().title.to_owned()),
        Field::Band => format!("{value} band"),
        Field::From => format!("from {value}"),
        Field::To => format!("until {value}"),
        Field::Before => value,
    }
}

pub fn state_name(state: State) -> &'static str {
    match state {
        State::Running => "Running",
        State::Waiting => "Waiting",
        State::Failed => "Failed",
        State::Done => "Done",
        State::Stopped => "Stopped",
    }
}

struct Fields<'a> {
    filter: &'a Filter,
    faults: &'a [Fault],
}

/// The choices of a field, given what is chosen.
type Options = Box<dyn Fn(Option<String>) -> AnyView>;

impl Fields<'_> {
    fn choice(&self, field: Field, label: &'static str, all: &'static str, options: Options) -> AnyView {
        let id = format!("history-{}", field.name());
        view! {
            <div class="field">
                <label class="field-label" for=id.clone()>{label}</label>
                <select
                    class="select"
                    id=id.clone()
                    name=field.name()
                    aria-invalid=self.invalid(field)
                    aria-describedby=format!("{id}-error")
                >
                    <option value="">{all}</option>
                    {options(self.filter.get(field))}
                </select>
                {self.error(field)}
            </div>
        }
        .into_any()
    }

    fn day(&self, field: Field, label: &'static str) -> AnyView {
        let id = format!("history-{}", field.name());
        view! {
            <div class="field">
                <label class="field-label" for=id.clone()>{label}</label>
                <input
                    id=id.clone()
                    type="date"
                    name=field.name()
                    value=self.filter.get(field)
                    aria-invalid=self.invalid(field)
                    aria-describedby=format!("{id}-error")
                />
                {self.error(field)}
            </div>
        }
        .into_any()
    }

    /// An agent, a persona or a model, or a part of its name.
    fn name(&self, field: Field, label: &'static str) -> AnyView {
        let id = format!("history-{}", field.name());
        view! {
            <div class="field">
                <label class="field-label" for=id.clone()>{label}</label>
                <input
                    class="input"
                    id=id.clone()
                    type="text"
                    name=field.name()
                    value=self.filter.get(field)
                    placeholder="agent, persona or model"
                    autocomplete="off"
                    aria-invalid=self.invalid(field)
                    aria-describedby=format!("{id}-error")
                />
                {self.error(field)}
            </div>
        }
        .into_any()
    }

    fn fault(&self, field: Field) -> Option<String> {
        self.faults.iter().find(|fault| fault.field == field).map(|fault| fault.words.clone())
    }

    fn invalid(&self, field: Field) -> Option<&'static str> {
        self.fault(field).map(|_| "true")
    }

    fn error(&self, field: Field) -> AnyView {
        let words = self.fault(field).map(|words| format!("{words} It is left out."));
        view! { <span class="field-error" id=format!("history-{}-error", field.name())>{words}</span> }
            .into_any()
    }
}

fn flows() -> Vec<(String, String)> {
    FlowId::ALL.iter().map(|flow| (flow.name().to_owned(), flow.flow().title.to_owned())).collect()
}

fn bands() -> Vec<(String, String)> {
    Band::ALL.iter().map(|band| (band.name().to_owned(), band.name().to_owned())).collect()
}

fn battle_types() -> Vec<(String, String)> {
    [Kind::Coding, Kind::Qa].iter().map(|kind| (kind.word().to_owned(), kind.label().to_owned())).collect()
}

fn options(all: Vec<(String, String)>) -> Options {
    Box::new(move |chosen| {
        let option = |(value, name): &(String, String)| option(value.clone(), name.clone(), &chosen);
        all.iter().map(option).collect_view().into_any()
    })
}

fn archived() -> Vec<(String, String)> {
    vec![(ONLY.to_owned(), "Only these".to_owned())]
}

/// Sessions are mostly called alike, so they stand under their projects.
fn sessions(workspace: &Workspace) -> Options {
    let workspace = workspace.clone();
    Box::new(move |chosen| {
        let group = |project: &domain::workspace::Project| {
            let own = workspace
                .sessions
                .iter()
                .chain(&workspace.archived.sessions)
                .filter(|session| session.project == project.id);
            let own = own.map(|session| option(session.id.to_string(), session.name.clone(), &chosen));
            view! { <optgroup label=project.name.clone()>{own.collect_view()}</optgroup> }
        };
        let projects = workspace.projects.iter().chain(&workspace.archived.projects);
        projects.map(group).collect_view().into_any()
    })
}

fn option(value: String, name: String, chosen: &Option<String>) -> AnyView {
    let is_chosen = chosen.as_ref() == Some(&value);
    view! { <option value=value selected=is_chosen>{name}</option> }.into_any()
}

//! Something to choose from: options in groups, of which one is pointed at. The focus stays where one types, so
//! whoever types moves the pointer.

use leptos::{html::Div, prelude::*, wasm_bindgen::JsCast as _, web_sys::HtmlElement};

use super::{
    focus::{Axis, step},
    kbd::{Kbd, aria_keys},
};
use crate::{
    erased::{Erase, Erased, effect},
    icon::Icon,
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub value: String,
    pub label: String,
    /// Options of one group follow each other; empty means none.
    pub group: String,
    pub description: Option<String>,
    /// Its shortcut, as `Mod+K`.
    pub keys: Option<&'static str>,
    /// What it does and when to use it, for who wants to know more.
    pub more: Option<(&'static str, &'static str)>,
    pub icon: Option<Icon>,
    /// Why it cannot be chosen now.
    pub disabled: Option<String>,
}

impl Choice {
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into(), ..Self::default() }
    }

    pub fn group(self, group: impl Into<String>) -> Self {
        Self { group: group.into(), ..self }
    }

    pub fn describe(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    pub fn keys(self, keys: Option<&'static str>) -> Self {
        Self { keys, ..self }
    }

    pub fn explain(self, what: &'static str, when: &'static str) -> Self {
        Self { more: Some((what, when)), ..self }
    }

    pub fn icon(self, icon: Icon) -> Self {
        Self { icon: Some(icon), ..self }
    }

    pub fn disabled(self, reason: impl Into<String>) -> Self {
        Self { disabled: Some(reason.into()), ..self }
    }
}

/// A listbox. The field that steers it says so with `aria-controls` and, for the option at `active`, with
/// `aria-activedescendant`, which is `{id}-{active}`.
#[component]
pub fn OptionList(
    #[prop(into)] id: String,
    #[prop(into)] name: Signal<String>,
    #[prop(into)] choices: Signal<Vec<Choice>>,
    /// The value that is chosen now.
    #[prop(optional, into)]
    chosen: Signal<String>,
    /// Which one Enter would choose.
    active: RwSignal<Option<usize>>,
    /// Which one tells more about itself.
    #[prop(optional)]
    told: RwSignal<Option<usize>>,
    #[prop(into)] on_choose: Callback<String>,
) -> impl IntoView {
    let steering = Steering { chosen, active, told, on_choose };
    let list = NodeRef::<Div>::new();
    let prefix = id.clone();
    effect({
        let prefix = prefix.clone();
        move || {
            told.track();
            let Some(active) = active.get() else { return };
            if let Some(list) = list.get() {
                reveal(&list, &format!("{prefix}-{active}"));
            }
        }
    });
    let options = move || {
        let all = choices.get();
        let groups = all.chunk_by(|one, next| one.group == next.group);
        let mut first = 0;
        let groups = groups.map(|group| {
            let options = group.iter().enumerate().map(|(n, choice)| {
                let place = first + n;
                option_view(format!("{prefix}-{place}"), place, choice, steering)
            });
            let options: Vec<_> = options.collect();
            first += group.len();
            group_view(group.first().map(|choice| choice.group.clone()).unwrap_or_default(), options)
        });
        groups.collect::<Vec<_>>()
    };
    view! {
        <div class="options" role="listbox" id=id aria-label=name tabindex="-1" node_ref=list>
            {options}
        </div>
    }
    .erase()
}

/// Those that hold every word that was typed, the likeliest first. Options of a group stay together, and a group
/// stands where its best one does.
pub fn matching(choices: &[Choice], typed: &str) -> Vec<Choice> {
    let typed = lowercase(typed.trim());
    let fits: Vec<_> = choices.iter().map(|choice| fit(choice, &typed)).collect();
    let with = |wanted| choices.iter().zip(&fits).filter(move |(_, fit)| **fit == Some(wanted));
    let found: Vec<_> = Fit::ALL.into_iter().flat_map(|fit| with(fit).map(|(choice, _)| choice)).collect();
    let mut grouped: Vec<Choice> = Vec::with_capacity(found.len());
    for first in &found {
        if !grouped.iter().any(|choice| choice.group == first.group) {
            grouped.extend(
                found.iter().filter(|choice| choice.group == first.group).map(|choice| (*choice).clone()),
            );
        }
    }
    grouped
}

/// How well something fits what was typed, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Whole,
    Beginning,
    Label,
    About,
}

impl Fit {
    const ALL: [Self; 4] = [Self::Whole, Self::Beginning, Self::Label, Self::About];
}

fn fit(choice: &Choice, typed: &str) -> Option<Fit> {
    if typed.is_empty() {
        return Some(Fit::Label);
    }
    let label = lowercase(&choice.label);
    // A command is typed without the slash that it is shown with.
    let name = label.strip_prefix('/').unwrap_or(&label);
    let holds_all = |text: &str| typed.split_whitespace().all(|word| text.contains(word));
    if name == typed {
        return Some(Fit::Whole);
    } else if name.starts_with(typed) {
        return Some(Fit::Beginning);
    } else if holds_all(name) {
        return Some(Fit::Label);
    }
    let about = choice.description.as_deref().unwrap_or_default();
    holds_all(&lowercase(&format!("{} {label} {about}", choice.group))).then_some(Fit::About)
}

/// The browser knows the letters of all languages; their tables would cost the page more than the rest of this.
#[cfg(feature = "hydrate")]
fn lowercase(text: &str) -> String {
    web_sys::js_sys::JsString::from(text).to_lower_case().into()
}

#[cfg(not(feature = "hydrate"))]
fn lowercase(text: &str) -> String {
    text.to_lowercase()
}

/// Where a key leads among those that can be chosen; none for keys that lead nowhere.
pub fn next_enabled(choices: &[Choice], key: &str, active: Option<usize>) -> Option<usize> {
    let enabled: Vec<_> = (0..choices.len()).filter(|&n| choices[n].disabled.is_none()).collect();
    let at = enabled.iter().position(|&n| Some(n) == active);
    step(key, Axis::Column, at, enabled.len()).map(|to| enabled[to])
}

fn group_view(title: String, options: Vec<Erased>) -> Erased {
    if title.is_empty() {
        return options.erase();
    }
    let name = title.clone();
    view! {
        <div class="option-group" role="group" aria-label=name>
            <p class="menu-title" aria-hidden="true">{title}</p>
            {options}
        </div>
    }
    .erase()
}

/// What the options of one list share.
#[derive(Clone, Copy)]
struct Steering {
    chosen: Signal<String>,
    active: RwSignal<Option<usize>>,
    told: RwSignal<Option<usize>>,
    on_choose: Callback<String>,
}

fn option_view(
    id: String,
    place: usize,
    choice: &Choice,
    Steering { chosen, active, told, on_choose }: Steering,
) -> Erased {
    let Choice { value, label, description, icon, disabled, more, keys, .. } = choice.clone();
    let is_disabled = disabled.is_some();
    let about = disabled.or(description);
    let more_id = more.map(|_| format!("{id}-more"));
    let more = more.map(|more| more_view(format!("{id}-more"), place, more, told));
    let is_chosen = {
        let value = value.clone();
        Memo::new(move |_| chosen.with(|chosen| *chosen == value))
    };
    view! {
        <div
            class="option"
            role="option"
            id=id
            aria-selected=move || if is_chosen.get() { "true" } else { "false" }
            aria-disabled=is_disabled.then_some("true")
            aria-describedby=more_id
            aria-keyshortcuts=keys.map(aria_keys)
            data-active=move || (active.get() == Some(place)).then_some("")
            // The field keeps the focus.
            on:mousedown=|press| press.prevent_default()
            on:click=move |_| {
                if !is_disabled {
                    on_choose.run(value.clone());
                }
            }
            on:pointermove=move |_| {
                if !is_disabled && active.get_untracked() != Some(place) {
                    active.set(Some(place));
                }
            }
        >
            {icon.map(|icon| view! { <span class="menu-icon">{icon.view()}</span> })}
            <span class="menu-label">{label}</span>
            <span class="option-mark">{Icon::Check.view()}</span>
            {keys.map(|keys| view! { <span class="menu-keys" aria-hidden="true"><Kbd keys /></span> })}
            {about.map(|about| view! { <span class="menu-about">{about}</span> })}
            {more}
        </div>
    }
    .erase()
}

/// The texts, and what a finger or a mouse opens them with. An option may hold nothing that takes the focus, so the
/// keyboard has the arrows. Whoever listens hears the texts as the option's description, open or not.
fn more_view(
    id: String,
    place: usize,
    (what, when): (&'static str, &'static str),
    told: RwSignal<Option<usize>>,
) -> Erased {
    let is_told = move || told.get() == Some(place);
    view! {
        <span
            class="option-tell"
            aria-hidden="true"
            data-tip="What it does, and when to use it"
            data-open=move || is_told().then_some("")
            on:click=move |click| {
                click.stop_propagation();
                told.update(|told| *told = (*told != Some(place)).then_some(place));
            }
        >
            {Icon::Info.view()}
        </span>
        <span class="option-more" id=id aria-hidden="true" hidden=move || !is_told()>
            <span>{what}</span>
            <span>{when}</span>
        </span>
    }
    .erase()
}

/// Scrolls the list, and nothing around it, until the option is in sight.
fn reveal(list: &HtmlElement, id: &str) {
    let option = document().get_element_by_id(id).and_then(|option| option.dyn_into::<HtmlElement>().ok());
    let Some(option) = option else { return };
    let (top, bottom) = (option.offset_top(), option.offset_top() + option.offset_height());
    if top < list.scroll_top() {
        list.set_scroll_top(top);
    } else if bottom > list.scroll_top() + list.client_height() {
        list.set_scroll_top(bottom - list.client_height());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices() -> Vec<Choice> {
        vec![
            Choice::new("desk/qwen", "Qwen 3.6").group("desk (local)"),
            Choice::new("desk/gone", "Gone").group("desk (local)").disabled("does not answer"),
            Choice::new("cloud/big", "Big").group("cloud").describe("slow and thorough"),
        ]
    }

    #[test]
    fn every_word_narrows() {
        let check = |typed, expected: &[&str]| {
            let found: Vec<_> = matching(&choices(), typed).into_iter().map(|choice| choice.value).collect();
            assert_eq!(found, expected, "{typed}");
        };
        check("", &["desk/qwen", "desk/gone", "cloud/big"]);
        check("QWEN", &["desk/qwen"]);
        check("local q", &["desk/qwen"]);
        check("thorough", &["cloud/big"]);
        check("qwen thorough", &[]);
    }

    #[test]
    fn letters_of_every_language_are_found_in_either_case() {
        let choices = [Choice::new("chat", "Übersicht über ÆØÅ")];
        for typed in ["übers", "ÜBER", "æøå"] {
            assert_eq!(matching(&choices, typed).len(), 1, "{typed}");
        }
    }

    #[test]
    fn the_likeliest_comes_first_and_groups_stay_together() {
        let choices = [
            Choice::new("theme", "/theme").group("General").describe("Settings can follow the system again"),
            Choice::new("panes", "Settings in a pane").group("Panes"),
            Choice::new("settings", "/settings").group("General"),
            Choice::new("all", "All settings").group("General"),
        ];
        let check = |typed, expected: &[&str]| {
            let found: Vec<_> = matching(&choices, typed).into_iter().map(|choice| choice.value).collect();
            assert_eq!(found, expected, "{typed}");
        };
        check("settings", &["settings", "all", "theme", "panes"]);
        check("Settings ", &["settings", "all", "theme", "panes"]);
        check("sett", &["panes", "settings", "all", "theme"]);
        check("settings all", &["all"]);
        // As they were given.
        check("", &["theme", "settings", "all", "panes"]);
    }

    #[test]
    fn what_cannot_be_chosen_is_passed_over() {
        let check =
            |key, active, expected| assert_eq!(next_enabled(&choices(), key, active), expected, "{key}");
        check("ArrowDown", Some(0), Some(2));
        check("ArrowDown", Some(2), Some(0));
        check("ArrowUp", Some(2), Some(0));
        check("End", None, Some(2));
        check("x", Some(0), None);
        assert_eq!(next_enabled(&[], "ArrowDown", None), None);
    }
}

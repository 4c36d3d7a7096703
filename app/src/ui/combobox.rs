//! One of many: a button that shows what is chosen and opens a list with a field that narrows it.

use leptos::{
    ev::KeyboardEvent,
    html::{Button, Div, Input},
    prelude::*,
};

use super::{
    choice::{Choice, OptionList, matching, next_enabled},
    focus::is_composing,
    place::{Align, put},
};
use crate::{
    erased::{Erase, Show},
    icon::Icon,
};

#[component]
pub fn Combobox(
    /// Of the list; one a page.
    #[prop(into)]
    id: String,
    /// What is chosen, as "Model".
    #[prop(into)]
    label: String,
    #[prop(into)] choices: Signal<Vec<Choice>>,
    value: RwSignal<String>,
    /// Sends the choice with the form around it, under this name.
    #[prop(optional, into)]
    field: Option<String>,
    /// Without a border, for rows of other things.
    #[prop(optional)]
    ghost: bool,
    /// Shows its label, as in a `.field` around it.
    #[prop(optional)]
    labelled: bool,
    /// Shown while nothing is chosen.
    #[prop(optional, into)]
    placeholder: String,
    /// Whoever opens the list wants to see what is there now.
    #[prop(optional, into)]
    on_open: Option<Callback<()>>,
    #[prop(optional, into)] on_choose: Option<Callback<String>>,
) -> impl IntoView {
    let (button, panel, input) = (NodeRef::<Button>::new(), NodeRef::<Div>::new(), NodeRef::<Input>::new());
    let is_open = RwSignal::new(false);
    let typed = RwSignal::new(String::new());
    let active = RwSignal::new(None);
    let found = Memo::new(move |_| typed.with(|typed| choices.with(|choices| matching(choices, typed))));

    let hide = move || {
        if let Some(panel) = panel.get_untracked() {
            panel.hide_popover().ok();
        }
    };
    let show = move || {
        typed.set(String::new());
        let chosen = value.get_untracked();
        let at = found.with_untracked(|found| found.iter().position(|choice| choice.value == chosen));
        active.set(at.or_else(|| first_enabled(found)));
        is_open.set(true);
        if let Some(on_open) = on_open {
            on_open.run(());
        }
        // Its options are there by then, so that it can be measured.
        request_animation_frame(move || open(button, panel, input));
    };
    let choose = Callback::new(move |chosen: String| {
        hide();
        value.set(chosen.clone());
        if let Some(on_choose) = on_choose {
            on_choose.run(chosen);
        }
    });
    let on_key = move |key: KeyboardEvent| match key.key().as_str() {
        _ if is_composing(&key) => {}
        "Enter" => {
            key.prevent_default();
            let pointed =
                active.get_untracked().and_then(|at| found.with_untracked(|all| all.get(at).cloned()));
            if let Some(choice) = pointed.filter(|choice| choice.disabled.is_none()) {
                choose.run(choice.value);
            }
        }
        "Tab" => hide(),
        // They move the cursor in what was typed.
        "Home" | "End" => {}
        pressed => {
            let to = found.with_untracked(|found| next_enabled(found, pressed, active.get_untracked()));
            if to.is_some() {
                key.prevent_default();
                active.set(to);
            }
        }
    };
    let shown = Memo::new(move |_| {
        let value = value.get();
        let known = choices
            .with(|all| all.iter().find(|choice| choice.value == value).map(|choice| choice.label.clone()));
        known.unwrap_or(value)
    });
    let follow = move |_| {
        is_open
            .set(panel.get_untracked().is_some_and(|panel| panel.matches(":popover-open").unwrap_or(false)));
    };

    let (label_id, shown_id) = (format!("{id}-label"), format!("{id}-shown"));
    let labels = format!("{label_id} {shown_id}");
    let list_id = format!("{id}-list");
    let name = label.clone();
    let parts = {
        let list_id = list_id.clone();
        move || {
            let list_id = list_id.clone();
            is_open.get().then(|| {
                let controlled = list_id.clone();
                let pointed = move || active.get().map(|active| format!("{controlled}-{active}"));
                view! {
                    <Filter
                        label=name.clone()
                        list_id=list_id.clone()
                        typed
                        active
                        found
                        pointed=Signal::derive(pointed)
                        input
                        on_key=Callback::new(on_key)
                    />
                    <OptionList id=list_id name=name.clone() choices=found chosen=value active on_choose=choose />
                    <Show when=move || found.read().is_empty()>
                        <p class="options-none" role="status">"Nothing matches"</p>
                    </Show>
                }
                .erase()
            })
        }
    };
    let label_class = if labelled { "field-label" } else { "visually-hidden" };
    view! {
        {field.map(|field| view! { <input type="hidden" name=field value=value.get_untracked() prop:value=value /> })}
        <span class=label_class id=label_id>{label.clone()}</span>
        <button
            class=if ghost { "select ghost combobox" } else { "select combobox" }
            type="button"
            aria-haspopup="dialog"
            aria-expanded=move || if is_open.get() { "true" } else { "false" }
            aria-labelledby=labels
            popovertarget=id.clone()
            node_ref=button
            on:click=move |click| {
                click.prevent_default();
                if is_open.get_untracked() { hide() } else { show() }
            }
            on:keydown=move |key| {
                if matches!(key.key().as_str(), "ArrowDown" | "ArrowUp") {
                    key.prevent_default();
                    show();
                }
            }
        >
            <span class="button-label" id=shown_id>
                {move || if shown.read().is_empty() { placeholder.clone() } else { shown.get() }}
            </span>
            {Icon::UpDown.view()}
        </button>
        <div
            class="menu combobox-panel"
            id=id
            role="dialog"
            aria-label=label
            popover="auto"
            node_ref=panel
            on:toggle=follow
        >
            {parts}
        </div>
    }
    .erase()
}

#[component]
fn Filter(
    label: String,
    list_id: String,
    typed: RwSignal<String>,
    active: RwSignal<Option<usize>>,
    found: Memo<Vec<Choice>>,
    pointed: Signal<Option<String>>,
    input: NodeRef<Input>,
    on_key: Callback<KeyboardEvent>,
) -> impl IntoView {
    // A phone's keyboard would hide the list, so it comes only when somebody means to type.
    let is_meant = RwSignal::new(false);
    view! {
        <div class="combobox-filter">
            {Icon::Search.view()}
            <input
                type="text"
                role="combobox"
                aria-label=format!("Search: {label}")
                aria-expanded="true"
                aria-autocomplete="list"
                aria-controls=list_id
                aria-activedescendant=pointed
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                placeholder="Search"
                inputmode=move || if is_meant.get() { "search" } else { "none" }
                node_ref=input
                prop:value=typed
                on:pointerdown=move |_| is_meant.set(true)
                on:input:target=move |input| {
                    typed.set(input.target().value());
                    active.set(first_enabled(found));
                }
                on:keydown=move |key| on_key.run(key)
            />
        </div>
    }
    .erase()
}

fn open(button: NodeRef<Button>, panel: NodeRef<Div>, input: NodeRef<Input>) {
    let (Some(button), Some(panel)) = (button.get_untracked(), panel.get_untracked()) else { return };
    button.focus().ok();
    panel.show_popover().ok();
    put(&panel, &button, Align::Start);
    if let Some(input) = input.get_untracked() {
        input.focus().ok();
    }
}

fn first_enabled(found: Memo<Vec<Choice>>) -> Option<usize> {
    found.with_untracked(|found| found.iter().position(|choice| choice.disabled.is_none()))
}

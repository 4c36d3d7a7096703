//! On which terms a battle is fought.

use domain::battle::{Kind, LIMIT_S};
use leptos::{html, prelude::*, task::spawn_local};

use super::{super::api, lines::Lines, refused::Refused};
use crate::{
    chat::{api::Models, model_options},
    erased::{Erase, Show, effect},
    panes::Panes,
};

#[component]
pub fn TermsFields(id: String, lines: Lines, models: RwSignal<Models>, refused: Refused) -> impl IntoView {
    let default = models.with_untracked(|models| models.default.as_ref().map(ToString::to_string));
    let (judge, is_judged) = (RwSignal::new(default.unwrap_or_default()), RwSignal::new(true));
    let minutes = RwSignal::new((LIMIT_S / 60).to_string());
    let cost = RwSignal::new(None::<api::Cost>);
    let count = Memo::new(move |_| lines.keys().len());
    effect(move || {
        let (count, model) = (count.get() as u32, judge.get());
        if !is_judged.get() {
            return cost.set(None);
        }
        spawn_local(async move {
            cost.try_set(api::analysis_cost(None, count, model).await.ok());
        });
    });
    let (panes, check) = (expect_context::<Panes>(), RwSignal::new(String::new()));
    effect(move || {
        if let Some(session) = panes.session.get() {
            spawn_local(async move {
                // What a person typed in the meantime stays.
                if let Ok(named) = api::check_of_session(session).await
                    && check.try_with_untracked(String::is_empty) == Some(true)
                {
                    check.set(named);
                }
            });
        }
    });
    let told = move || {
        cost.get().map(|cost| {
            let takes = cost.duration_ms.map(|ms| format!(", about {}", about(ms))).unwrap_or_default();
            format!("{} calls{takes}; a long result is read in pieces, which takes more", cost.calls)
        })
    };
    let (check_id, judge_id) = (format!("{id}-check"), format!("{id}-judge"));
    let seconds = move || {
        minutes.with(|minutes| minutes.trim().parse::<u32>().map_or(LIMIT_S, |it| it.saturating_mul(60)))
    };
    let details = NodeRef::<html::Details>::new();
    // What is wrong there must not be folded away.
    let is_open = move || ["limit", "tokens", "judge"].iter().any(|field| refused.at(field).is_some());
    view! {
        <details
            class="arena-terms"
            open=is_open
            node_ref=details
            // A browser sends nothing while a field is wrong, and cannot point at one that is folded away.
            on:invalid:capture=move |_| {
                if let Some(details) = details.get_untracked() {
                    details.set_open(true);
                }
            }
        >
            <summary>"Terms"</summary>
            <div class="arena-terms-fields">
                <div class="field">
                    <label class="field-label" for=format!("{id}-minutes")>"Minutes for each contestant"</label>
                    <input
                        class="input"
                        id=format!("{id}-minutes")
                        type="number"
                        min="1"
                        max="120"
                        prop:value=minutes
                        value=minutes.get_untracked()
                        on:input:target=move |typed| minutes.set(typed.target().value())
                    />
                    <input
                        type="hidden"
                        name="draft[limit_s]"
                        value=untrack(seconds).to_string()
                        prop:value=move || seconds().to_string()
                    />
                    {refused.view("limit")}
                </div>
                <div class="field">
                    <label class="field-label" for=format!("{id}-tokens")>"Tokens for all together"</label>
                    <input
                        class="input"
                        id=format!("{id}-tokens")
                        name="draft[tokens_max]"
                        type="number"
                        min="1"
                        placeholder="no limit"
                    />
                    <span class="field-hint">"Comparing the results counts too."</span>
                    {refused.view("tokens")}
                </div>
                <Show when=move || lines.kind.get() == Kind::Coding>
                    <div class="field arena-wide">
                        <label class="field-label" for=check_id.clone()>"Check of each result"</label>
                        <input
                            class="input"
                            id=check_id.clone()
                            name="draft[check]"
                            type="text"
                            autocomplete="off"
                            spellcheck="false"
                            placeholder="a command, such as make test"
                            prop:value=check
                            on:input:target=move |typed| check.set(typed.target().value())
                        />
                        <span class="field-hint">
                            "It runs on the project as it is first, then on each result in a clean tree. What failed \
                             before is not charged."
                        </span>
                    </div>
                    <label class="composer-option arena-wide">
                        <input type="checkbox" name="draft[carry]" value="true" />
                        "With my uncommitted changes"
                    </label>
                </Show>
                <label class="composer-option arena-wide">
                    <input
                        type="checkbox"
                        checked=true
                        prop:checked=is_judged
                        on:change:target=move |change| is_judged.set(change.target().checked())
                    />
                    "Compare the results when all are over"
                </label>
                <Show when=move || is_judged.get()>
                    <div class="field arena-wide">
                        <label class="field-label" for=judge_id.clone()>"Judge"</label>
                        <select
                            class="select"
                            id=judge_id.clone()
                            name="draft[judge]"
                            on:change:target=move |change| judge.set(change.target().value())
                        >
                            {model_options(models, judge, Signal::stored(None))}
                        </select>
                        <span class="field-hint">{told}</span>
                        {refused.view("judge")}
                    </div>
                </Show>
            </div>
        </details>
    }
    .erase()
}

/// How long something may take, in one unit.
pub fn about(ms: u64) -> String {
    match ms / 1_000 {
        seconds @ ..90 => format!("{} s", seconds.max(1)),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

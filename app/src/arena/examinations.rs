//! Cross-examinations: other readers of the results, and what they answer.

use domain::{
    backend::NATIVE,
    battle::examination::QUESTION,
    id::TaskId,
    output::Outcome,
    persona::Offer as Personas,
    task::{Status, Task},
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    api::{self, CrossExamine, StopExamination},
    outputs::TaskOutput,
    pane::Arena,
};
use crate::{
    chat::{StatusLine, model_options, persona_options},
    coder::{ask_for_backends, backend_options, chosen_backend},
    erased::{Erase, For, Show, effect},
    feed::Feed,
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
    panes::Panes,
    ui::{Segment, Segmented},
    workspace::Offered,
};

#[component]
pub fn ExaminationsView() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let tasks = Memo::new(move |_| {
        arena
            .read(feed, |it| it.examinations.iter().rev().map(|it| it.task).collect::<Vec<_>>())
            .unwrap_or_default()
    });
    view! {
        <div class="arena-examinations">
            <Ask />
            <For each=move || tasks.get() key=|task| *task children=|id| view! { <Examined id /> } />
        </div>
    }
    .erase()
}

#[component]
fn Ask() -> impl IntoView {
    let (feed, arena, panes) =
        (expect_context::<Feed>(), expect_context::<Arena>(), expect_context::<Panes>());
    let Offered(models) = expect_context::<Offered>();
    let ask = Submission::new::<CrossExamine>();
    let who = RwSignal::new("persona".to_owned());
    let (backend, persona) = (RwSignal::new(NATIVE.to_owned()), RwSignal::new(String::new()));
    let default = models.with_untracked(|models| models.default.as_ref().map(ToString::to_string));
    let (model, question) = (RwSignal::new(default.unwrap_or_default()), RwSignal::new(String::new()));
    let (offers, personas) = (RwSignal::new(Vec::new()), RwSignal::new(Personas::default()));
    effect(move || {
        ask_for_backends(offers);
        if let Some(session) = panes.session.get() {
            spawn_local(async move {
                if let Ok(fresh) = api::personas_of_session(session).await {
                    personas.try_set(fresh);
                }
            });
        }
    });
    effect(move || {
        if ask.is_done() {
            question.set(String::new());
        }
    });
    let is_over = Memo::new(move |_| arena.read(feed, |it| it.course.status.is_over()).unwrap_or_default());
    let segments = vec![
        Segment { value: "persona", label: "A model", icon: Some(Icon::Persona) },
        Segment { value: "backend", label: "An agent", icon: Some(Icon::Code) },
    ];
    let is_agent = Memo::new(move |_| who.with(|who| who == "backend"));
    let name = move || {
        if is_agent.get() {
            view! {
                <select
                    class="select"
                    name="examiner[backend]"
                    aria-label="Agent"
                    on:change:target=move |change| backend.set(change.target().value())
                >
                    {move || backend_options(offers, backend)}
                </select>
            }
            .erase()
        } else {
            view! {
                <select
                    class="select"
                    name="examiner[persona]"
                    aria-label="Persona"
                    on:change:target=move |change| persona.set(change.target().value())
                >
                    {persona_options(personas, persona)}
                </select>
            }
            .erase()
        }
    };
    let agent = Signal::derive(move || if is_agent.get() { chosen_backend(offers, backend) } else { None });
    let field = format!("question-{}", arena.battle);
    view! {
        <Form to=ask class="arena-ask">
            <Failure error=Signal::derive(move || ask.failure()) dismiss=move |()| ask.forget() />
            <input type="hidden" name="battle" value=arena.battle.to_string() />
            <label class="field-label" for=field.clone()>"Ask somebody else about the results"</label>
            <textarea
                class="input"
                id=field
                name="question"
                rows="2"
                placeholder=QUESTION
                prop:value=question
                on:input:target=move |typed| question.set(typed.target().value())
            ></textarea>
            <div class="arena-ask-row">
                <Segmented
                    id=format!("examiner-{}", arena.battle)
                    label="Who is asked"
                    segments
                    value=who
                    on_choose=move |word| who.set(word)
                />
                {name}
                <select
                    class="select"
                    name="examiner[model]"
                    aria-label="Model"
                    on:change:target=move |change| model.set(change.target().value())
                >
                    {model_options(models, model, agent)}
                </select>
                <button class="button" type="submit" disabled=move || !is_over.get() || ask.is_pending()>
                    "Ask"
                </button>
            </div>
            <p class="field-hint">
                {move || if is_over.get() { "" } else { "The results can be examined when the battle is over." }}
            </p>
        </Form>
    }
    .erase()
}

#[component]
fn Examined(id: TaskId) -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let stop = Submission::new::<StopExamination>();
    let facts = untrack(|| {
        arena
            .read(feed, |it| {
                let it = it.examinations.iter().find(|it| it.task == id)?;
                let who = format!("{} · {}", it.examiner.identity, it.examiner.model.model);
                Some((who, it.question.clone()))
            })
            .flatten()
    });
    let Some((who, question)) = facts else { return ().erase() };
    let task = Memo::new(move |_| arena.read(feed, |it| it.tasks.get(&id).cloned()).flatten());
    let is_running = Memo::new(move |_| task.read().as_ref().is_some_and(|task: &Task| !task.is_settled()));
    let is_silent = Memo::new(move |_| {
        let status = task.read().as_ref().map(|task: &Task| task.status.clone());
        matches!(status, Some(Status::Settled { outcome: Outcome::Done { .. }, stream_len: 0, .. }))
    });
    let fault = move || {
        let task = task.read();
        let (title, why) = crate::chat::fault(task.as_ref()?)?;
        Some(view! {
            <div class="notice error" role="alert">
                <p class="notice-title">{title}</p>
                <p>{why}</p>
            </div>
        })
    };
    let label = format!("Answer of {who}");
    view! {
        <article class="arena-examined" aria-label=label>
            <header class="arena-output-head">
                <h2>{who}</h2>
                <Show when=move || is_running.get()>
                    <Form to=stop>
                        <input type="hidden" name="battle" value=arena.battle.to_string() />
                        <input type="hidden" name="task" value=id.to_string() />
                        <button class="button small" type="submit">"Stop"</button>
                    </Form>
                </Show>
            </header>
            <p class="arena-question">{question.unwrap_or_else(|| QUESTION.to_owned())}</p>
            <TaskOutput task />
            <Show when=move || is_silent.get()>
                <p class="field-hint">"It said nothing."</p>
            </Show>
            <StatusLine task />
            {fault}
        </article>
    }
    .erase()
}

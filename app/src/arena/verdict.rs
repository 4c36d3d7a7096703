//! Who won and how sure that is: the sentence, wins of each against each, and everything that it rests on.

use domain::{
    battle::{
        Analysis,
        analysis::State,
        verdict::{Against, Verdict},
    },
    id::ContestantId,
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    api::{self, AnalyseBattle, StopAnalysis},
    launcher::about,
    pane::Arena,
};
use crate::{
    chat::model_options,
    erased::{Erase, Erased, For, Show, effect},
    feed::Feed,
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
    workspace::Offered,
};

#[component]
pub fn AnalysisView() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    // The newest on top; none of them ever changes once it is over.
    let numbers = Memo::new(move |_| {
        arena
            .read(feed, |it| it.analyses.iter().rev().map(|it| it.number).collect::<Vec<_>>())
            .unwrap_or_default()
    });
    view! {
        <div class="arena-analysis">
            <AskAgain />
            <For each=move || numbers.get() key=|number| *number children=|number| view! { <OneAnalysis number /> } />
        </div>
    }
    .erase()
}

/// Another comparison, by any model, with what it will take.
#[component]
fn AskAgain() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let Offered(models) = expect_context::<Offered>();
    let (analyse, stop) = (Submission::new::<AnalyseBattle>(), Submission::new::<StopAnalysis>());
    let default = models.with_untracked(|models| models.default.as_ref().map(ToString::to_string));
    let model = RwSignal::new(default.unwrap_or_default());
    let state = Memo::new(move |_| {
        arena.read(feed, |it| {
            let is_analysing = it.newest_analysis().is_some_and(|it| !it.is_over());
            (it.survivors().count(), it.course.status.is_over(), is_analysing)
        })
    });
    let cost = RwSignal::new(None::<api::Cost>);
    effect(move || {
        let (count, model) = (state.get().map_or(0, |state| state.0 as u32), model.get());
        spawn_local(async move {
            cost.try_set(api::analysis_cost(Some(arena.battle), count, model).await.ok());
        });
    });
    let told = move || {
        let (count, is_over, is_analysing) = state.get()?;
        if count < 2 {
            return Some(
                "Fewer than two contestants have a result, so there is nothing to compare.".to_owned(),
            );
        }
        if !is_over {
            return (!is_analysing).then(|| "The results are compared when all are over.".to_owned());
        }
        let cost = cost.get()?;
        let takes = cost.duration_ms.map(|ms| format!(", about {}", about(ms))).unwrap_or_default();
        Some(format!(
            "{} calls{takes}: one description of each result, then every pair in both orders.",
            cost.calls
        ))
    };
    let may = move || state.get().is_some_and(|(count, is_over, _)| count >= 2 && is_over);
    let is_analysing = move || state.get().is_some_and(|state| state.2);
    view! {
        <div class="arena-ask">
            <Failure error=Signal::derive(move || analyse.failure().or_else(|| stop.failure())) />
            <Show when=move || !is_analysing()>
                <Form to=analyse class="arena-ask-row">
                    <input type="hidden" name="battle" value=arena.battle.to_string() />
                    <select
                        class="select"
                        name="model"
                        aria-label="Judge"
                        on:change:target=move |change| model.set(change.target().value())
                    >
                        {model_options(models, model, Signal::stored(None))}
                    </select>
                    <button class="button" type="submit" disabled=move || !may() || analyse.is_pending()>
                        "Compare the results"
                    </button>
                </Form>
            </Show>
            <Show when=is_analysing>
                <Form to=stop class="arena-ask-row">
                    <input type="hidden" name="battle" value=arena.battle.to_string() />
                    <button class="button" type="submit" disabled=move || stop.is_pending()>
                        {Icon::Stop.view()}
                        "Stop comparing"
                    </button>
                </Form>
            </Show>
            <p class="field-hint">{told}</p>
        </div>
    }
    .erase()
}

#[component]
fn OneAnalysis(number: u32) -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let shown = Memo::new(move |_| {
        arena
            .read(feed, |battle| {
                let analysis = battle.analyses.iter().find(|it| it.number == number)?.clone();
                let (entrants, is_of_now) = (analysis.in_roster_order(battle), analysis.is_of_now(battle));
                Some(Seen { analysis, entrants, is_of_now })
            })
            .flatten()
    });
    move || shown.get().map(analysis_view)
}

#[derive(Clone, PartialEq)]
struct Seen {
    analysis: Analysis,
    /// In roster order.
    entrants: Vec<(ContestantId, char)>,
    is_of_now: bool,
}

impl Seen {
    fn letter(&self, id: ContestantId) -> char {
        self.entrants.iter().find(|(other, _)| *other == id).map_or('?', |it| it.1)
    }
}

fn analysis_view(seen: Seen) -> Erased {
    let Analysis { number, model, state, .. } = &seen.analysis;
    let (done, all) = seen.analysis.progress();
    let words = match state {
        State::Digesting | State::Judging => format!("{done} of {all} calls answered"),
        State::Done { verdict } => verdict.sentence.clone(),
        State::Failed { reason } => format!("No verdict. {reason} Compare again, or choose another judge."),
        State::Stopped => "It was stopped.".to_owned(),
    };
    let matrix = seen.analysis.verdict().map(|verdict| matrix(&seen, verdict));
    let of_before = (!seen.is_of_now).then(|| {
        view! { <p class="notice">"It compared what was there before. A contestant has been tried or checked again since."</p> }
    });
    let digests: Vec<_> = seen
        .entrants
        .iter()
        .filter_map(|(id, letter)| {
            let entrant = seen.analysis.entrants.iter().find(|it| it.contestant == *id)?;
            let (text, unread) = (entrant.text.clone()?, entrant.unread());
            Some(view! {
                <details class="arena-digest">
                    <summary>{format!("What {letter} did, as the judge was told")}</summary>
                    <p>{text}</p>
                    {unread.map(|words| view! { <p class="notice">{words}</p> })}
                </details>
            })
        })
        .collect();
    let judgements = judgements(&seen);
    view! {
        <section class="arena-one-analysis">
            <h2>{format!("Analysis {number}")}</h2>
            <p class="arena-by">{format!("by {model}")}</p>
            {of_before}
            <p class="arena-sentence" role="status">{words}</p>
            {matrix}
            {digests}
            {judgements}
        </section>
    }
    .erase()
}

/// Wins of each against each, in rounds in which both orders named the same one.
fn matrix(seen: &Seen, verdict: &Verdict) -> Erased {
    let entrants = &seen.entrants;
    let head: Vec<_> = entrants
        .iter()
        .map(|(_, letter)| view! { <th scope="col">{format!("over {letter}")}</th> })
        .collect();
    let rows: Vec<_> = entrants
        .iter()
        .map(|(one, letter)| {
            let cells: Vec<_> = entrants.iter().map(|(other, _)| cell(verdict, *one, *other)).collect();
            let trophy = (verdict.winner == Some(*one)).then(|| Icon::Trophy.view());
            view! { <tr><th scope="row">{letter.to_string()} {trophy}</th> {cells}</tr> }
        })
        .collect();
    view! {
        <table class="arena-matrix">
            <caption>
                {format!("Rounds won, each shown in both orders; {} rounds a pair", seen.analysis.rounds)}
            </caption>
            <thead><tr><td></td> {head}</tr></thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .erase()
}

fn cell(verdict: &Verdict, one: ContestantId, other: ContestantId) -> Erased {
    let Some(Against { wins, word, mark, words }) = verdict.against(one, other) else {
        return view! { <td class="none" aria-label="itself">"–"</td> }.erase();
    };
    view! { <td class=word title=words>{wins.to_string()} <span class="mark">{mark}</span></td> }.erase()
}

fn judgements(seen: &Seen) -> Option<Erased> {
    let made = seen.analysis.judged_words(|id| seen.letter(id));
    if made.is_empty() {
        return None;
    }
    let lines: Vec<_> = made
        .into_iter()
        .map(|(head, reason)| {
            view! { <li><span class="arena-judged">{head}</span> <span>{reason.to_owned()}</span></li> }
        })
        .collect();
    let count = lines.len();
    Some(
        view! {
            <details class="arena-digest">
                <summary>{format!("All {count} judgements")}</summary>
                <ol class="arena-judgements">{lines}</ol>
            </details>
        }
        .erase(),
    )
}

//! How long it took and how fast it was, as bars. What is not known has none.

use domain::battle::{Battle, Benchmark, benchmark::COST};
use leptos::prelude::*;

use super::{
    pane::Arena,
    roster::{clock, thousands},
};
use crate::{
    erased::{Erase, Erased},
    feed::Feed,
};

#[component]
pub fn FiguresView() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let figures = Memo::new(move |_| arena.read(feed, figures));
    let plots = move || figures.get().map(|figures| figures.into_iter().map(plot).collect::<Vec<_>>());
    let table = move || arena.read(feed, table);
    let opinions = Memo::new(move |_| arena.read(feed, |it| it.course.opinion_tokens).unwrap_or_default());
    let compared = move || match opinions.get() {
        0 => String::new(),
        tokens => format!("Comparing and examining them used {} tokens. ", thousands(tokens)),
    };
    view! {
        <div class="arena-figures">{plots} {table} <p class="field-hint">{compared} {COST}</p></div>
    }
    .erase()
}

#[derive(Clone, PartialEq)]
struct Figure {
    name: &'static str,
    about: &'static str,
    bars: Vec<Bar>,
}

#[derive(Clone, PartialEq)]
struct Bar {
    letter: char,
    value: Option<f64>,
    words: String,
}

fn figures(battle: &Battle) -> Vec<Figure> {
    let bars = |value: fn(&Benchmark) -> Option<f64>, words: fn(f64) -> String| {
        let bar = |it: &domain::battle::Contestant| {
            let value = it.benchmark.as_ref().and_then(value);
            Bar { letter: battle.letter(it.id), value, words: value.map_or("not known".to_owned(), words) }
        };
        battle.contestants.iter().map(bar).collect()
    };
    vec![
        Figure {
            name: "Duration",
            about: "from the start of the agent or the model's answer to its end, however that came",
            bars: bars(|it| Some(it.duration_ms as f64), |ms| clock(ms as u64)),
        },
        Figure {
            name: "Throughput",
            about: "tokens a second while generating, by the model server's own timings",
            bars: bars(|it| it.tokens_per_sec, |rate| format!("{rate:.1} tokens/s")),
        },
    ]
}

/// The numbers stand beside the bars, so nothing depends on seeing those.
fn plot(figure: Figure) -> Erased {
    let Figure { name, about, bars } = figure;
    let most = bars.iter().filter_map(|bar| bar.value).fold(0.0, f64::max);
    let rows: Vec<_> = bars
        .into_iter()
        .map(|Bar { letter, value, words }| {
            let share = value.filter(|_| most > 0.0).map_or(0.0, |value| value / most * 100.0);
            view! {
                <li class="arena-bar">
                    <span class="arena-letter" data-letter=letter.to_string()>{letter.to_string()}</span>
                    <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                        <rect class="track" x="0" y="0" width="100" height="8" rx="1"></rect>
                        <rect class="bar" x="0" y="0" width=format!("{share:.2}") height="8" rx="1"></rect>
                    </svg>
                    <span class="arena-bar-words">{words}</span>
                </li>
            }
        })
        .collect();
    view! {
        <section class="arena-figure">
            <h2>{name}</h2>
            <p class="field-hint">{about}</p>
            <ul>{rows}</ul>
        </section>
    }
    .erase()
}

/// Every figure of everybody.
fn table(battle: &Battle) -> Erased {
    let names = Benchmark::default().rows().into_iter().map(|(name, _)| name);
    let head: Vec<_> = battle
        .contestants
        .iter()
        .map(|it| view! { <th scope="col">{battle.letter(it.id).to_string()}</th> })
        .collect();
    let cell = |words: Option<String>| {
        let class = if words.is_some() { "" } else { "none" };
        view! { <td class=class>{words.unwrap_or_else(|| "not known".to_owned())}</td> }
    };
    let rows: Vec<_> = names
        .enumerate()
        .map(|(place, name)| {
            let cells: Vec<_> = battle
                .contestants
                .iter()
                .map(|it| cell(it.benchmark.as_ref().and_then(|it| it.rows()[place].1.clone())))
                .collect();
            view! { <tr><th scope="row">{name}</th> {cells}</tr> }
        })
        .collect();
    let tokens: Vec<_> = battle.contestants.iter().map(|it| cell(it.tokens.map(thousands))).collect();
    view! {
        <div class="arena-table" tabindex="0" role="region" aria-label="All figures">
            <table>
                <thead><tr><td></td> {head}</tr></thead>
                <tbody>{rows} <tr><th scope="row">"Tokens of all tries"</th> {tokens}</tr></tbody>
            </table>
        </div>
    }
    .erase()
}

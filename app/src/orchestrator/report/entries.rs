//! Findings, and the attempts to refute them.

use domain::flow::{
    answer::{Named, Source, Verdict},
    report::{Attempt, Badge, Entry, Tone},
};
use leptos::prelude::*;

use super::{
    Links,
    evidence::{citations, flags},
    is_page, outward, text,
};
use crate::erased::{Erase, Erased};

pub fn entry(links: &Links, entry: &Entry) -> Erased {
    let badges: Vec<_> = entry.badges.iter().map(badge).collect();
    let grave = entry.badges.first().map_or("plain", |badge| tone(badge.tone));
    let sources: Vec<_> = entry.sources.iter().map(source).collect();
    let sources = (!sources.is_empty()).then(|| view! { <ul class="sources">{sources}</ul> });
    let has_flags = !entry.flags.is_empty();
    // What the text names is mostly what the finding rests on, and that is listed below.
    let mut written = entry.text.clone();
    written.citations.retain(|named| entry.citations.iter().all(|cited| cited.place != named.place));
    view! {
        <article class="finding" id=links.anchor(&entry.id) data-tone=grave data-flagged=has_flags.then_some("")>
            <h3>
                <span class="finding-id">{entry.id.clone()}</span>
                <span>{entry.title.clone()}</span>
            </h3>
            <p class="finding-badges">{badges}</p>
            {text(links, &written)}
            {citations(links, &entry.citations)}
            {flags(&entry.flags)}
            {sources}
            {fields(&entry.fields)}
            {about(links, "Rests on", &entry.cites)}
        </article>
    }
    .erase()
}

pub fn attempt(links: &Links, attempt: &Attempt) -> Erased {
    let (verdict, words) = match attempt.verdict {
        Some(Verdict::Confirmed) => ("confirmed", "Confirmed"),
        Some(Verdict::PartiallyRefuted) => ("partly", "Partially refuted"),
        Some(Verdict::Refuted) => ("refuted", "Refuted"),
        None => ("none", "No verdict"),
    };
    let impact = (!attempt.impact.trim().is_empty())
        .then(|| view! { <p><strong>"Impact: "</strong> {attempt.impact.clone()}</p> });
    view! {
        <details
            class="attack"
            id=links.anchor(&attempt.id)
            data-verdict=verdict
            open=!attempt.flags.is_empty()
        >
            <summary>
                <span class="finding-id">{attempt.id.clone()}</span>
                <span class="attack-hypothesis">{attempt.hypothesis.clone()}</span>
                <span class="attack-verdict">{words}</span>
            </summary>
            {text(links, &attempt.checked)}
            {impact}
            {fields(&attempt.fields)}
            {about(links, "About", &attempt.about)}
            {flags(&attempt.flags)}
        </details>
    }
    .erase()
}

fn badge(badge: &Badge) -> Erased {
    view! { <span class="badge" data-tone=tone(badge.tone)>{badge.text.clone()}</span> }.erase()
}

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Grave => "grave",
        Tone::Middling => "middling",
        Tone::Light => "light",
        Tone::Plain => "plain",
        Tone::Doubt => "doubt",
    }
}

fn source(source: &Source) -> Erased {
    let Source { title, url, date } = source;
    let words = if title.trim().is_empty() { url } else { title };
    let page = if is_page(url) { outward(url.clone(), words.clone()) } else { words.clone().erase() };
    view! { <li>{page} " " <span class="source-date">{date.clone()}</span></li> }.erase()
}

fn fields(fields: &[Named]) -> Erased {
    let line = |Named { name, text }: &Named| {
        view! {
            <dt>{name.clone()}</dt>
            <dd>{text.clone()}</dd>
        }
    };
    let lines = fields.iter().map(line).collect_view();
    (!fields.is_empty()).then(|| view! { <dl class="finding-fields">{lines}</dl> }).erase()
}

/// Other findings, by their ids.
fn about(links: &Links, label: &'static str, ids: &[String]) -> Erased {
    let link = |id: &String| match links.to(id) {
        Some(anchor) => view! { <a href=format!("#{anchor}")>{id.clone()}</a> " " }.erase(),
        None => view! { <span>{id.clone()}</span> " " }.erase(),
    };
    let all = ids.iter().map(link).collect::<Vec<_>>();
    (!ids.is_empty())
        .then(|| view! { <p class="finding-about"><strong>{label}": "</strong> {all}</p> })
        .erase()
}

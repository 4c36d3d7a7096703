//! What everybody reads first: the summary, how sure it is, and whether its evidence holds.

use domain::flow::{
    answer::Confidence,
    report::{Head, Missing},
};
use leptos::prelude::*;

use super::evidence::flags;
use crate::{
    erased::{Erase, Erased},
    icon::Icon,
    markdown::Markdown,
};

pub fn head(head: &Head) -> Erased {
    let level = match head.confidence {
        Some(Confidence::High) => "high",
        Some(Confidence::Medium) => "medium",
        Some(Confidence::Low) => "low",
        None => "none",
    };
    let words = head.confidence.map_or("none was given", Confidence::words);
    let (is_good, checks) = match head.failed_checks {
        0 => (true, "Every check of the evidence passed.".to_owned()),
        1 => (false, "1 check of the evidence failed; it is marked where it belongs.".to_owned()),
        many => (false, format!("{many} checks of the evidence failed; they are marked where they belong.")),
    };
    let icon = if is_good { Icon::Ok } else { Icon::Alert };
    let notes = head.notes.iter().map(|note| view! { <p class="report-note">{note.clone()}</p> });
    let notes = notes.collect_view();
    let missing = (!head.missing.is_empty()).then(|| {
        let gone = |Missing { what, why }: &Missing| view! { <li>{format!("{what}: {why}")}</li> };
        let gone = head.missing.iter().map(gone).collect_view();
        view! {
            <div class="report-missing">
                <p>"Missing:"</p>
                <ul>{gone}</ul>
            </div>
        }
    });
    view! {
        <section class="report-head" aria-label="Summary">
            <h2>"Summary"</h2>
            <Markdown text=Signal::stored(head.summary.clone()) />
            <p class="report-confidence" data-level=level>
                <strong>{format!("Confidence: {words}")}</strong>
                <span>{head.reason.clone()}</span>
            </p>
            <p class="report-checks" data-passed=is_good.then_some("")>{icon.view()} <span>{checks}</span></p>
            {flags(&head.flags)}
            {notes}
            {missing}
        </section>
    }
    .erase()
}

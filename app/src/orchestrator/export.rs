//! A run as one file of HTML that can be kept, sent and printed: it loads nothing and runs nothing.

use domain::{
    flow::Report,
    run::{RunStep, Shown},
};
use leptos::prelude::*;

use super::report::{Place, report_view};

/// What opens it reads words and nothing else, wherever the file lies.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const STYLE: &str = include_str!("export/style.css");

/// With what the file is called.
pub fn page(shown: &Shown, report: Option<&Report>) -> (String, String) {
    let request = &shown.run.request;
    let name = format!("{}-{}.html", request.flow, &shown.id().to_string()[..8]);
    let html = Owner::new_root(None).with(|| document(shown, report));
    (name, html)
}

fn document(shown: &Shown, report: Option<&Report>) -> String {
    let (run, request) = (&shown.run, &shown.run.request);
    let status = match run.status.reason() {
        Some(reason) => format!("{}: {reason}", run.status.label()),
        None => run.status.label().to_owned(),
    };
    let terms = format!(
        "{} band{} · {} · {} · {} · {}",
        request.band,
        if request.fast { ", fast" } else { "" },
        request.target,
        shown.terms.workers(&run.steps),
        shown.terms.model,
        domain::moment::utc(shown.created_at_ms)
    );
    let steps = run.steps.iter().map(step).collect_view();
    let asked =
        (!request.focus.is_empty()).then(|| view! { <blockquote>{request.focus.clone()}</blockquote> });
    let body = view! {
        <main>
            <h1>{shown.title()}</h1>
            <p>{terms}</p>
            <p>{status} " · " {run.words()}</p>
            {asked}
            {report.map(|report| report_view(report, Place::File))}
            <section>
                <h2>"Agents and steps"</h2>
                <ul>{steps}</ul>
            </section>
        </main>
    };
    let head = view! {
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content=POLICY />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>{shown.title()}</title>
        <style inner_html=STYLE></style>
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>{}</head>\n<body>{}</body>\n</html>\n",
        head.to_html(),
        body.to_html()
    )
}

fn step(step: &RunStep) -> impl IntoView {
    let why = step.status.reason().map(|why| format!(": {why}")).unwrap_or_default();
    view! { <li>{format!("{}, {}{why}", step.step.label, step.status.label().to_lowercase())}</li> }
}

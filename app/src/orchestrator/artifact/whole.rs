//! A report by itself, to be read beside a chat.

use domain::{flow::Report, id::RunId};
use leptos::prelude::*;

use super::{
    super::{first, report::Place, reported::Reported},
    As, Head,
};
use crate::{
    erased::{Erase, Show},
    icon::Icon,
    markdown::CopyButton,
};

#[component]
pub fn WholeReport(run: RunId) -> impl IntoView {
    let (first, block) = first::report(run, "beside");
    let reported = Reported::new(run, first, Place::Beside(run));
    let Reported { report, is_due, .. } = reported;
    let markdown =
        move || report.with_untracked(|report| report.as_ref().map(Report::to_markdown).unwrap_or_default());
    view! {
        <section class="artifact artifact-report" aria-label="Report by itself">
            <Head run icon=Icon::Workflow title="Report" as_it=As::Reported>
                <CopyButton name="Copy the report" text=markdown />
            </Head>
            {reported.trouble()}
            <Show when=move || !is_due.get()>
                <p class="step-nothing">"The run has no report yet."</p>
            </Show>
            {reported.content()}
            {block}
        </section>
    }
    .erase()
}

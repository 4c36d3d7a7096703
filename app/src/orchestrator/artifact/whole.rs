//! A report by itself, to be read beside a chat.

use domain::{flow::Report, id::RunId};
use leptos::{prelude::*, task::spawn_local};

use super::{
    super::{
        api, first,
        report::{Place, report_view},
    },
    As, Head,
};
use crate::{
    erased::{Erase, effect},
    error::AppError,
    icon::Icon,
    markdown::CopyButton,
    notice::Failure,
    ui::Skeleton,
};

#[component]
pub fn WholeReport(run: RunId) -> impl IntoView {
    let (first, block) = first::beside(run);
    let (report, failure) = (RwSignal::new(first), RwSignal::new(None::<AppError>));
    effect(move || {
        if report.with_untracked(Option::is_some) {
            return;
        }
        spawn_local(async move {
            match api::run_report(run).await {
                Ok(Some(fresh)) => drop(report.try_set(Some(fresh))),
                Ok(None) => {
                    drop(failure.try_set(Some(AppError::Invalid("The run has no report yet.".into()))));
                }
                Err(error) => drop(failure.try_set(Some(error))),
            }
        });
    });
    let is_here = Memo::new(move |_| report.with(Option::is_some));
    let markdown =
        move || report.with_untracked(|report| report.as_ref().map(Report::to_markdown).unwrap_or_default());
    let content = move || match (is_here.get(), failure.with(Option::is_some)) {
        (true, _) => untrack(|| {
            report.with(|report| report.as_ref().map(|it| report_view(it, Place::Beside(run)))).erase()
        }),
        (false, true) => ().erase(),
        (false, false) => view! { <Skeleton lines=6 label="Loading the report" /> }.erase(),
    };
    view! {
        <section class="artifact artifact-report" aria-label="Report by itself">
            <Head run icon=Icon::Workflow title="Report" as_it=As::Reported>
                <CopyButton name="Copy the report" text=markdown />
            </Head>
            <Failure error=failure />
            {content}
            {block}
        </section>
    }
    .erase()
}

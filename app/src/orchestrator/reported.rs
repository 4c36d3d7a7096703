//! The report of a run on its way to the page.

use domain::{flow::Report, id::RunId, run::Shown};
use leptos::{prelude::*, task::spawn_local};

use super::{
    api,
    report::{Place, report_view},
};
use crate::{
    erased::{Erase, Erased, effect},
    error::AppError,
    feed::{Feed, line::Shown as Line},
    notice::Failure,
    ui::Skeleton,
};

/// Asked for once it is due, again whenever the server is back, and whenever somebody wants to try.
#[derive(Clone, Copy)]
pub struct Reported {
    run: RunId,
    pub report: RwSignal<Option<Report>>,
    pub is_here: Memo<bool>,
    pub is_due: Memo<bool>,
    place: Place,
    failure: RwSignal<Option<AppError>>,
}

impl Reported {
    /// `first` is what the page came with.
    pub fn new(run: RunId, first: Option<Report>, place: Place) -> Self {
        let feed = expect_context::<Feed>();
        let report = RwSignal::new(first);
        let reported = Self {
            run,
            report,
            is_here: Memo::new(move |_| report.with(Option::is_some)),
            // Beside other work the page need not hold the run, and has to ask.
            is_due: Memo::new(move |_| {
                feed.run(run, Shown::has_report).unwrap_or(matches!(place, Place::Beside(_)))
            }),
            place,
            failure: RwSignal::new(None),
        };
        let is_live = Memo::new(move |_| feed.connection.get() == Line::Live);
        effect(move || {
            let Self { failure, is_due, .. } = reported;
            let may_ask = is_due.get() && (is_live.get() || failure.with_untracked(Option::is_none));
            if may_ask && report.with_untracked(Option::is_none) {
                reported.fetch();
            }
        });
        reported
    }

    fn fetch(self) {
        let Self { run, report, failure, .. } = self;
        failure.set(None);
        spawn_local(async move {
            match api::run_report(run).await {
                Ok(Some(fresh)) => drop(report.try_set(Some(fresh))),
                Ok(None) => drop(failure.try_set(Some(AppError::Invalid("The report is not there.".into())))),
                Err(error) => drop(failure.try_set(Some(error))),
            }
        });
    }

    /// Why it is not there, and a button to try again.
    pub fn trouble(self) -> Erased {
        // What was asked too early is no failure.
        let failure = Signal::derive(move || self.failure.get().filter(|_| self.is_due.get()));
        let again = move || {
            failure.with(Option::is_some).then(|| {
                view! {
                    <button class="button small" type="button" on:click=move |_| self.fetch()>"Try again"</button>
                }
            })
        };
        view! {
            <Failure error=failure />
            {again}
        }
        .erase()
    }

    pub fn content(self) -> Erased {
        let content = move || match (self.is_here.get(), self.is_due.get()) {
            (true, _) => {
                untrack(|| self.report.with(|report| report.as_ref().map(|it| report_view(it, self.place))))
                    .erase()
            }
            (false, true) if self.failure.with(Option::is_none) => {
                view! { <Skeleton lines=6 label="Loading the report" /> }.erase()
            }
            (false, _) => ().erase(),
        };
        content.erase()
    }
}

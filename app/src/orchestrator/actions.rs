//! What can be done with a run and with its report.

use domain::{
    artifact::{Artifact, What},
    chat::TEXT_BYTES_MAX,
    flow::{Band, Report},
    id::RunId,
    layout::Content,
};
use leptos::{prelude::*, task::spawn_local};

use super::{api, pane::Orchestrator};
use crate::{
    chat::leave_draft,
    device,
    erased::Erase,
    error::AppError,
    feed::Feed,
    icon::Icon,
    markdown::CopyButton,
    ui::{Menu, MenuGroup, MenuItem},
};

impl Orchestrator {
    fn markdown(self) -> String {
        self.report.with_untracked(|report| report.as_ref().map(Report::to_markdown).unwrap_or_default())
    }

    /// A new chat with the report in its composer, to be read once more before it is sent.
    fn send_to_chat(self) {
        let text = self.markdown();
        if text.len() > TEXT_BYTES_MAX {
            let kilobytes = |bytes: usize| bytes.div_ceil(1024);
            let (got, max) = (kilobytes(text.len()), kilobytes(TEXT_BYTES_MAX));
            let words = format!(
                "The report has {got} KB, and a message at most {max} KB. Save it, and attach the file or a part of it."
            );
            return self.panes.say(&AppError::Invalid(words));
        }
        self.panes.open_chat(move |chat| leave_draft(chat, &text));
    }

    fn again(self, band: Band) {
        let (run, id) = (self.run, RunId(device::fresh_id()));
        let pane = self.panes.focused.get_untracked().map(|pane| pane.0);
        spawn_local(async move {
            // It leads to the new one.
            if let Err(error) = api::run_again(run, id, band.name().to_owned(), pane).await {
                self.panes.say(&error);
            }
        });
    }
}

/// What can be done with the report.
#[component]
pub fn ReportActions() -> impl IntoView {
    let (feed, orchestrator) = (expect_context::<Feed>(), expect_context::<Orchestrator>());
    let (run, panes) = (orchestrator.run, orchestrator.panes);
    let name = untrack(|| orchestrator.read(feed, |shown| shown.run.request.flow.name())).unwrap_or("report");
    let beside = move |_| panes.open_beside(Content::Artifact(Artifact { run, what: What::Report }));
    view! {
        <div class="report-actions" role="group" aria-label="What can be done with the report">
            <CopyButton name="Copy the report" text=move || orchestrator.markdown() />
            <a class="button small" href=format!("/api/runs/{run}/report.md") download=format!("{name}.md") rel="external">
                {Icon::Down.view()}
                "Save"
            </a>
            <button class="button small" type="button" on:click=move |_| orchestrator.send_to_chat()>
                {Icon::Chat.view()}
                "Send to a chat"
            </button>
            <a class="button small" href=format!("/run/{run}/export") download="" rel="external">
                {Icon::External.view()}
                "Export as HTML"
            </a>
            <button class="button small" type="button" on:click=beside>
                {Icon::Columns.view()}
                "Open beside"
            </button>
        </div>
    }
    .erase()
}

#[component]
pub fn RunMenu() -> impl IntoView {
    let (feed, orchestrator) = (expect_context::<Feed>(), expect_context::<Orchestrator>());
    let facts = untrack(|| orchestrator.read(feed, |shown| (shown.run.request.flow, shown.run.request.band)));
    let Some((flow, own)) = facts else { return ().erase() };
    let groups = Signal::derive(move || {
        let item = |band: Band| {
            let label = if band == own { "Run again".to_owned() } else { format!("Run again, {band} band") };
            let again = MenuItem::new(label, move || orchestrator.again(band));
            again.icon(Icon::Retry).describe(format!("{}: {}", band.about(), flow.size(band)))
        };
        vec![MenuGroup::new(Band::ALL.into_iter().map(item).collect())]
    });
    view! { <Menu id=format!("run-{}", orchestrator.run) name="More of this run" icon=Icon::More groups /> }
        .erase()
}

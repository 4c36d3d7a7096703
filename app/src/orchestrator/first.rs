//! What the server has read for the panes in front: reports, and what they cite. It travels in the page, so that the
//! page is whole without scripts, and the browser goes on from the same.

use domain::{
    artifact::{Artifact, What},
    flow::Report,
    id::RunId,
};
use leptos::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

use super::api::Opened;
use crate::erased::{Erase, Erased};

/// The report of a run, where the page came with it, and what carries it: under a name of its own wherever it is shown.
pub fn report(run: RunId, place: &str) -> (Option<Report>, Erased) {
    #[cfg(feature = "ssr")]
    let read = use_context::<FirstRead>().and_then(|first| first.reports.get(&run).cloned());
    #[cfg(not(feature = "ssr"))]
    let read = None;
    carried(format!("{place}-{run}"), read)
}

/// The same of a place that a report cites.
pub fn opened(artifact: Artifact) -> (Option<Opened>, Erased) {
    #[cfg(feature = "ssr")]
    let read = use_context::<FirstRead>().and_then(|first| first.opened.get(&artifact).cloned());
    #[cfg(not(feature = "ssr"))]
    let read = None;
    let What::Cited(number) = artifact.what else { return (None, ().erase()) };
    carried(format!("cited-{}-{number}", artifact.run), read)
}

/// A block of data. Browsers do not run it, and nothing in it can end it.
#[cfg(not(feature = "hydrate"))]
fn carried<T: Serialize + DeserializeOwned>(name: String, read: Option<T>) -> (Option<T>, Erased) {
    let json = read.as_ref().and_then(|read| serde_json::to_string(read).ok()).unwrap_or_default();
    let json = json.replace('<', "\\u003c");
    (read, view! { <script type="application/json" id=name inner_html=json></script> }.erase())
}

#[cfg(feature = "hydrate")]
fn carried<T: Serialize + DeserializeOwned>(name: String, _read: Option<T>) -> (Option<T>, Erased) {
    let json = document().get_element_by_id(&name).and_then(|block| block.text_content());
    let read = json.and_then(|json| domain::json::read(&json).ok());
    // What stands in it has been read.
    (read, view! { <script type="application/json" id=name inner_html=String::new()></script> }.erase())
}

#[cfg(feature = "ssr")]
pub use server::FirstRead;

#[cfg(feature = "ssr")]
mod server {
    use std::collections::BTreeMap;

    use domain::{id::ContestantId, layout::Content};

    use super::*;
    use crate::{arena::patches_of, orchestrator::api, ports};

    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct FirstRead {
        pub(super) reports: BTreeMap<RunId, Report>,
        pub(super) opened: BTreeMap<Artifact, Opened>,
        /// What contestants changed.
        pub(crate) patches: BTreeMap<ContestantId, String>,
    }

    impl FirstRead {
        /// For what is in front. What cannot be read now is asked for by the browser, which says why it is refused.
        pub async fn of(in_front: &[Content]) -> Self {
            let mut first = Self::default();
            let Ok(port) = ports::orchestrator() else { return first };
            for content in in_front {
                match *content {
                    Content::Run(run) | Content::Artifact(Artifact { run, what: What::Report }) => {
                        let report = port.report(run).await.ok().flatten();
                        first.reports.extend(report.map(|report| (run, report)));
                    }
                    Content::Artifact(artifact @ Artifact { what: What::Cited(_), .. }) => {
                        let opened = api::open(&*port, artifact).await.ok();
                        first.opened.extend(opened.map(|opened| (artifact, opened)));
                    }
                    Content::Battle(battle) => {
                        first.patches.extend(patches_of(battle).await.unwrap_or_default());
                    }
                    Content::Artifact(_)
                    | Content::Chat(_)
                    | Content::Arena
                    | Content::Orchestrator
                    | Content::Settings => {}
                }
            }
            first
        }
    }
}

//! The launcher over whatever is there, with what was typed as what is asked.

use leptos::prelude::*;

use super::{
    api::LaunchRun,
    code::{CHUNK, Part},
};
use crate::{actions::Hands, erased::Erase, form::Submission, launching::LauncherDialog};

#[component]
pub fn FlowLauncherDialog() -> impl IntoView {
    let Hands { orchestrating, .. } = expect_context::<Hands>();
    let launch = Submission::new::<LaunchRun>();
    view! {
        <LauncherDialog
            id="launch-run"
            title="New run"
            asked=orchestrating
            launch
            form=|form| CHUNK.view(Part::Form(form))
        />
    }
    .erase()
}

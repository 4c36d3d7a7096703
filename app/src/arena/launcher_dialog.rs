//! The launcher over whatever is there, with what was typed as the prompt.

use leptos::prelude::*;

use super::{
    api::LaunchBattle,
    code::{CHUNK, Part},
};
use crate::{actions::Hands, erased::Erase, form::Submission, launching::LauncherDialog};

#[component]
pub fn ArenaLauncherDialog() -> impl IntoView {
    let Hands { launching, .. } = expect_context::<Hands>();
    let launch = Submission::new::<LaunchBattle>();
    view! {
        <LauncherDialog
            id="launch-battle"
            title="New battle"
            asked=launching
            launch
            form=|form| CHUNK.view(Part::Form(form))
        />
    }
    .erase()
}

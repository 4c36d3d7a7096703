//! The launcher over whatever is there, with what was typed as what is asked.

use leptos::prelude::*;

use super::code::{CHUNK, Part};
use crate::{
    actions::Hands,
    address::Address,
    erased::{Erase, effect, effect_first},
    ui::Dialog,
};

#[component]
pub fn FlowLauncherDialog() -> impl IntoView {
    let Hands { orchestrating, .. } = expect_context::<Hands>();
    let Address(wanted) = expect_context::<Address>();
    let (is_open, focus) = (RwSignal::new(false), RwSignal::new(String::new()));
    effect(move || {
        if let Some(text) = orchestrating.get() {
            focus.set(text);
            is_open.set(true);
        }
    });
    effect(move || {
        if !is_open.get() {
            orchestrating.set(None);
        }
    });
    // What was launched is in front by then.
    effect_first(move |is_first| {
        wanted.track();
        if !is_first {
            is_open.set(false);
        }
    });
    view! {
        <Dialog id="launch-run" title=Signal::stored("New run".to_owned()) open=is_open wide=true>
            {CHUNK.view(Part::Form(focus))}
        </Dialog>
    }
    .erase()
}

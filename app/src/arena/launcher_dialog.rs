//! The launcher over whatever is there, with what was typed as the prompt.

use leptos::prelude::*;

use super::code::{CHUNK, Part};
use crate::{
    actions::Hands,
    address::Address,
    erased::{Erase, effect, effect_first},
    ui::Dialog,
};

#[component]
pub fn ArenaLauncherDialog() -> impl IntoView {
    let Hands { launching, .. } = expect_context::<Hands>();
    let Address(wanted) = expect_context::<Address>();
    let (is_open, prompt) = (RwSignal::new(false), RwSignal::new(String::new()));
    effect(move || {
        if let Some(text) = launching.get() {
            prompt.set(text);
            is_open.set(true);
        }
    });
    effect(move || {
        if !is_open.get() {
            launching.set(None);
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
        <Dialog id="launch-battle" title=Signal::stored("New battle".to_owned()) open=is_open wide=true>
            {CHUNK.view(Part::Form(prompt))}
        </Dialog>
    }
    .erase()
}

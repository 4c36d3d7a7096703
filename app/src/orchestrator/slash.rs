//! A flow at once, as a slash command asks for it.

use domain::{flow::FlowId, id::RunId, run::Draft};
use leptos::{prelude::*, task::spawn_local};

use super::api;
use crate::{actions::Hands, device};

/// In the small band, on all of the project, the question being what stands behind the command in `typed`. What is
/// refused is said, and what was typed stays or comes back.
pub fn launch_at_once(hands: Hands, flow: FlowId, question: &str, typed: RwSignal<String>) {
    let panes = hands.panes;
    let Some(session) = panes.session.get_untracked() else { return };
    let draft = Draft::at_once(RunId(device::fresh_id()), session, flow, question);
    // What is changed in the project, only the server knows.
    if let Err(no) = draft.request(true) {
        return panes.say(&no.into());
    }
    let kept = typed.get_untracked();
    typed.set(String::new());
    let pane = panes.focused.get_untracked().map(|pane| pane.0);
    spawn_local(async move {
        if let Err(error) = api::launch_run(draft, pane, false).await {
            panes.say(&error);
            typed.try_update(|typed| {
                if typed.is_empty() {
                    *typed = kept;
                }
            });
        }
    });
}

//! Taking over what a contestant made.

use leptos::{prelude::*, task::spawn_local};

use super::{api, pane::Arena};
use crate::{
    erased::{Erase, effect},
    feed::Feed,
    notice::Failure,
    ui::Dialog,
};

#[component]
pub fn AdoptDialog() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let is_open = RwSignal::new(false);
    let (branch, is_busy) = (RwSignal::new(String::new()), RwSignal::new(false));
    let failure = RwSignal::new(None);
    effect(move || {
        if arena.adopting.get().is_some() {
            failure.set(None);
            is_open.set(true);
        }
    });
    effect(move || {
        if !is_open.get() {
            arena.adopting.set(None);
        }
    });
    let title = Signal::derive(move || {
        let letter = arena.adopting.get().and_then(|id| arena.read(feed, |it| it.letter(id)));
        letter.map_or_else(String::new, |letter| format!("Adopt {letter}"))
    });
    let adopt = move |branch: String| {
        let Some(contestant) = arena.adopting.get_untracked() else { return };
        is_busy.set(true);
        failure.set(None);
        spawn_local(async move {
            let adopted = api::adopt_contestant(contestant, branch).await;
            is_busy.try_set(false);
            match adopted {
                Ok(how) => {
                    is_open.try_set(false);
                    arena.say(how);
                }
                Err(error) => drop(failure.try_set(Some(error))),
            }
        });
    };
    let field = format!("adopt-branch-{}", arena.battle);
    let label_for = field.clone();
    view! {
        <Dialog id=format!("adopt-{}", arena.battle) title open=is_open>
            <p>"To your files as they are now. What does not fit is said, and then nothing is touched."</p>
            <button
                class="button primary"
                type="button"
                disabled=move || is_busy.get()
                on:click=move |_| adopt(String::new())
            >
                "Apply to my files"
            </button>
            <p>"Or as one commit on a new branch. Your files and your branch stay as they are."</p>
            <div class="field">
                <label class="field-label" for=label_for.clone()>"Name of the branch"</label>
                <input
                    class="input"
                    id=field.clone()
                    prop:value=branch
                    on:input:target=move |typed| branch.set(typed.target().value())
                />
            </div>
            <button
                class="button"
                type="button"
                disabled=move || is_busy.get() || branch.with(|branch| branch.trim().is_empty())
                on:click=move |_| adopt(branch.get_untracked())
            >
                "Commit to this branch"
            </button>
            <Failure error=failure />
        </Dialog>
    }
    .erase()
}

//! Taking over what a contestant made.

use leptos::prelude::*;

use super::{api, pane::Arena};
use crate::{
    coder::{Bring, BringDialog},
    erased::{Erase, effect},
    error::AppError,
    feed::Feed,
};

#[component]
pub fn AdoptDialog() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let is_open = RwSignal::new(false);
    effect(move || {
        if arena.adopting.get().is_some() {
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
    let adopting = arena.adopting;
    let bring: Bring = Box::new(move |branch| {
        let contestant = adopting.get_untracked();
        Box::pin(async move {
            let contestant =
                contestant.ok_or_else(|| AppError::Invalid("Choose a contestant first.".into()))?;
            api::adopt_contestant(contestant, branch).await
        })
    });
    view! { <BringDialog id=format!("adopt-{}", arena.battle) title is_open bring /> }.erase()
}

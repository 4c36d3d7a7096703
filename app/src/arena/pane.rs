use leptos::prelude::*;

use crate::erased::Erase;

#[component]
pub fn ArenaPane(battle: domain::id::BattleId) -> impl IntoView {
    let _ = battle;
    view! { <p>"…"</p> }.erase()
}

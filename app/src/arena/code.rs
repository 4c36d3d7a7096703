//! The code of the Arena: the launcher, and the battle.

use domain::id::BattleId;
use leptos::prelude::*;

use super::{
    launcher::{ArenaLauncher, LauncherForm},
    pane::ArenaPane,
};
use crate::{
    chunk::chunk,
    erased::{Erase, Erased},
    launching::Launching,
};

/// What of it is shown.
#[derive(Clone, Copy)]
pub enum Part {
    Battle(BattleId),
    /// Where a battle is launched, in a pane.
    Launcher,
    /// The same in a dialog.
    Form(Launching),
}

fn show(part: Part) -> Erased {
    match part {
        Part::Battle(battle) => view! { <ArenaPane battle /> }.erase(),
        Part::Launcher => view! { <ArenaLauncher /> }.erase(),
        Part::Form(launching) => view! { <LauncherForm id="battle" launching /> }.erase(),
    }
}

chunk!(arena, Part, show, "Loading the Arena");

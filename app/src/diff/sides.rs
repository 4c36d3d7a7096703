//! What the changes of a Coder are compared with: where it began, the project's files, or another Coder's.

use domain::diff::{Against, Of};
use leptos::{prelude::*, task::spawn_local};

use super::api::diff_sides;
use crate::erased::{Erase, Erased, effect};

#[derive(Clone, Copy)]
pub struct Sides {
    /// The one that is shown.
    pub of: RwSignal<Of>,
    all: RwSignal<Vec<Against>>,
}

impl Sides {
    pub fn new(of: Of) -> Self {
        let sides = Self { of: RwSignal::new(of), all: RwSignal::default() };
        effect(move || {
            let Of::Chat(chat) = of else { return };
            spawn_local(async move {
                // Whoever is not told what else there is compares with where it began.
                if let Ok(all) = diff_sides(chat).await {
                    sides.all.try_set(all);
                }
            });
        });
        sides
    }

    /// Nothing where there is no choice.
    pub fn view(self) -> Erased {
        let choose = move |at: i32| {
            let at = usize::try_from(at).unwrap_or_default();
            if let Some(of) = self.all.with_untracked(|all| all.get(at).map(|one| one.of)) {
                self.of.set(of);
            }
        };
        let option = move |one: Against| {
            let is_shown = one.of == self.of.get_untracked();
            view! { <option selected=is_shown>{one.title}</option> }
        };
        let select = move || {
            let all = self.all.get();
            (all.len() > 1).then(|| {
                view! {
                    <select class="select diff-sides" aria-label="Compared with" on:change:target=move |chosen| choose(chosen.target().selected_index())>
                        {all.into_iter().map(option).collect::<Vec<_>>()}
                    </select>
                }
                .erase()
            })
        };
        select.erase()
    }
}

//! What the changes of a Coder are compared with: where it began, the project's files, or another Coder's.

use domain::diff::{Against, Of};
use leptos::{html::Select, prelude::*, task::spawn_local};

use super::api::diff_sides;
use crate::erased::{Erase, Erased, effect};

#[derive(Clone, Copy)]
pub struct Sides {
    /// The one that is shown.
    pub of: RwSignal<Of>,
    all: RwSignal<Vec<Against>>,
    /// Whoever chose has the keyboard there, and what is shown next is made anew.
    was_chosen: StoredValue<bool>,
}

impl Sides {
    pub fn new(of: Of) -> Self {
        let sides =
            Self { of: RwSignal::new(of), all: RwSignal::default(), was_chosen: StoredValue::default() };
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
                self.was_chosen.set_value(true);
                self.of.set(of);
            }
        };
        let list = NodeRef::<Select>::new();
        list.on_load(move |list| {
            if self.was_chosen.get_value() {
                self.was_chosen.set_value(false);
                list.focus().ok();
            }
        });
        let option = move |one: Against| {
            let is_shown = one.of == self.of.get_untracked();
            view! { <option selected=is_shown>{one.title}</option> }
        };
        let select = move || {
            let all = self.all.get();
            (all.len() > 1).then(|| {
                view! {
                    <select node_ref=list class="select diff-sides" aria-label="Compared with" on:change:target=move |chosen| choose(chosen.target().selected_index())>
                        {all.into_iter().map(option).collect::<Vec<_>>()}
                    </select>
                }
                .erase()
            })
        };
        select.erase()
    }
}

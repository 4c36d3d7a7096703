//! A list that is looked at again and again.

use leptos::prelude::*;

use crate::erased::{Erase, Erased, For};

/// A row for each, under its own key: one that changes its place takes the keyboard along, and one that changes is drawn
/// where it is. Otherwise a button that somebody is about to press would become that of another row.
pub fn rows<T, K>(
    all: Memo<Vec<T>>,
    key: fn(&T) -> K,
    row: impl Fn(T) -> Erased + Copy + Send + Sync + 'static,
) -> Erased
where
    T: Clone + PartialEq + Send + Sync + 'static,
    K: Clone + Eq + std::hash::Hash + Send + Sync + 'static,
{
    let one = move |item: T| {
        let id = key(&item);
        let now = Memo::new(move |_| all.with(|all| all.iter().find(|item| key(item) == id).cloned()));
        move || now.get().map(row)
    };
    view! { <For each=move || all.get() key=key children=one /> }.erase()
}

use std::{
    any::Any,
    hash::{Hash, Hasher},
    sync::Arc,
};

use leptos::{
    prelude::*,
    tachys::{reactive_graph::OwnedView, view::keyed::keyed},
};

use super::{Erase, Erased};

/// As Leptos' `For`, compiled once: rows are told apart by an erased key and made by an erased closure.
#[component]
pub fn For<T, K, V>(
    each: impl Fn() -> Vec<T> + Send + 'static,
    key: impl Fn(&T) -> K + Send + 'static,
    children: impl Fn(T) -> V + Send + Sync + 'static,
) -> impl IntoView
where
    T: Send + 'static,
    K: Eq + Hash + Send + Sync + 'static,
    V: IntoView + 'static,
{
    let children = Arc::new(children);
    let rows = move || {
        let row = |item| {
            let (key, children) = (AnyKey(Arc::new(key(&item))), Arc::clone(&children));
            Row { key, view: Box::new(move || children(item).erase()) }
        };
        each().into_iter().map(row).collect()
    };
    list(Box::new(rows))
}

struct Row {
    key: AnyKey,
    view: Box<dyn FnOnce() -> Erased + Send>,
}

fn list(rows: Box<dyn Fn() -> Vec<Row> + Send>) -> Erased {
    // Each row has an owner of its own beneath the list's, so a change of the list does not clear them.
    let parent = Owner::current().unwrap_or_default();
    (move || {
        let parent = parent.clone();
        let view = move |_, row: Row| {
            let owner = parent.with(Owner::new);
            let view = owner.with(row.view);
            (drop, OwnedView::new_with_owner(view, owner))
        };
        keyed(rows(), |row: &Row| row.key.clone(), view)
    })
    .erase()
}

#[derive(Clone)]
struct AnyKey(Arc<dyn Key>);

impl PartialEq for AnyKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&*other.0)
    }
}

impl Eq for AnyKey {}

impl Hash for AnyKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash_into(state);
    }
}

trait Key: Any + Send + Sync {
    fn is(&self, other: &dyn Any) -> bool;
    fn hash_into(&self, state: &mut dyn Hasher);
}

impl<K: Eq + Hash + Send + Sync + 'static> Key for K {
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<K>() == Some(self)
    }

    fn hash_into(&self, mut state: &mut dyn Hasher) {
        self.hash(&mut state);
    }
}

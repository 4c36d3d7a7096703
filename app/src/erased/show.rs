use std::sync::Arc;

use leptos::{
    children::{ChildrenOptContainer, ToChildren},
    prelude::*,
};

use super::{Erase, Erased};

/// The children of a component, once.
pub struct Inside(Box<dyn FnOnce() -> Erased + Send>);

impl Inside {
    pub fn view(self) -> Erased {
        (self.0)()
    }
}

impl<F, V> ToChildren<F> for Inside
where
    F: FnOnce() -> V + Send + 'static,
    V: IntoView + 'static,
{
    fn to_children(children: F) -> Self {
        Self(Box::new(move || children().erase()))
    }
}

/// Words alone.
impl<V: IntoView + 'static> ToChildren<ChildrenOptContainer<V>> for Inside {
    fn to_children(words: ChildrenOptContainer<V>) -> Self {
        Self(Box::new(move || words.0.erase()))
    }
}

/// The children of a component, as often as they are needed.
#[derive(Clone)]
pub struct InsideFn(Arc<dyn Fn() -> Erased + Send + Sync>);

impl InsideFn {
    pub fn view(&self) -> Erased {
        (self.0)()
    }
}

impl<F, V> ToChildren<F> for InsideFn
where
    F: Fn() -> V + Send + Sync + 'static,
    V: IntoView + 'static,
{
    fn to_children(children: F) -> Self {
        Self(Arc::new(move || children().erase()))
    }
}

/// As Leptos' `Show`, compiled once.
#[component]
pub fn Show(
    children: InsideFn,
    /// Whether the children are there; they are made anew only when the answer changes.
    #[prop(into)]
    when: Signal<bool>,
) -> impl IntoView {
    let when = ArcMemo::new(move |_| when.get());
    (move || when.get().then(|| children.view())).erase()
}

//! What the browser calls the page.

use leptos::prelude::*;

#[cfg(feature = "hydrate")]
use crate::erased::effect;

/// Where the server's page keeps its title until its head is written.
#[cfg(feature = "ssr")]
#[derive(Clone, Copy)]
pub struct PageTitle(StoredValue<String>);

#[cfg(feature = "ssr")]
impl PageTitle {
    pub fn provide() -> Self {
        let title = Self(StoredValue::new(whole("")));
        provide_context(title);
        title
    }

    pub fn text(self) -> String {
        self.0.get_value()
    }
}

/// Calls the page so, and follows. In front of it the browser's tab shows how many notices were missed.
pub fn call_page(name: impl Fn() -> String + 'static, missed: impl Fn() -> usize + 'static) {
    #[cfg(feature = "hydrate")]
    effect(move || {
        let name = whole(&name());
        document().set_title(&match missed() {
            0 => name,
            missed => format!("({missed}) {name}"),
        });
    });
    #[cfg(feature = "ssr")]
    if let Some(PageTitle(title)) = use_context() {
        title.set_value(whole(&untrack(name)));
    }
    #[cfg(not(any(feature = "hydrate", feature = "ssr")))]
    drop(name);
    #[cfg(not(feature = "hydrate"))]
    drop(missed);
}

#[cfg(any(feature = "hydrate", feature = "ssr"))]
fn whole(name: &str) -> String {
    if name.is_empty() { "BooCode".to_owned() } else { format!("{name} · BooCode") }
}

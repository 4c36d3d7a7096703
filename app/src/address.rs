//! The address of the page: what is in front follows from it, so that a link, a reload and the back button
//! lead to the same.

use domain::page::Wanted;
use leptos::prelude::*;

#[cfg(feature = "hydrate")]
mod browser;

#[cfg(feature = "hydrate")]
pub use browser::forget_refusal;

/// What the address names.
#[derive(Clone, Copy)]
pub struct Address(pub Memo<Wanted>);

impl Address {
    /// Starts where the page starts and, in the browser, follows links, redirects and the back button. Once a page.
    pub fn follow(first: Wanted) -> Self {
        let here = RwSignal::new(first);
        let go = Go { here, led: RwSignal::new(None) };
        provide_context(go);
        #[cfg(feature = "hydrate")]
        browser::follow(go);
        Self(Memo::new(move |_| here.get()))
    }
}

/// How a step is entered into the browser's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The back button leads back to where we are.
    Forward,
    /// Only the focus moved: nothing to go back to.
    Aside,
}

/// Goes to addresses.
#[derive(Clone, Copy)]
pub struct Go {
    here: RwSignal<Wanted>,
    /// Where the server led to after a form. Whoever puts the focus there takes it.
    pub led: RwSignal<Option<Wanted>>,
}

impl Go {
    pub fn new() -> Self {
        expect_context::<Self>()
    }

    pub fn to(self, wanted: Wanted, step: Step) {
        #[cfg(feature = "hydrate")]
        browser::enter(&wanted.path(), step);
        #[cfg(not(feature = "hydrate"))]
        let _ = step;
        self.here.set(wanted);
    }
}

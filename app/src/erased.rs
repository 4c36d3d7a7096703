//! Views and effects whose type is forgotten, so that what surrounds them is compiled once and not once for each of them.
//!
//! Leptos' own `AnyView` keeps every way to hydrate a view alive, also the asynchronous one, which alone was a
//! sixth of the browser's module. Nothing here waits while it hydrates: what a page starts from comes with it.

#[cfg(feature = "hydrate")]
mod browser;
mod list;
mod show;

use leptos::prelude::*;

#[cfg(feature = "hydrate")]
pub use browser::Erased;
pub use list::For;
pub use show::{Inside, InsideFn, Show};

/// The server renders whatever it is given, and its size does not matter.
#[cfg(not(feature = "hydrate"))]
pub type Erased = AnyView;

pub trait Erase {
    /// Forgets the type. To be called at the end of every component and of every closure in a view.
    fn erase(self) -> Erased;
}

impl<V: IntoView> Erase for V {
    fn erase(self) -> Erased {
        #[cfg(feature = "hydrate")]
        return Erased::new(self);
        #[cfg(not(feature = "hydrate"))]
        self.into_any()
    }
}

/// Runs in the browser: now, and again whenever something changes that it looked at.
pub fn effect(run: impl FnMut() + 'static) {
    erased_effect(Box::new(run));
}

/// Like `effect`, and told whether this is the first time.
pub fn effect_first(mut run: impl FnMut(bool) + 'static) {
    let mut is_first = true;
    effect(move || run(std::mem::replace(&mut is_first, false)));
}

fn erased_effect(run: Box<dyn FnMut()>) {
    Effect::new(run);
}

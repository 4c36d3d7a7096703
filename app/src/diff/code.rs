//! The code of the diff. It comes apart from the rest, when somebody first looks at changes.

use domain::diff::{Comment, Of};
use leptos::prelude::*;

use super::DiffView;
use crate::erased::{Erase, Erased};

fn show(of: Of, on_comments: Callback<Vec<Comment>>) -> Erased {
    view! { <DiffView of on_comments /> }.erase()
}

/// The server has all code at hand.
#[cfg(not(feature = "hydrate"))]
pub fn view(of: Of, on_comments: Callback<Vec<Comment>>) -> Erased {
    show(of, on_comments)
}

#[cfg(feature = "hydrate")]
pub use browser::view;

#[cfg(feature = "hydrate")]
mod browser {
    use domain::diff::{Comment, Of};
    use leptos::{
        prelude::*,
        task::spawn_local,
        wasm_split::{SplitLoaderError, wasm_split},
    };

    use crate::{
        erased::{Erase, Erased},
        error::AppError,
        notice::Failure,
        ui::Skeleton,
    };

    type Show = fn(Of, Callback<Vec<Comment>>) -> Erased;

    /// The one function of the chunk; all that only diffs need goes with it.
    #[wasm_split(diff, wasm_split_path = leptos::wasm_split, fallible)]
    fn chunk() -> Result<Show, SplitLoaderError> {
        Ok(super::show)
    }

    /// What failed is tried again when the changes are looked at anew.
    pub fn view(of: Of, on_comments: Callback<Vec<Comment>>) -> Erased {
        let (fetched, failure) = (RwSignal::new(None::<Show>), RwSignal::new(None));
        spawn_local(async move {
            match chunk().await {
                Ok(show) => drop(fetched.try_set(Some(show))),
                Err(_) => drop(failure.try_set(Some(AppError::Offline))),
            }
        });
        let content = move || match fetched.get() {
            Some(show) => show(of, on_comments),
            None if failure.with(Option::is_some) => view! { <Failure error=failure /> }.erase(),
            None => view! { <Skeleton lines=8 label="Loading the changes" /> }.erase(),
        };
        content.erase()
    }
}

//! Parts of the browser's code that come apart from the frame's, so that the start page does not wait for them.
//!
//! `chunk!` names a part and the one function that it holds; all that only this function needs goes with it. The
//! server has all code at hand.

use crate::erased::Erased;

/// What a part shows of something.
pub type Show<A> = fn(A) -> Erased;

/// Defines `CHUNK`, which shows what `$show` does once it is here.
#[cfg(not(feature = "hydrate"))]
macro_rules! chunk {
    ($name:ident, $of:ty, $show:path, $label:literal) => {
        pub static CHUNK: $crate::chunk::Chunk<$of> =
            $crate::chunk::Chunk { name: stringify!($name), show: $show };
    };
}

#[cfg(feature = "hydrate")]
macro_rules! chunk {
    ($name:ident, $of:ty, $show:path, $label:literal) => {
        pub static CHUNK: $crate::chunk::Chunk<$of> = $crate::chunk::Chunk {
            name: stringify!($name),
            label: $label,
            fetched: || FETCHED.get(),
            fetch: || Box::pin(fetch()),
        };

        thread_local! {
            static FETCHED: std::cell::Cell<Option<$crate::chunk::Show<$of>>> = const { std::cell::Cell::new(None) };
        }

        async fn fetch() -> Result<(), $crate::error::AppError> {
            let show = part().await.map_err(|_| $crate::error::AppError::Offline)?;
            FETCHED.set(Some(show));
            Ok(())
        }

        #[leptos::wasm_split::wasm_split($name, wasm_split_path = leptos::wasm_split, fallible)]
        fn part() -> Result<$crate::chunk::Show<$of>, leptos::wasm_split::SplitLoaderError> {
            Ok($show)
        }
    };
}

pub(crate) use chunk;

#[cfg(not(feature = "hydrate"))]
pub struct Chunk<A: 'static> {
    /// By which the build lists its files.
    pub name: &'static str,
    pub show: Show<A>,
}

#[cfg(not(feature = "hydrate"))]
impl<A> Chunk<A> {
    pub fn view(&'static self, of: A) -> Erased {
        (self.show)(of)
    }

    pub async fn fetch(&'static self) -> bool {
        true
    }
}

#[cfg(feature = "hydrate")]
pub use browser::Chunk;

#[cfg(feature = "hydrate")]
mod browser {
    use std::{future::Future, pin::Pin};

    use leptos::{prelude::*, task::spawn_local};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::js_sys::Promise;

    use super::Show;
    use crate::{
        erased::{Erase, Erased, effect},
        error::AppError,
        feed::{Feed, line::Shown},
        first,
        notice::Failure,
        ui::Skeleton,
    };

    const AGAIN_MS: i32 = 2_000;

    type Fetching = Pin<Box<dyn Future<Output = Result<(), AppError>>>>;

    pub struct Chunk<A: 'static> {
        /// By which the build lists its files.
        pub name: &'static str,
        pub label: &'static str,
        pub fetched: fn() -> Option<Show<A>>,
        pub fetch: fn() -> Fetching,
    }

    impl<A: Copy + Send + Sync + 'static> Chunk<A> {
        /// Ahead of being needed. Whether it is here; where this fails it is asked for again then.
        pub async fn fetch(&'static self) -> bool {
            (self.fetch)().await.is_ok()
        }

        /// Again and again, and says so meanwhile: the page that waits for it can be read and not used.
        pub async fn fetch_for_sure(&'static self) {
            let mut told = None;
            while (self.fetch)().await.is_err() {
                told = told.or_else(|| {
                    first::say("This page is not alive yet: a part of it could not be fetched. Trying again…")
                });
                pause(AGAIN_MS).await;
            }
            if let Some(told) = told {
                told.remove();
            }
        }

        /// A page that starts with it has fetched the code before it comes alive, so only what is opened later can
        /// find it missing.
        pub fn view(&'static self, of: A) -> Erased {
            if let Some(show) = (self.fetched)() {
                return show(of);
            }
            let feed = use_context::<Feed>();
            let (is_here, failure) = (RwSignal::new(false), RwSignal::new(None));
            effect(move || {
                // What failed is tried again when the server is back.
                let is_live = feed.is_none_or(|feed| feed.connection.get() == Shown::Live);
                let has_failed = failure.with_untracked(Option::is_some);
                if is_here.get_untracked() || (has_failed && !is_live) {
                    return;
                }
                spawn_local(async move {
                    match (self.fetch)().await {
                        Ok(()) => drop(is_here.try_set(true)),
                        Err(error) => drop(failure.try_set(Some(error))),
                    }
                });
            });
            let content = move || {
                let show = if is_here.get() { (self.fetched)() } else { None };
                match show {
                    Some(show) => show(of),
                    None if failure.with(Option::is_some) => view! { <Failure error=failure /> }.erase(),
                    None => view! { <Skeleton lines=4 label=self.label /> }.erase(),
                }
            };
            content.erase()
        }
    }

    async fn pause(ms: i32) {
        let passed = Promise::new(&mut |done, _| {
            window().set_timeout_with_callback_and_timeout_and_arguments_0(&done, ms).ok();
        });
        JsFuture::from(passed).await.ok();
    }
}

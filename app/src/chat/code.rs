//! The code of the chat pane. It comes apart from the frame's, so that the start page does not wait for it.

use domain::id::ChatId;
use leptos::prelude::*;

use super::ChatPane;
use crate::erased::{Erase, Erased};

/// The name of the chunk, by which the build lists its files.
pub const CHUNK: &str = "chat";

fn show(chat: ChatId) -> Erased {
    view! { <ChatPane chat /> }.erase()
}

/// The server has all code at hand.
#[cfg(not(feature = "hydrate"))]
pub fn view(chat: ChatId) -> Erased {
    show(chat)
}

#[cfg(feature = "hydrate")]
pub use browser::{fetch, fetch_for_sure, view};

#[cfg(feature = "hydrate")]
mod browser {
    use std::cell::Cell;

    use domain::id::ChatId;
    use leptos::{
        prelude::*,
        task::spawn_local,
        wasm_split::{SplitLoaderError, wasm_split},
    };

    use wasm_bindgen_futures::JsFuture;
    use web_sys::js_sys::Promise;

    use crate::{
        erased::{Erase, Erased, effect},
        error::AppError,
        feed::{Feed, line::Shown},
        first,
        notice::Failure,
        ui::Skeleton,
    };

    type Show = fn(ChatId) -> Erased;

    const AGAIN_MS: i32 = 2_000;

    thread_local! {
        static FETCHED: Cell<Option<Show>> = const { Cell::new(None) };
    }

    pub async fn fetch() -> Result<(), AppError> {
        let show = chunk().await.map_err(|_| AppError::Offline)?;
        FETCHED.set(Some(show));
        Ok(())
    }

    /// Again and again, and says so meanwhile: the page that waits for it can be read and not used.
    pub async fn fetch_for_sure() {
        let mut told = None;
        while fetch().await.is_err() {
            told = told.or_else(|| {
                first::say("This page is not alive yet: a part of it could not be fetched. Trying again…")
            });
            pause(AGAIN_MS).await;
        }
        if let Some(told) = told {
            told.remove();
        }
    }

    async fn pause(ms: i32) {
        let passed = Promise::new(&mut |done, _| {
            window().set_timeout_with_callback_and_timeout_and_arguments_0(&done, ms).ok();
        });
        JsFuture::from(passed).await.ok();
    }

    /// The one function of the chunk; all that only chats need goes with it.
    #[wasm_split(chat, wasm_split_path = leptos::wasm_split, fallible)]
    fn chunk() -> Result<Show, SplitLoaderError> {
        Ok(super::show)
    }

    /// A page that starts with a chat has fetched the code before it comes alive, so only what is opened later can
    /// find it missing.
    pub fn view(chat: ChatId) -> Erased {
        if let Some(show) = FETCHED.get() {
            return show(chat);
        }
        let feed = expect_context::<Feed>();
        let (is_here, failure) = (RwSignal::new(false), RwSignal::new(None));
        effect(move || {
            // What failed is tried again when the server is back.
            let is_live = feed.connection.get() == Shown::Live;
            let has_failed = failure.with_untracked(Option::is_some);
            if is_here.get_untracked() || (has_failed && !is_live) {
                return;
            }
            spawn_local(async move {
                match fetch().await {
                    Ok(()) => drop(is_here.try_set(true)),
                    Err(error) => drop(failure.try_set(Some(error))),
                }
            });
        });
        let content = move || {
            let show = if is_here.get() { FETCHED.get() } else { None };
            match show {
                Some(show) => show(chat),
                None if failure.with(Option::is_some) => view! { <Failure error=failure /> }.erase(),
                None => view! { <Skeleton lines=4 label="Loading the chat" /> }.erase(),
            }
        };
        content.erase()
    }
}

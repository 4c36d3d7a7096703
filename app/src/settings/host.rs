//! Where the pane stands: filled by the server at first, and by the browser's chunk once that is there.

use leptos::prelude::*;

use domain::settings::Section;

use super::pane::Place;
use crate::{erased::Erase, error::AppError, notice::Failure};

#[component]
pub fn Host(
    #[prop(into)] section: Signal<Section>,
    /// Goes to another section; without it, the links do.
    #[prop(optional)]
    choose: Option<Callback<Section>>,
) -> impl IntoView {
    let failure = RwSignal::new(None::<AppError>);
    let place = Place { section, choose };
    let host = imp::host(place, failure);
    view! {
        <Failure error=failure />
        {host}
    }
    .erase()
}

#[cfg(feature = "hydrate")]
mod imp {
    use leptos::{
        html::Div,
        mount::mount_to,
        prelude::*,
        task::spawn_local,
        wasm_split::{SplitLoaderError, wasm_split},
    };
    use wasm_bindgen::JsCast as _;
    use web_sys::HtmlDivElement;

    use crate::{
        erased::{Erase, Erased, effect},
        error::AppError,
        feed::{Feed, line::Shown},
        settings::pane::{self, Place},
    };

    /// What the server put into it is left alone until the chunk is there: it can be read and used.
    pub fn host(place: Place, failure: RwSignal<Option<AppError>>) -> Erased {
        let host = NodeRef::<Div>::new();
        let owner = Owner::current();
        let feed = use_context::<Feed>();
        let is_asked = StoredValue::new(false);
        effect(move || {
            // What failed is tried again when the server is back.
            let is_live = feed.is_none_or(|feed| feed.connection.get() == Shown::Live);
            let (Some(host), Some(owner)) = (host.get(), owner.clone()) else { return };
            let has_failed = failure.with_untracked(Option::is_some);
            if is_asked.get_value() || (has_failed && !is_live) {
                return;
            }
            is_asked.set_value(true);
            spawn_local(async move {
                let is_filled = fill(host, owner, place).await.is_ok();
                is_asked.try_set_value(is_filled);
                failure.try_set((!is_filled).then_some(AppError::Offline));
            });
        });
        view! { <div class="settings-host" node_ref=host></div> }.erase()
    }

    /// The one function of the chunk; all that only Settings need goes with it.
    #[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible)]
    fn fill(host: HtmlDivElement, owner: Owner, place: Place) -> Result<(), SplitLoaderError> {
        let first = host.query_selector("[data-first]").ok().flatten();
        let first = first.and_then(|first| domain::json::read(&first.get_attribute("data-first")?).ok());
        host.set_text_content(None);
        owner.with(|| {
            let mounted = mount_to(host.unchecked_into(), move || pane::view(place, first, None));
            // It goes with the pane.
            StoredValue::new_local(mounted);
        });
        Ok(())
    }
}

#[cfg(not(feature = "hydrate"))]
mod imp {
    use leptos::prelude::*;

    use crate::{
        erased::{Erase, Erased},
        error::AppError,
        settings::{
            FirstSection,
            pane::{self, Place},
        },
    };

    /// The section whole, so that it can be read and used without scripts.
    pub fn host(place: Place, _failure: RwSignal<Option<AppError>>) -> Erased {
        let content = match use_context() {
            Some(FirstSection(Ok(shown))) => pane::view(place, Some(shown), None),
            Some(FirstSection(Err(error))) => pane::view(place, None, Some(error)),
            None => ().erase(),
        };
        view! { <div class="settings-host">{content}</div> }.erase()
    }
}

//! A button that puts a text on the clipboard and says so.

use leptos::{ev::MouseEvent, prelude::*};

use crate::icon::Icon;

/// `name` is what the button does, for those who cannot see where it stands; `text` is asked for at the click.
#[component]
pub fn CopyButton<F>(#[prop(into)] name: String, text: F) -> impl IntoView
where
    F: Fn() -> String + Send + Sync + 'static,
{
    // Whether the last click copied, for as long as that is worth showing.
    let copied = RwSignal::new(None);
    let copy = move |_: MouseEvent| on_click(text(), copied);
    let label = move || match copied.get() {
        None => "Copy",
        Some(true) => "Copied",
        Some(false) => "Not copied",
    };
    let said = move || match copied.get() {
        None => "",
        Some(true) => "Copied",
        Some(false) => "The browser refused to copy",
    };
    let icon = move || if copied.get() == Some(true) { Icon::Check } else { Icon::Copy }.view();
    view! {
        <button type="button" class="copy-button" aria-label=name on:click=copy>
            {icon}
            <span>{label}</span>
        </button>
        <span class="visually-hidden" role="status">{said}</span>
    }
}

#[cfg(not(feature = "hydrate"))]
fn on_click(_text: String, _copied: RwSignal<Option<bool>>) {}

#[cfg(feature = "hydrate")]
fn on_click(text: String, copied: RwSignal<Option<bool>>) {
    const SHOWN_FOR: std::time::Duration = std::time::Duration::from_secs(2);
    leptos::task::spawn_local(async move {
        let success = clipboard::write(&text).await;
        // The block may be gone by now, and its signal with it.
        copied.try_set(Some(success));
        let forget = move || {
            copied.try_set(None);
        };
        set_timeout(forget, SHOWN_FOR);
    });
}

#[cfg(feature = "hydrate")]
pub use clipboard::write as copy_text;

#[cfg(feature = "hydrate")]
mod clipboard {
    use leptos::prelude::{document, window};
    use wasm_bindgen::JsCast;
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{HtmlDocument, HtmlElement, HtmlTextAreaElement};

    /// Whether the browser allowed it.
    pub async fn write(text: &str) -> bool {
        let clipboard = window().navigator().clipboard();
        // Browsers have it only on https and on localhost, whatever its type promises.
        if !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(text)).await.is_ok() {
            return true;
        }
        write_by_selection(text).unwrap_or(false)
    }

    /// The old way: select a text that stands on the page, then ask for a copy of the selection.
    fn write_by_selection(text: &str) -> Option<bool> {
        let document = document();
        let body = document.body()?;
        let focused = document.active_element().and_then(|element| element.dyn_into::<HtmlElement>().ok());
        let area: HtmlTextAreaElement = document.create_element("textarea").ok()?.dyn_into().ok()?;
        area.set_class_name("visually-hidden");
        area.set_read_only(true);
        area.set_value(text);
        body.append_child(&area).ok()?;
        area.select();
        let copied = document.dyn_into::<HtmlDocument>().ok().and_then(|page| page.exec_command("copy").ok());
        area.remove();
        if let Some(focused) = focused {
            // Losing the focus would only cost a key press, so a refusal does not matter.
            focused.focus().ok();
        }
        copied
    }
}

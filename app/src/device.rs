//! What only a browser knows: its clock, its storage, its randomness. On the server there is none of it, so
//! nothing that is rendered there can depend on it.

use crate::ui::Edges;
pub use imp::*;

#[cfg(feature = "hydrate")]
mod imp {
    use leptos::prelude::{document, on_cleanup, window, window_event_listener_untyped};
    use uuid::{Builder, Uuid};
    use wasm_bindgen::{JsCast as _, closure::Closure};
    use web_sys::{
        Element, HtmlDocument, HtmlElement, ScrollIntoViewOptions, ScrollLogicalPosition, Storage,
        StorageEvent, js_sys,
    };

    use super::Edges;
    use crate::cookie;

    /// Milliseconds since 1970.
    pub fn now_ms() -> Option<i64> {
        Some(js_sys::Date::now() as i64)
    }

    pub fn is_visible() -> bool {
        !document().hidden()
    }

    pub fn is_focused() -> bool {
        document().has_focus().unwrap_or_default()
    }

    /// Whether it shows one pane at a time and the sidebar as a drawer, as the stylesheet has it: on a narrow screen, and
    /// on a phone that lies on its side.
    pub fn is_narrow() -> bool {
        matches("(max-width: 48rem), (pointer: coarse) and (max-height: 30rem)")
    }

    pub fn prefers_dark() -> bool {
        matches("(prefers-color-scheme: dark)")
    }

    /// Whether its keyboard has ⌘ where others have Ctrl.
    pub fn is_mac() -> bool {
        window()
            .navigator()
            .platform()
            .is_ok_and(|platform| platform.starts_with("Mac") || platform.starts_with("iP"))
    }

    /// Where an element is in the window.
    pub fn edges(of: &Element) -> Option<Edges> {
        let rect = of.get_bounding_client_rect();
        Some(Edges { left: rect.left(), top: rect.top(), right: rect.right(), bottom: rect.bottom() })
    }

    /// Scrolls no further than it takes to have the element in sight.
    pub fn reveal(element: &Element) {
        let nearest = ScrollLogicalPosition::Nearest;
        let options = ScrollIntoViewOptions::new();
        options.set_block(nearest);
        options.set_inline(nearest);
        element.scroll_into_view_with_scroll_into_view_options(&options);
    }

    /// What this browser remembers. Storage may be switched off or full: then nothing is remembered.
    pub fn remembered(key: &str) -> Option<String> {
        storage()?.get_item(key).ok().flatten()
    }

    pub fn remember(key: &str, value: &str) {
        let Some(storage) = storage() else { return };
        let stored = if value.is_empty() { storage.remove_item(key) } else { storage.set_item(key, value) };
        stored.ok();
    }

    /// Tells what another page of this browser makes of what is remembered, for as long as the caller's owner lives.
    pub fn hear_of(key: String, run: Box<dyn Fn(Option<String>)>) {
        let listener = window_event_listener_untyped("storage", move |event| {
            let Ok(told) = event.dyn_into::<StorageEvent>() else { return };
            // Without a key all of it was forgotten.
            if told.key().is_none_or(|changed| changed == key) {
                // By now it may be something newer than what is told.
                run(remembered(&key));
            }
        });
        on_cleanup(move || listener.remove());
    }

    /// For what the server has to know when it renders a page. None forgets it.
    pub fn set_cookie(name: &str, value: Option<&str>) {
        let Ok(document) = document().dyn_into::<HtmlDocument>() else { return };
        let is_secure = window().location().protocol().is_ok_and(|protocol| protocol == "https:");
        let secure = if is_secure { "; Secure" } else { "" };
        // A browser that keeps no cookies shows the system's choice next time.
        document.set_cookie(&(cookie::line(name, value) + secure)).ok();
    }

    /// All that the page may read, as a header holds them.
    pub fn cookies() -> String {
        let document = document().dyn_into::<HtmlDocument>().ok();
        document.and_then(|document| document.cookie().ok()).unwrap_or_default()
    }

    /// Some keyboards of phones lie over the page. Then the page is as high as what is seen of it, for as long as it
    /// is there.
    pub fn stay_above_keyboard() {
        let Some(seen) = window().visual_viewport() else { return };
        let fit = {
            let seen = seen.clone();
            move || {
                let Some(root) = document().document_element() else { return };
                let style = root.unchecked_into::<HtmlElement>().style();
                let height =
                    window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or_default();
                // Who zooms in sees less too, and still wants the whole page.
                let is_covered = seen.scale() == 1.0 && seen.height() < height - 1.0;
                if is_covered {
                    style.set_property("--seen", &format!("{}px", seen.height() as i32)).ok();
                    // The browser moved the page for the field that now fits.
                    window().scroll_to_with_x_and_y(0.0, 0.0);
                } else {
                    style.remove_property("--seen").ok();
                }
            }
        };
        let fit = Closure::<dyn FnMut()>::new(fit).into_js_value();
        seen.set_onresize(fit.dyn_ref());
    }

    pub fn fresh_id() -> Uuid {
        let mut bytes = [0; 16];
        if let Ok(crypto) = window().crypto() {
            crypto.get_random_values_with_u8_array(&mut bytes).ok();
        }
        Builder::from_random_bytes(bytes).into_uuid()
    }

    fn matches(media: &str) -> bool {
        window().match_media(media).ok().flatten().is_some_and(|query| query.matches())
    }

    fn storage() -> Option<Storage> {
        window().local_storage().ok().flatten()
    }
}

#[cfg(not(feature = "hydrate"))]
mod imp {
    use leptos::web_sys::Element;
    use uuid::Uuid;

    use super::Edges;

    pub fn now_ms() -> Option<i64> {
        None
    }

    pub fn is_visible() -> bool {
        false
    }

    pub fn is_focused() -> bool {
        false
    }

    pub fn is_narrow() -> bool {
        false
    }

    pub fn prefers_dark() -> bool {
        false
    }

    pub fn is_mac() -> bool {
        false
    }

    pub fn edges(_of: &Element) -> Option<Edges> {
        None
    }

    pub fn reveal(_element: &Element) {}

    pub fn remembered(_key: &str) -> Option<String> {
        None
    }

    pub fn remember(_key: &str, _value: &str) {}

    pub fn stay_above_keyboard() {}

    pub fn hear_of(_key: String, _run: Box<dyn Fn(Option<String>)>) {}

    pub fn set_cookie(_name: &str, _value: Option<&str>) {}

    #[cfg(not(feature = "ssr"))]
    pub fn cookies() -> String {
        String::new()
    }

    /// For the hidden field of a form that is sent without WebAssembly.
    #[cfg(feature = "ssr")]
    pub fn fresh_id() -> Uuid {
        Uuid::now_v7()
    }

    #[cfg(not(feature = "ssr"))]
    pub fn fresh_id() -> Uuid {
        Uuid::nil()
    }
}

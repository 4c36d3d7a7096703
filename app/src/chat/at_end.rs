//! Keeping the end of a list of messages in sight.

use leptos::{html::Ol, prelude::*, web_sys::HtmlElement};

use crate::{erased::effect, feed::Feed};

/// This close to its end, a list of messages stays at its end when it grows.
const AT_END_PX: i32 = 80;

/// A reader who looks at the end keeps seeing the end; one who scrolled up is left in peace.
#[derive(Clone, Copy)]
pub struct AtEnd {
    list: NodeRef<Ol>,
    is_there: StoredValue<bool>,
    /// How far it was scrolled when it was last looked at.
    top: StoredValue<i32>,
}

impl AtEnd {
    pub fn keep(feed: Feed, list: NodeRef<Ol>) -> Self {
        let at_end = Self { list, is_there: StoredValue::new(true), top: StoredValue::new(0) };
        effect(move || {
            feed.grown.track();
            if let Some(list) = list.get() {
                // What grew is laid out by then.
                request_animation_frame(move || at_end.stay(&list));
            }
        });
        // The composer and the queue below it take their room from the list.
        effect(move || {
            if let Some(list) = list.get() {
                on_resize(&list.clone(), move || at_end.stay(&list));
            }
        });
        at_end
    }

    /// To be called whenever the list was scrolled. Only a reader scrolls up: where the end is far away without
    /// that, it went there since, and is followed.
    pub fn look(self) {
        let Some(list) = self.list.get_untracked() else { return };
        let top = list.scroll_top();
        if is_at_end(&list) {
            self.is_there.set_value(true);
        } else if top < self.top.get_value() {
            self.is_there.set_value(false);
        }
        self.top.set_value(top);
    }

    fn stay(self, list: &HtmlElement) {
        // The list may be gone by now.
        if self.is_there.try_get_value() == Some(true) {
            list.set_scroll_top(list.scroll_height());
        }
    }
}

fn is_at_end(list: &HtmlElement) -> bool {
    list.scroll_height() - list.scroll_top() - list.client_height() <= AT_END_PX
}

/// Calls back whenever the size of the element changes, for as long as the caller's owner lives.
#[cfg(feature = "hydrate")]
fn on_resize(of: &HtmlElement, run: impl FnMut() + 'static) {
    use send_wrapper::SendWrapper;
    use wasm_bindgen::{JsCast as _, closure::Closure};
    use web_sys::ResizeObserver;

    let call = Closure::<dyn FnMut()>::new(run);
    let Ok(observer) = ResizeObserver::new(call.as_ref().unchecked_ref()) else { return };
    observer.observe(of);
    let kept = SendWrapper::new((observer, call));
    on_cleanup(move || kept.0.disconnect());
}

#[cfg(not(feature = "hydrate"))]
fn on_resize(_of: &HtmlElement, _run: impl FnMut() + 'static) {}

//! One tooltip for the whole page. It shows the name of whatever icon button is pointed at or focused, so no button
//! has to bring one; anything else says what to show in `data-tip`.

use std::time::Duration;

use leptos::{
    ev,
    html::Div,
    prelude::*,
    wasm_bindgen::JsCast as _,
    web_sys::{Element, EventTarget},
};

use super::{
    kbd::Kbd,
    place::{Align, put},
};

use crate::erased::{Erase, effect};

/// A `title` would be shown by the browser too.
const HAS_TIP: &str = ":is(.icon-button[aria-label]:not([title]), .copy-button, [data-tip])";
const POINTED_FOR: Duration = Duration::from_millis(450);
/// Long enough to move onto the tooltip itself.
const LEFT_FOR: Duration = Duration::from_millis(120);

#[derive(Clone, PartialEq, Eq)]
struct Tip {
    text: String,
    keys: Option<String>,
}

/// To be put once on a page.
#[component]
pub fn Tooltips() -> impl IntoView {
    let layer = NodeRef::<Div>::new();
    let tip = RwSignal::new(None::<Tip>);
    let timer = StoredValue::new(None::<TimeoutHandle>);
    // Where the pointer moved to last: what scrolls under it is not pointed at.
    let pointer = StoredValue::new((0, 0));
    let is_of_focus = StoredValue::new(false);
    let later = move |then: Box<dyn Fn()>, after: Duration| {
        stop(timer);
        timer.set_value(set_timeout_with_handle(then, after).ok());
    };
    let show = move |at: Element| {
        tip.set(Some(tip_of(&at)));
        // Its words are there by then.
        request_animation_frame(move || {
            if let (Some(layer), true) = (layer.get_untracked(), at.is_connected()) {
                layer.hide_popover().ok();
                layer.show_popover().ok();
                put(&layer, &at, Align::Centre);
            }
        });
    };
    let hide = move || {
        stop(timer);
        is_of_focus.set_value(false);
        if let Some(layer) = layer.get_untracked() {
            layer.hide_popover().ok();
        }
    };
    effect(move || {
        let over = window_event_listener(ev::pointerover, move |event| {
            // A finger does not hover.
            if event.pointer_type() != "mouse" || within(event.target(), ".tooltip").is_some() {
                return stop(timer);
            }
            let is_resting = pointer.get_value() == (event.client_x(), event.client_y());
            match within(event.target(), HAS_TIP) {
                Some(on) if !is_resting => {
                    let point = move || {
                        is_of_focus.set_value(false);
                        show(on.clone());
                    };
                    later(Box::new(point), POINTED_FOR);
                }
                // What the keyboard points at stays, whatever scrolls by.
                _ if is_resting && is_of_focus.get_value() => {}
                _ => later(Box::new(hide), LEFT_FOR),
            }
        });
        let moved = window_event_listener(ev::pointermove, move |event| {
            pointer.set_value((event.client_x(), event.client_y()));
        });
        let focus = window_event_listener(ev::focusin, move |event| {
            match within(event.target(), HAS_TIP).filter(|on| on.matches(":focus-visible").unwrap_or(false)) {
                Some(on) => {
                    is_of_focus.set_value(true);
                    show(on);
                }
                None => hide(),
            }
        });
        let press = window_event_listener(ev::pointerdown, move |_| hide());
        let key = window_event_listener(ev::keydown, move |event| {
            if event.key() == "Escape" {
                hide();
            }
        });
        on_cleanup(move || {
            over.remove();
            moved.remove();
            focus.remove();
            press.remove();
            key.remove();
        });
    });
    let content = move || {
        tip.get().map(|tip| view! { <span>{tip.text}</span> {tip.keys.map(|keys| view! { <Kbd keys /> })} })
    };
    // Nothing is read aloud here: it repeats the name of what it belongs to.
    view! {
        <div class="tooltip" role="tooltip" aria-hidden="true" popover="manual" node_ref=layer>
            {content}
        </div>
    }
    .erase()
}

fn tip_of(on: &Element) -> Tip {
    let text = on.get_attribute("data-tip").or_else(|| on.get_attribute("aria-label"));
    Tip { text: text.unwrap_or_default(), keys: on.get_attribute("data-keys") }
}

fn within(target: Option<EventTarget>, selector: &str) -> Option<Element> {
    target?.dyn_into::<Element>().ok()?.closest(selector).ok().flatten()
}

fn stop(timer: StoredValue<Option<TimeoutHandle>>) {
    if let Some(timer) = timer.try_update_value(Option::take).flatten() {
        timer.clear();
    }
}

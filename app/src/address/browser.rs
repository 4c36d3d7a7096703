use domain::page::Wanted;
use leptos::{
    prelude::{GetUntracked as _, Set as _, window, window_event_listener_untyped},
    server_fn::redirect::set_redirect_hook,
};
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{DragEvent, Event, HtmlAnchorElement, MouseEvent, Url, UrlSearchParams};

use super::{Go, Step};
use crate::{chat::brings_files, first::REFUSAL_FIELD};

pub fn follow(go: Go) {
    window_event_listener_untyped("click", move |event| {
        if let Some(wanted) = followed(&event) {
            event.prevent_default();
            go.to(wanted, Step::Forward);
            window().scroll_to_with_x_and_y(0.0, 0.0);
        }
    });
    window_event_listener_untyped("popstate", move |_| {
        let path = window().location().pathname().unwrap_or_default();
        if let Some(wanted) = Wanted::of(&path).filter(|wanted| go.here.get_untracked() != *wanted) {
            go.here.set(wanted);
        }
    });
    for sign in ["dragover", "drop"] {
        window_event_listener_untyped(sign, |event| keep_page(&event));
    }
    // Refused when somebody set one before: a page has one address, so it is the same.
    set_redirect_hook(move |place| lead(go, place)).ok();
}

/// Enters a step into the history. A step to where we are is none.
pub fn enter(path: &str, step: Step) {
    let Ok(history) = window().history() else { return };
    let is_here = window().location().pathname().is_ok_and(|here| here == path);
    let entered = match step {
        Step::Forward if is_here => Ok(()),
        Step::Forward => history.push_state_with_url(&JsValue::NULL, "", Some(path)),
        Step::Aside => history.replace_state_with_url(&JsValue::NULL, "", Some(path)),
    };
    // The browser refuses when it is asked a hundred times in a moment; the page itself goes on.
    entered.ok();
}

/// A reload is no reason to say again what was refused.
pub fn forget_refusal() {
    let place = window().location();
    let search = place.search().unwrap_or_default();
    if UrlSearchParams::new_with_str(&search).is_ok_and(|fields| fields.has(REFUSAL_FIELD)) {
        enter(&place.pathname().unwrap_or_default(), Step::Aside);
    }
}

/// Files that nobody took: the browser would leave the page and show them.
fn keep_page(event: &Event) {
    let Some(drag) = event.dyn_ref::<DragEvent>().filter(|drag| !drag.default_prevented()) else { return };
    if let Some(data) = drag.data_transfer().filter(|_| brings_files(drag)) {
        drag.prevent_default();
        data.set_drop_effect("none");
    }
}

/// Where the server leads after a form.
fn lead(go: Go, place: &str) {
    let origin = window().location().origin().unwrap_or_default();
    let url = Url::new_with_base(place, &origin).ok();
    match url.as_ref().filter(|url| url.origin() == origin).and_then(|url| Wanted::of(&url.pathname())) {
        Some(wanted) => {
            go.to(wanted, Step::Forward);
            go.led.set(Some(wanted));
        }
        None => drop(window().location().set_href(place)),
    }
}

/// What a click leads to, if it is a plain click on a link to one of our pages. All else is the browser's.
fn followed(event: &Event) -> Option<Wanted> {
    let click: &MouseEvent = event.dyn_ref()?;
    let is_plain = click.button() == 0
        && !(click.meta_key() || click.alt_key() || click.ctrl_key() || click.shift_key());
    if click.default_prevented() || !is_plain {
        return None;
    }
    let link = click.composed_path().iter().find_map(|node| node.dyn_into::<HtmlAnchorElement>().ok())?;
    let is_external = link.rel().split_whitespace().any(|word| word == "external");
    let is_ours = link.origin() == window().location().origin().unwrap_or_default();
    if is_external || !is_ours || !link.target().is_empty() || link.has_attribute("download") {
        return None;
    }
    // A place on a page and a question to the server are more than an address of ours.
    if !link.has_attribute("href") || link.href().contains(['#', '?']) {
        return None;
    }
    Wanted::of(&link.pathname())
}

//! The browser's entry point; everything it shows lives in `app`.

#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    if app::design::is_asked_for() {
        app::design::hydrate();
    } else if let Some(first) = app::First::of_this_page() {
        app::take_over(first);
    }
}

pub mod error;
#[cfg(feature = "ssr")]
pub mod ports;
use leptos::prelude::*;
#[component]
pub fn App() -> impl IntoView {}
pub fn shell(_: LeptosOptions) -> impl IntoView {
    view! { <App/> }
}

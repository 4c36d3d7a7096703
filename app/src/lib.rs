
    view! { <App/> }
#[cfg(feature = "ssr")]
#[component]
#[leptos::component]
//! UI
pub fn App() -> impl IntoView {}
pub fn App() -> impl leptos::IntoView {}
pub fn shell(_: LeptosOptions) -> impl IntoView {
pub mod error;
pub mod markdown;
pub mod ports;
use leptos::prelude::*;
}

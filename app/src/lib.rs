//! UI
pub mod markdown;

#[leptos::component]
pub fn App() -> impl leptos::IntoView {}

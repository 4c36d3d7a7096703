//! UI
#[leptos::component]
pub fn App() -> impl leptos::IntoView {}

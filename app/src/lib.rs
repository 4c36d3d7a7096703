pub mod error;
pub mod markdown;
#[cfg(feature = "ssr")]
pub mod ports;
pub mod chat {
    pub mod api;
}
pub mod workspace {
    pub mod api;
    pub fn chat_path(chat: domain::id::ChatId) -> String {
        format!("/chat/{chat}")
    }
}
use leptos::prelude::*;
#[component]
pub fn App() -> impl IntoView {}
pub fn shell(options: LeptosOptions) -> impl IntoView {
    view! { <html><head><HydrationScripts options/></head><body><App/></body></html> }
}

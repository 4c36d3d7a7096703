//! Files that a browser hands over, and how one is sent ahead of the message that it goes with.

use leptos::{
    ev::{ClipboardEvent, DragEvent},
    web_sys::HtmlInputElement,
};

pub use imp::*;

#[cfg(feature = "hydrate")]
mod imp {
    use domain::{attachment::Attachment, id::ChatId};
    use leptos::prelude::window;
    use wasm_bindgen::JsCast as _;
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{AbortSignal, DataTransfer, File, FileList, RequestInit, Response, js_sys};

    use super::{ClipboardEvent, DragEvent, HtmlInputElement};
    use crate::error::AppError;

    /// As long as the server waits for one.
    const UPLOAD_MS_MAX: u32 = 120_000;

    pub struct Picked(File);

    impl Picked {
        pub fn name(&self) -> String {
            self.0.name()
        }

        pub fn bytes(&self) -> u64 {
            self.0.size() as u64
        }

        /// What the server knows of it from now on. Its words where it may not be attached.
        pub async fn upload(&self, chat: ChatId) -> Result<Attachment, AppError> {
            let name = js_sys::encode_uri_component(&self.name());
            let request = RequestInit::new();
            request.set_method("POST");
            request.set_body(self.0.as_ref());
            request.set_signal(Some(&AbortSignal::timeout_with_u32(UPLOAD_MS_MAX)));
            let path = format!("/api/chats/{chat}/attachments?name={name}");
            let answer = JsFuture::from(window().fetch_with_str_and_init(&path, &request)).await;
            let answer: Response =
                answer.and_then(|answer| answer.dyn_into()).map_err(|_| AppError::Offline)?;
            let text = answer.text().map_err(|_| AppError::Offline)?;
            let text = JsFuture::from(text).await.map_err(|_| AppError::Offline)?;
            let text = text.as_string().unwrap_or_default();
            if !answer.ok() {
                return Err(AppError::read(&text));
            }
            domain::json::read(&text).map_err(|_| AppError::Unreadable)
        }
    }

    /// The input is empty afterwards, so that the same file can be picked again.
    pub fn picked(input: &HtmlInputElement) -> Vec<Picked> {
        let files = all(input.files());
        input.set_value("");
        files
    }

    /// Without those that come beside a formatted text: office programs add a picture of it.
    pub fn pasted(event: &ClipboardEvent) -> Vec<Picked> {
        let has = |data: &DataTransfer, kind| data.get_data(kind).is_ok_and(|text| !text.is_empty());
        let is_text = |data: &DataTransfer| has(data, "text/html") && has(data, "text/plain");
        event.clipboard_data().filter(|data| !is_text(data)).map(|data| all(data.files())).unwrap_or_default()
    }

    pub fn dropped(event: &DragEvent) -> Vec<Picked> {
        event.data_transfer().map(|data| all(data.files())).unwrap_or_default()
    }

    /// Whether a drag brings files. Which ones is told when they are dropped.
    pub fn brings_files(event: &DragEvent) -> bool {
        event.data_transfer().is_some_and(|data| data.types().includes(&"Files".into(), 0))
    }

    fn all(files: Option<FileList>) -> Vec<Picked> {
        let Some(files) = files else { return Vec::new() };
        (0..files.length()).filter_map(|at| files.get(at)).map(Picked).collect()
    }
}

#[cfg(not(feature = "hydrate"))]
mod imp {
    use domain::{attachment::Attachment, id::ChatId};

    use super::{ClipboardEvent, DragEvent, HtmlInputElement};
    use crate::error::AppError;

    pub struct Picked;

    impl Picked {
        pub fn name(&self) -> String {
            String::new()
        }

        pub fn bytes(&self) -> u64 {
            0
        }

        pub async fn upload(&self, _chat: ChatId) -> Result<Attachment, AppError> {
            Err(AppError::Offline)
        }
    }

    pub fn picked(_input: &HtmlInputElement) -> Vec<Picked> {
        Vec::new()
    }

    pub fn pasted(_event: &ClipboardEvent) -> Vec<Picked> {
        Vec::new()
    }

    pub fn dropped(_event: &DragEvent) -> Vec<Picked> {
        Vec::new()
    }

    pub fn brings_files(_event: &DragEvent) -> bool {
        false
    }
}

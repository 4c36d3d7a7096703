//! What only a browser knows: its clock, its storage, its randomness. On the server there is none of it, so
//! nothing that is rendered there can depend on it.

pub use imp::*;

#[cfg(feature = "hydrate")]
mod imp {
    use leptos::prelude::{document, window};
    use uuid::{Builder, Uuid};
    use web_sys::{Storage, js_sys};

    /// Milliseconds since 1970.
    pub fn now_ms() -> Option<i64> {
        Some(js_sys::Date::now() as i64)
    }

    pub fn is_visible() -> bool {
        !document().hidden()
    }

    /// What this browser remembers. Storage may be switched off or full: then nothing is remembered.
    pub fn remembered(key: &str) -> Option<String> {
        storage()?.get_item(key).ok().flatten()
    }

    pub fn remember(key: &str, value: &str) {
        let Some(storage) = storage() else { return };
        let stored = if value.is_empty() { storage.remove_item(key) } else { storage.set_item(key, value) };
        stored.ok();
    }

    pub fn fresh_id() -> Uuid {
        let mut bytes = [0; 16];
        if let Ok(crypto) = window().crypto() {
            crypto.get_random_values_with_u8_array(&mut bytes).ok();
        }
        Builder::from_random_bytes(bytes).into_uuid()
    }

    fn storage() -> Option<Storage> {
        window().local_storage().ok().flatten()
    }
}

#[cfg(not(feature = "hydrate"))]
mod imp {
    use uuid::Uuid;

    pub fn now_ms() -> Option<i64> {
        None
    }

    pub fn remembered(_key: &str) -> Option<String> {
        None
    }

    pub fn remember(_key: &str, _value: &str) {}

    /// For the hidden field of a form that is sent without WebAssembly.
    #[cfg(feature = "ssr")]
    pub fn fresh_id() -> Uuid {
        Uuid::now_v7()
    }

    #[cfg(not(feature = "ssr"))]
    pub fn fresh_id() -> Uuid {
        Uuid::nil()
    }
}

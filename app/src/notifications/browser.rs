//! The browser's own notifications. On the server there are none.

use domain::notifications::{Notice, Permission};
use leptos::prelude::*;

use crate::address::Go;
pub use imp::*;

/// One page of a browser keeps watch: it stays connected while nobody looks, and tells. It is the one that was
/// looked at last, so that it knows what was in front.
#[derive(Clone, Copy, Default)]
pub struct Watch(StoredValue<Kept>);

#[derive(Default)]
struct Kept {
    /// The request that holds it, if it is ours.
    by: Option<u32>,
    /// How many requests there were.
    asked: u32,
    /// Whether we stand in line for it.
    is_queued: bool,
}

impl Watch {
    pub fn is_kept(self) -> bool {
        self.0.with_value(|kept| kept.by.is_some())
    }

    /// Takes it from any other page, or waits until it is free. Whether it is ours now.
    pub fn keep(self, take: bool) -> bool {
        if !self.is_kept() && (take || !self.0.with_value(|kept| kept.is_queued)) {
            request(self, take);
        }
        self.is_kept()
    }
}

#[cfg(feature = "hydrate")]
mod imp {
    use leptos::{prelude::*, task::spawn_local};
    use wasm_bindgen::{JsCast as _, JsValue, closure::Closure};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{
        Notification, NotificationOptions, NotificationPermission,
        js_sys::{Function, Object, Promise, Reflect},
    };

    use super::{Go, Notice, Permission, Watch};
    use crate::address::Step;

    const ICON: &str = "/pkg/icons/icon-192.png";
    const LOCK: &str = "boocode-notifications";

    pub fn permission() -> Permission {
        // Asking what is not there would end the page.
        if !Reflect::has(&window(), &"Notification".into()).unwrap_or_default() {
            return Permission::Missing;
        }
        match Notification::permission() {
            NotificationPermission::Granted => Permission::Granted,
            NotificationPermission::Denied => Permission::Denied,
            _ => Permission::Open,
        }
    }

    pub fn is_allowed() -> bool {
        permission() == Permission::Granted
    }

    /// Asks the person. Browsers heed it only right after a press.
    pub async fn ask() -> Permission {
        if permission() == Permission::Open
            && let Ok(asked) = Notification::request_permission()
        {
            JsFuture::from(asked).await.ok();
        }
        permission()
    }

    /// Whether the browser took it. Those of Android phones refuse, whatever they allowed.
    pub fn show(notice: &Notice, go: Go) -> bool {
        let options = NotificationOptions::new();
        options.set_body(&notice.body);
        options.set_icon(ICON);
        // Under the same tag another page's takes the place of ours, without a second sound.
        options.set_tag(&notice.tag);
        let Ok(shown) = Notification::new_with_options(&notice.title, &options) else { return false };
        let (to, clicked) = (notice.leads_to, shown.clone());
        let on_click = Closure::once_into_js(move || {
            window().focus().ok();
            go.to(to, Step::Forward);
            clicked.close();
        });
        shown.set_onclick(on_click.dyn_ref());
        true
    }

    /// Asks the browser for the lock that only one page can hold.
    pub(super) fn request(Watch(kept): Watch, take: bool) {
        let number = kept.try_update_value(|kept| {
            kept.asked += 1;
            kept.is_queued |= !take;
            kept.asked
        });
        let granted = Closure::once_into_js(move |_lock: JsValue| {
            kept.try_update_value(|kept| {
                kept.by = number;
                kept.is_queued &= take;
            });
            // It is never given back: the browser does that when the page goes.
            Promise::new(&mut |_, _| {})
        });
        let Some(held) = lock(take, &granted) else {
            // Without locks each page watches for itself, and the tag makes one of what they tell.
            return kept.update_value(|kept| kept.by = number);
        };
        spawn_local(async move {
            // Ends when another page takes it.
            JsFuture::from(held).await.ok();
            kept.try_update_value(|kept| {
                kept.by = kept.by.filter(|by| Some(*by) != number);
                kept.is_queued &= take;
            });
        });
    }

    fn lock(take: bool, granted: &JsValue) -> Option<Promise> {
        let locks = Reflect::get(&window().navigator(), &"locks".into()).ok()?;
        let request: Function = Reflect::get(&locks, &"request".into()).ok()?.dyn_into().ok()?;
        let options = Object::new();
        Reflect::set(&options, &"steal".into(), &take.into()).ok()?;
        request.call3(&locks, &LOCK.into(), &options, granted).ok()?.dyn_into().ok()
    }
}

#[cfg(not(feature = "hydrate"))]
mod imp {
    use super::{Go, Notice, Permission, Watch};

    pub fn permission() -> Permission {
        Permission::Missing
    }

    pub fn is_allowed() -> bool {
        false
    }

    pub async fn ask() -> Permission {
        Permission::Missing
    }

    pub fn show(_notice: &Notice, _go: Go) -> bool {
        false
    }

    pub(super) fn request(_watch: Watch, _take: bool) {}
}

//! Passing messages, in a corner, each for a while.

mod shelf;

use std::time::Duration;

use leptos::{html::Section, prelude::*};

use crate::{
    device,
    erased::{Erase, Erased, For, effect},
    icon::Icon,
};
use shelf::{Shelf, TICK_MS, Toast};
pub use shelf::{ToastAction, ToastKind};

/// Says something in passing, from wherever it is known.
#[derive(Clone, Copy)]
pub struct Toasts(RwSignal<Shelf>);

impl Toasts {
    /// To be called once a page; `Toaster` shows what is pushed.
    pub fn provide() -> Self {
        let toasts = Self(RwSignal::new(Shelf::default()));
        provide_context(toasts);
        toasts
    }

    /// Gives what `dismiss` takes.
    pub fn push(self, kind: ToastKind, text: impl Into<String>, action: Option<ToastAction>) -> u32 {
        self.0.try_update(|shelf| shelf.push(kind, text.into(), action)).unwrap_or_default()
    }

    pub fn dismiss(self, id: u32) {
        self.0.update(|shelf| shelf.dismiss(id));
    }
}

#[component]
pub fn Toaster() -> impl IntoView {
    let Toasts(shelf) = expect_context::<Toasts>();
    let region = NodeRef::<Section>::new();
    // Whoever reads, is about to press, or looks elsewhere is given the time.
    let (is_hovered, is_focused) = (StoredValue::new(false), StoredValue::new(false));
    let count = Memo::new(move |_| shelf.with(|shelf| shelf.toasts().len()));
    let tick = StoredValue::new(None::<IntervalHandle>);
    effect(move || {
        let is_empty = count.get() == 0;
        let Some(region) = region.get() else { return };
        // Shown anew it is above whatever opened meanwhile.
        region.hide_popover().ok();
        if !is_empty {
            region.show_popover().ok();
        }
        if is_empty {
            if let Some(tick) = tick.try_update_value(Option::take).flatten() {
                tick.clear();
            }
        } else if tick.with_value(Option::is_none) {
            let pass = move || {
                if !is_hovered.get_value() && !is_focused.get_value() && device::is_visible() {
                    shelf.update(|shelf| shelf.pass(TICK_MS));
                }
            };
            tick.set_value(set_interval_with_handle(pass, Duration::from_millis(u64::from(TICK_MS))).ok());
        }
    });
    view! {
        <section
            class="toasts"
            aria-label="Messages"
            aria-live="polite"
            aria-relevant="additions"
            popover="manual"
            node_ref=region
            on:pointerenter=move |_| is_hovered.set_value(true)
            on:pointerleave=move |_| is_hovered.set_value(false)
            on:focusin=move |_| is_focused.set_value(true)
            on:focusout=move |_| is_focused.set_value(false)
        >
            <For
                each=move || shelf.with(|shelf| shelf.toasts().to_vec())
                key=|toast| toast.id
                children=move |toast| toast_view(toast, shelf)
            />
        </section>
    }
    .erase()
}

fn toast_view(toast: Toast, shelf: RwSignal<Shelf>) -> Erased {
    let Toast { id, kind, text, action, .. } = toast;
    let dismiss = move || shelf.update(|shelf| shelf.dismiss(id));
    let action = action.map(|action| {
        let run = action.run;
        view! {
            <button
                class="button small"
                type="button"
                on:click=move |_| {
                    dismiss();
                    run.run(());
                }
            >
                {action.label}
            </button>
        }
    });
    let (class, icon) = match kind {
        ToastKind::Info => ("toast", Icon::Info),
        ToastKind::Done => ("toast done", Icon::Ok),
        ToastKind::Needed => ("toast needed", Icon::Hand),
        ToastKind::Failed => ("toast failed", Icon::Failed),
    };
    view! {
        <div class=class role=if kind == ToastKind::Failed { "alert" } else { "status" }>
            {icon.view()}
            <p>{text}</p>
            {action}
            <button class="icon-button small" type="button" aria-label="Dismiss" on:click=move |_| dismiss()>
                {Icon::Close.view()}
            </button>
        </div>
    }
    .erase()
}

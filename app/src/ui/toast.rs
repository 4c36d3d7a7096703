//! Passing messages, in a corner, each for a while.

mod shelf;

use std::time::Duration;

use leptos::{html::Section, prelude::*};

use crate::{
    device,
    erased::{Erase, Erased, For, effect},
    icon::Icon,
    ui::parts,
};
use shelf::{Shelf, TICK_MS, Toast};
pub use shelf::{ToastAction, ToastKind};

/// Says something in passing, from wherever it is known.
#[derive(Clone, Copy)]
pub struct Toasts {
    shelf: RwSignal<Shelf>,
    /// Takes the keyboard when the last one is dismissed that had it.
    heir: StoredValue<Option<Callback<()>>>,
}

impl Toasts {
    /// To be called once a page; `Toaster` shows what is pushed.
    pub fn provide() -> Self {
        let toasts = Self { shelf: RwSignal::new(Shelf::default()), heir: StoredValue::new(None) };
        provide_context(toasts);
        toasts
    }

    /// Gives what `dismiss` takes.
    pub fn push(self, kind: ToastKind, text: impl Into<String>, action: Option<ToastAction>) -> u32 {
        self.shelf.try_update(|shelf| shelf.push(kind, text.into(), action)).unwrap_or_default()
    }

    pub fn dismiss(self, id: u32) {
        self.shelf.update(|shelf| shelf.dismiss(id));
    }

    pub fn leave_keyboard_to(self, heir: Callback<()>) {
        self.heir.set_value(Some(heir));
    }

    /// As a person does it, whose keyboard goes on to the next one.
    fn dismiss_by_hand(self, id: u32, region: NodeRef<Section>) {
        let at = self.shelf.with_untracked(|shelf| shelf.toasts().iter().position(|toast| toast.id == id));
        self.dismiss(id);
        // What is dismissed is gone by then.
        request_animation_frame(move || {
            let Some(region) = region.get_untracked() else { return };
            let left = parts(&region, "icon-button");
            if let Some(next) = at.and_then(|at| left.get(at)).or(left.last()) {
                next.focus().ok();
            } else if let Some(heir) = self.heir.get_value() {
                heir.run(());
            }
        });
    }
}

#[component]
pub fn Toaster() -> impl IntoView {
    let toasts = expect_context::<Toasts>();
    let shelf = toasts.shelf;
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
                children=move |toast| toast_view(toast, toasts, region)
            />
        </section>
    }
    .erase()
}

fn toast_view(toast: Toast, toasts: Toasts, region: NodeRef<Section>) -> Erased {
    let Toast { id, kind, text, action, .. } = toast;
    let action = action.map(|action| {
        let run = action.run;
        view! {
            <button
                class="button small"
                type="button"
                on:click=move |_| {
                    toasts.dismiss(id);
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
            <button
                class="icon-button small"
                type="button"
                aria-label="Dismiss"
                on:click=move |_| toasts.dismiss_by_hand(id, region)
            >
                {Icon::Close.view()}
            </button>
        </div>
    }
    .erase()
}

//! What is pressed.

use leptos::prelude::*;

use super::kbd::aria_keys;
use crate::{
    erased::{Erase, Inside},
    icon::Icon,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ButtonKind {
    #[default]
    Neutral,
    /// The one thing to do here.
    Primary,
    /// Quiet, without a border.
    Ghost,
    /// Destroys, or stops for good.
    Danger,
}

/// A button with words. With `href` it is a link that looks like one.
#[component]
pub fn Button(
    #[prop(optional)] kind: ButtonKind,
    #[prop(optional)] small: bool,
    #[prop(optional)] icon: Option<Icon>,
    /// Submits the form around it.
    #[prop(optional)]
    submit: bool,
    #[prop(optional, into)] disabled: Signal<bool>,
    /// Shows that what it began is under way, and takes no second press meanwhile.
    #[prop(optional, into)]
    busy: Signal<bool>,
    #[prop(optional, into)] href: Option<String>,
    #[prop(optional, into)] on_click: Option<Callback<()>>,
    children: Inside,
) -> impl IntoView {
    let class = format!("button {}{}", kind.class(), if small { " small" } else { "" });
    let icon = icon.map(Icon::view);
    if let Some(href) = href {
        return view! { <a class=class href=href>{icon} {children.view()}</a> }.erase();
    }
    let is_off = Signal::derive(move || disabled.get() || busy.get());
    view! {
        <button
            class=class
            type=if submit { "submit" } else { "button" }
            disabled=is_off
            aria-busy=move || busy.get().then_some("true")
            on:click=move |_| run(on_click)
        >
            {icon}
            {children.view()}
        </button>
    }
    .erase()
}

/// A square button with an icon. Its name is read aloud and shown as its tooltip, with the shortcut if there is one.
#[component]
pub fn IconButton(
    icon: Icon,
    #[prop(into)] name: Signal<String>,
    #[prop(optional)] kind: ButtonKind,
    #[prop(optional)] small: bool,
    #[prop(optional)] submit: bool,
    #[prop(optional, into)] disabled: Signal<bool>,
    /// For a button that stays in: whether it is.
    #[prop(optional, into)]
    pressed: Option<Signal<bool>>,
    /// As `Mod+Shift+K`, where Mod is Ctrl or ⌘. Whoever gives it listens for it.
    #[prop(optional, into)]
    shortcut: Option<String>,
    #[prop(optional, into)] on_click: Option<Callback<()>>,
) -> impl IntoView {
    let class = format!("icon-button {}{}", kind.class(), if small { " small" } else { "" });
    let keys = shortcut.as_deref().map(aria_keys);
    view! {
        <button
            class=class
            type=if submit { "submit" } else { "button" }
            aria-label=name
            aria-keyshortcuts=keys
            data-keys=shortcut
            disabled=disabled
            aria-pressed=move || pressed.map(|pressed| if pressed.get() { "true" } else { "false" })
            on:click=move |_| run(on_click)
        >
            {icon.view()}
        </button>
    }
    .erase()
}

impl ButtonKind {
    fn class(self) -> &'static str {
        match self {
            Self::Neutral => "",
            Self::Primary => "primary",
            Self::Ghost => "ghost",
            Self::Danger => "danger",
        }
    }
}

fn run(callback: Option<Callback<()>>) {
    if let Some(callback) = callback {
        callback.run(());
    }
}

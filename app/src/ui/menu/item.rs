//! What a menu holds.

use leptos::{ev::KeyboardEvent, prelude::*, wasm_bindgen::JsCast as _, web_sys::HtmlElement};

use crate::{
    erased::{Erase, Erased},
    icon::Icon,
    ui::kbd::{Kbd, aria_keys},
};

#[derive(Clone, Default)]
pub struct MenuGroup {
    pub title: Option<String>,
    pub items: Vec<MenuItem>,
}

#[derive(Clone)]
pub struct MenuItem {
    label: String,
    act: Act,
    icon: Option<Icon>,
    description: Option<String>,
    shortcut: Option<String>,
    checked: Option<bool>,
    disabled: Option<String>,
    danger: bool,
}

#[derive(Clone)]
enum Act {
    Run(Callback<()>),
    Go(String),
}

impl MenuItem {
    pub fn new(label: impl Into<String>, run: impl Into<Callback<()>>) -> Self {
        Self::with(label.into(), Act::Run(run.into()))
    }

    pub fn link(label: impl Into<String>, href: impl Into<String>) -> Self {
        Self::with(label.into(), Act::Go(href.into()))
    }

    fn with(label: String, act: Act) -> Self {
        Self {
            label,
            act,
            icon: None,
            description: None,
            shortcut: None,
            checked: None,
            disabled: None,
            danger: false,
        }
    }

    pub fn icon(self, icon: Icon) -> Self {
        Self { icon: Some(icon), ..self }
    }

    /// One line under the label.
    pub fn describe(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// As `Mod+K`. Whoever gives it listens for it.
    pub fn shortcut(self, shortcut: impl Into<String>) -> Self {
        Self { shortcut: Some(shortcut.into()), ..self }
    }

    /// One of several in its group, of which one is on.
    pub fn checked(self, checked: bool) -> Self {
        Self { checked: Some(checked), ..self }
    }

    /// It can be reached and read, but does nothing; the reason stands in place of its description.
    pub fn disabled(self, reason: impl Into<String>) -> Self {
        Self { disabled: Some(reason.into()), ..self }
    }

    /// Destroys, or stops for good.
    pub fn danger(self) -> Self {
        Self { danger: true, ..self }
    }
}

impl MenuGroup {
    pub fn new(items: Vec<MenuItem>) -> Self {
        Self { title: None, items }
    }

    pub fn titled(title: impl Into<String>, items: Vec<MenuItem>) -> Self {
        Self { title: Some(title.into()), items }
    }
}

pub(super) fn group_view(id: &str, group: MenuGroup, hide: Callback<()>) -> Erased {
    let items = group.items.into_iter().enumerate();
    let items: Vec<_> = items.map(|(n, item)| item_view(format!("{id}-{n}"), item, hide)).collect();
    let heading =
        group.title.clone().map(|title| view! { <p class="menu-title" aria-hidden="true">{title}</p> });
    view! { <div class="menu-group" role="group" aria-label=group.title>{heading} {items}</div> }.erase()
}

fn item_view(description_id: String, item: MenuItem, hide: Callback<()>) -> Erased {
    let MenuItem { label, act, icon, description, shortcut, checked, disabled, danger } = item;
    let is_disabled = disabled.is_some();
    let role = if checked.is_some() { "menuitemradio" } else { "menuitem" };
    let class = if danger { "menu-item danger" } else { "menu-item" };
    let about = disabled.or(description);
    let content = view! {
        <span class="menu-icon">
            {if checked == Some(true) { Some(Icon::Check) } else { icon }.map(Icon::view)}
        </span>
        <span class="menu-label">{label.clone()}</span>
        {shortcut.clone().map(|keys| view! { <span class="menu-keys" aria-hidden="true"><Kbd keys /></span> })}
        {about.clone().map(|about| view! { <span class="menu-about" id=description_id.clone()>{about}</span> })}
    }
    .erase();
    let keys = shortcut.as_deref().map(aria_keys);
    let checked = checked.map(|checked| if checked { "true" } else { "false" });
    let described = about.map(|_| description_id);
    let is_off = is_disabled.then_some("true");
    match act {
        Act::Run(run) => view! {
            <button
                class=class
                type="button"
                role=role
                tabindex="-1"
                aria-label=label
                aria-describedby=described
                aria-keyshortcuts=keys
                aria-checked=checked
                aria-disabled=is_off
                on:click=move |_| {
                    if !is_disabled {
                        hide.run(());
                        run.run(());
                    }
                }
            >
                {content}
            </button>
        }
        .erase(),
        Act::Go(href) => view! {
            <a
                class=class
                role=role
                tabindex="-1"
                href=(!is_disabled).then_some(href)
                aria-label=label
                aria-describedby=described
                aria-keyshortcuts=keys
                aria-checked=checked
                aria-disabled=is_off
                on:click=move |_| hide.run(())
                on:keydown=press_on_space
            >
                {content}
            </a>
        }
        .erase(),
    }
}

/// A link does not answer to the space bar, an item of a menu does.
fn press_on_space(key: KeyboardEvent) {
    if key.key() == " " {
        key.prevent_default();
        if let Some(link) = key.current_target().and_then(|target| target.dyn_into::<HtmlElement>().ok()) {
            link.click();
        }
    }
}

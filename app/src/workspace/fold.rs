//! The sidebar makes room: all of it, or the chats of a project. Each browser remembers it for itself.

use domain::id::ProjectId;
use leptos::{ev::MouseEvent, prelude::*};

use super::api::FoldSidebar;
use crate::{
    cookie, device,
    erased::{Erase, Erased, effect_first},
    form::{Form, Submission},
    icon::Icon,
};

const SIDEBAR: &str = "boocode-sidebar";
const PROJECTS: &str = "boocode-folded";
pub const KEYS: &str = "Mod+B";

/// Whether the sidebar stands at the side of a wide page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    #[default]
    Open,
    Hidden,
}

impl Fold {
    /// As the page's root says it, for the stylesheet.
    pub fn attribute(self) -> Option<&'static str> {
        match self {
            Self::Open => None,
            Self::Hidden => Some("hidden"),
        }
    }

    fn named(name: Option<String>) -> Self {
        if name.as_deref() == Self::Hidden.attribute() { Self::Hidden } else { Self::Open }
    }

    #[cfg(feature = "ssr")]
    pub fn of_this_page() -> Self {
        Self::named(cookie::of_this_page(SIDEBAR))
    }

    /// The server said it; asking the cookie could differ from the page.
    #[cfg(not(feature = "ssr"))]
    pub fn of_this_page() -> Self {
        let root = document().document_element();
        Self::named(root.and_then(|root| root.get_attribute("data-sidebar")))
    }

    /// Has the browser remember it, for a page without scripts.
    #[cfg(feature = "ssr")]
    pub fn send_cookie(self) {
        cookie::send(SIDEBAR, self.attribute());
    }

    fn apply(self) {
        let Some(root) = document().document_element() else { return };
        // What has the focus may be about to go.
        let had_focus = document()
            .active_element()
            .is_some_and(|focused| focused.closest("#sidebar, .sidebar-show").ok().flatten().is_some());
        let shown = match self.attribute() {
            Some(name) => root.set_attribute("data-sidebar", name),
            None => root.remove_attribute("data-sidebar"),
        };
        shown.ok();
        device::set_cookie(SIDEBAR, self.attribute());
        if had_focus {
            let button = if self == Self::Hidden { "sidebar-show" } else { "sidebar-hide" };
            let buttons = crate::ui::parts(&root, button);
            if let Some(button) = buttons.iter().find(|button| button.offset_parent().is_some()) {
                button.focus().ok();
            }
        }
    }
}

/// Setting it changes the page at once and is remembered.
#[derive(Clone, Copy)]
pub struct SidebarFold(pub RwSignal<Fold>);

impl SidebarFold {
    /// To be called once a page.
    pub fn provide() -> Self {
        let fold = RwSignal::new(Fold::of_this_page());
        effect_first(move |is_first| {
            let fold = fold.get();
            if !is_first {
                fold.apply();
            }
        });
        provide_context(Self(fold));
        Self(fold)
    }

    pub fn turn(self) {
        self.0.update(|fold| *fold = if *fold == Fold::Hidden { Fold::Open } else { Fold::Hidden });
    }
}

/// In the sidebar.
#[component]
pub fn HideSidebar() -> impl IntoView {
    button("sidebar-hide", "Hide the sidebar", Fold::Hidden)
}

/// At the top left of what stands beside it; seen only while there is no sidebar.
#[component]
pub fn ShowSidebar() -> impl IntoView {
    button("sidebar-show", "Show the sidebar", Fold::Open)
}

/// A form underneath, for pages without scripts.
fn button(class: &'static str, name: &'static str, to: Fold) -> Erased {
    let submission = Submission::new::<FoldSidebar>();
    let fold = use_context::<SidebarFold>();
    let on_click = move |click: MouseEvent| {
        if let Some(SidebarFold(fold)) = fold {
            click.prevent_default();
            fold.set(to);
        }
    };
    let (is_open, hidden) = if to == Fold::Hidden { ("true", "true") } else { ("false", "false") };
    view! {
        <Form to=submission>
            <input type="hidden" name="hidden" value=hidden />
            <button
                class=format!("icon-button {class}")
                type="submit"
                aria-label=name
                aria-controls="sidebar"
                aria-expanded=is_open
                aria-keyshortcuts=crate::ui::aria_keys(KEYS)
                data-keys=KEYS
                on:click=on_click
            >
                {Icon::PanelLeft.view()}
            </button>
        </Form>
    }
    .erase()
}

/// Whether the list of a project is folded in this browser.
pub fn is_folded(project: ProjectId) -> bool {
    cookie::lists(PROJECTS, &project.to_string())
}

pub fn remember_folded(project: ProjectId, is_folded: bool) {
    cookie::list(PROJECTS, &project.to_string(), is_folded);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_word_hides_the_sidebar() {
        let check = |name: Option<&str>, expected| assert_eq!(Fold::named(name.map(str::to_owned)), expected);
        check(Some("hidden"), Fold::Hidden);
        check(Some("\"><script>"), Fold::Open);
        check(Some(""), Fold::Open);
        check(None, Fold::Open);
    }
}

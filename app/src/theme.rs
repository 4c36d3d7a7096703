//! Light or dark: by the system's setting, or by hand.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::cookie;
use crate::{
    device,
    erased::{Erase, effect_first},
    icon::Icon,
    ui::{Segment, Segmented},
};

const COOKIE: &str = "boocode-theme";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

/// What is chosen. Setting it changes the page at once and is remembered.
#[derive(Clone, Copy)]
pub struct ThemeChoice(pub RwSignal<Theme>);

impl Theme {
    /// As the page's root says it; none for the system's.
    pub fn attribute(self) -> Option<&'static str> {
        match self {
            Self::System => None,
            Self::Light => Some("light"),
            Self::Dark => Some("dark"),
        }
    }

    pub fn name(self) -> &'static str {
        self.attribute().unwrap_or("system")
    }

    pub fn named(name: &str) -> Self {
        match name {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }

    /// The other of the two, for one who sees this; `is_dark` is what the system's is.
    pub fn turned(self, is_dark: bool) -> Self {
        if self.shows_dark(is_dark) { Self::Light } else { Self::Dark }
    }

    /// What a phone paints around the page where the system is light or dark: the canvas of `style/tokens.css`.
    pub fn canvas(self, is_dark: bool) -> &'static str {
        if self.shows_dark(is_dark) { "#161618" } else { "#fdfdfc" }
    }

    fn shows_dark(self, is_dark: bool) -> bool {
        self == Self::Dark || (self == Self::System && is_dark)
    }

    /// Has the browser remember it, for one that runs no scripts.
    #[cfg(feature = "ssr")]
    pub fn send_cookie(self) {
        cookie::send(COOKIE, self.attribute());
    }

    /// What a browser that sends these headers wants.
    #[cfg(feature = "ssr")]
    pub fn asked_for(headers: &axum::http::HeaderMap) -> Self {
        cookie::in_headers(headers, COOKIE).map(|name| Self::named(&name)).unwrap_or_default()
    }
}

impl ThemeChoice {
    /// To be called once a page.
    pub fn provide() {
        let theme = RwSignal::new(of_this_page());
        effect_first(move |is_first| {
            let theme = theme.get();
            if !is_first {
                apply(theme);
            }
        });
        provide_context(Self(theme));
    }
}

/// The element of the page's head that says what is painted around it.
pub fn color_id(is_dark: bool) -> &'static str {
    if is_dark { "color-dark" } else { "color-light" }
}

#[component]
pub fn ThemePicker() -> impl IntoView {
    let ThemeChoice(theme) = expect_context::<ThemeChoice>();
    let segments = [
        (Theme::System, "System", Icon::Monitor),
        (Theme::Light, "Light", Icon::Sun),
        (Theme::Dark, "Dark", Icon::Moon),
    ];
    let segments = segments
        .map(|(theme, label, icon)| Segment { value: theme.name(), label, icon: Some(icon) })
        .to_vec();
    view! {
        <Segmented
            id="theme"
            label="Theme"
            segments
            value=Signal::derive(move || theme.get().name().to_owned())
            on_choose=Callback::new(move |name: String| theme.set(Theme::named(&name)))
        />
    }
    .erase()
}

#[cfg(feature = "ssr")]
pub fn of_this_page() -> Theme {
    let request = use_context::<axum::http::request::Parts>();
    request.map(|request| Theme::asked_for(&request.headers)).unwrap_or_default()
}

/// The server said it; asking the cookie could differ from the page.
#[cfg(not(feature = "ssr"))]
fn of_this_page() -> Theme {
    let root = document().document_element();
    root.and_then(|root| root.get_attribute("data-theme")).map(|name| Theme::named(&name)).unwrap_or_default()
}

fn apply(theme: Theme) {
    let Some(root) = document().document_element() else { return };
    let shown = match theme.attribute() {
        Some(name) => root.set_attribute("data-theme", name),
        None => root.remove_attribute("data-theme"),
    };
    shown.ok();
    for is_dark in [false, true] {
        let color = document().get_element_by_id(color_id(is_dark));
        color.and_then(|color| color.set_attribute("content", theme.canvas(is_dark)).ok());
    }
    device::set_cookie(COOKIE, theme.attribute());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_theme() {
        assert_eq!(Theme::named("\"><script>"), Theme::System);
        for theme in [Theme::System, Theme::Light, Theme::Dark] {
            assert_eq!(Theme::named(theme.name()), theme);
        }
    }

    #[test]
    fn turning_changes_what_is_seen() {
        let check = |theme: Theme, is_dark, expected| assert_eq!(theme.turned(is_dark), expected);
        check(Theme::System, true, Theme::Light);
        check(Theme::System, false, Theme::Dark);
        for is_dark in [true, false] {
            check(Theme::Dark, is_dark, Theme::Light);
            check(Theme::Light, is_dark, Theme::Dark);
        }
    }
}

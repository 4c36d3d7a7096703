//! Light or dark.

use leptos::prelude::*;

use super::pane::Data;
use crate::erased::{Erase, Erased};

pub fn view(_data: Data) -> Erased {
    view! {
        <section class="settings-part" aria-labelledby="theme-title">
            <h3 id="theme-title">"Theme"</h3>
            <p class="settings-help">
                "Light, dark, or as the system has it. This browser remembers it; others have their own."
            </p>
            {picker()}
        </section>
    }
    .erase()
}

#[cfg(feature = "hydrate")]
fn picker() -> Erased {
    view! { <crate::theme::ThemePicker /> }.erase()
}

/// Without scripts, three buttons that send a form each.
#[cfg(not(feature = "hydrate"))]
fn picker() -> Erased {
    use super::api::ChooseTheme;
    use crate::{
        form::{Form, Submission},
        theme::{Theme, ThemeChoice},
    };

    let choose = Submission::new::<ChooseTheme>();
    let chosen =
        use_context::<ThemeChoice>().map(|ThemeChoice(theme)| theme.get_untracked()).unwrap_or_default();
    let button = move |theme: Theme, label: &'static str| {
        let class = if theme == chosen { "button primary" } else { "button" };
        let pressed = if theme == chosen { "true" } else { "false" };
        view! {
            <button class=class type="submit" name="theme" value=theme.name() aria-pressed=pressed>{label}</button>
        }
    };
    view! {
        <Form to=choose class="settings-actions">
            {button(Theme::System, "System")} {button(Theme::Light, "Light")} {button(Theme::Dark, "Dark")}
        </Form>
    }
    .erase()
}

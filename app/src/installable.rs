//! What a browser needs to install BooCode as an app, in the head of the page.

use leptos::{html, prelude::*};

use crate::theme::Theme;

/// The canvas of `style/tokens.css`: what a phone paints around the page.
const LIGHT: &str = "#fdfdfc";
const DARK: &str = "#161618";

pub fn head(theme: Theme) -> impl IntoView {
    let colors = match theme {
        Theme::Light => vec![(None, LIGHT)],
        Theme::Dark => vec![(None, DARK)],
        Theme::System => {
            vec![(Some("(prefers-color-scheme: light)"), LIGHT), (Some("(prefers-color-scheme: dark)"), DARK)]
        }
    };
    let colors = colors
        .into_iter()
        .map(|(media, color)| html::meta().name("theme-color").content(color).attr("media", media));
    // A manifest is fetched without cookies unless this is said, and a proxy in front may want its own.
    view! {
        <link rel="manifest" href="/manifest.webmanifest" crossorigin="use-credentials" />
        <link rel="apple-touch-icon" href="/pkg/icons/apple-touch-icon.png" />
        <meta name="apple-mobile-web-app-title" content="BooCode" />
        {colors.collect_view()}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(theme: Theme) -> String {
        Owner::new_root(None).with(|| head(theme).to_html())
    }

    #[test]
    fn the_colour_follows_the_theme() {
        let check = |theme, expected: &[&str]| {
            let html = rendered(theme);
            assert_eq!(html.matches("theme-color").count(), expected.len(), "{html}");
            expected.iter().for_each(|part| assert!(html.contains(part), "{html}"));
        };
        check(Theme::Light, &[LIGHT]);
        check(Theme::Dark, &[DARK]);
        check(Theme::System, &["(prefers-color-scheme: light)", "(prefers-color-scheme: dark)"]);
    }

    #[test]
    fn the_colours_are_those_of_the_canvas() {
        let tokens = include_str!("../../style/tokens.css");
        assert!(tokens.contains(&format!("--canvas: light-dark({LIGHT}, {DARK})")));
        let manifest = include_str!("../../style/public/manifest.webmanifest");
        assert_eq!(manifest.matches(LIGHT).count(), 2, "the background and the theme of the manifest");
    }
}

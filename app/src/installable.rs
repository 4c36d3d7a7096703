//! What a browser needs to install BooCode as an app, in the head of the page.

use leptos::{html, prelude::*};

use crate::theme::{Theme, color_id};

pub fn head(theme: Theme) -> impl IntoView {
    // One for each, whatever is chosen, so that another choice changes both.
    let color = |(is_dark, media)| {
        let color = html::meta().name("theme-color").attr("media", media).content(theme.canvas(is_dark));
        color.id(color_id(is_dark))
    };
    let colors =
        [(false, "(prefers-color-scheme: light)"), (true, "(prefers-color-scheme: dark)")].map(color);
    // A manifest is fetched without cookies unless this is said, and a proxy in front may want its own.
    view! {
        <link rel="manifest" href="/manifest.webmanifest" crossorigin="use-credentials" />
        <link rel="apple-touch-icon" href="/pkg/icons/apple-touch-icon.png" />
        <meta name="apple-mobile-web-app-title" content="BooCode" />
        {colors}
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
        let check = |theme, expected: [&str; 2]| {
            let html = rendered(theme);
            for (scheme, color) in ["light", "dark"].into_iter().zip(expected) {
                let meta = html
                    .split("<meta")
                    .find(|meta| meta.contains(&format!("prefers-color-scheme: {scheme}")));
                assert!(meta.is_some_and(|meta| meta.contains(color)), "{scheme}: {html}");
            }
        };
        let (light, dark) = (Theme::Light.canvas(false), Theme::Dark.canvas(false));
        check(Theme::Light, [light, light]);
        check(Theme::Dark, [dark, dark]);
        check(Theme::System, [light, dark]);
    }

    #[test]
    fn the_colours_are_those_of_the_canvas() {
        let tokens = include_str!("../../style/tokens.css");
        let (light, dark) = (Theme::System.canvas(false), Theme::System.canvas(true));
        assert!(tokens.contains(&format!("--canvas: light-dark({light}, {dark})")));
        let manifest = include_str!("../../style/public/manifest.webmanifest");
        assert_eq!(manifest.matches(light).count(), 2, "the background and the theme of the manifest");
    }
}

use axum::{
    http::StatusCode,
    response::{Html, IntoResponse as _, Response},
};

use app::theme::Theme;

use crate::http::guard::local_path;

pub struct Page<'a> {
    pub next: &'a str,
    pub error: Option<&'a str>,
    pub theme: Theme,
}

impl Page<'_> {
    pub fn into_response(self, status: StatusCode) -> Response {
        super::kept_private((status, Html(self.html())).into_response())
    }

    fn html(&self) -> String {
        let theme = self.theme.attribute().map(|name| format!(r#" data-theme="{name}""#)).unwrap_or_default();
        let next = escape(local_path(self.next));
        let error = self
            .error
            .map(|error| format!(r#"<p class="notice error" role="alert">{}</p>"#, escape(error)))
            .unwrap_or_default();
        format!(
            r#"<!DOCTYPE html>
<html lang="en"{theme}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>Log in · BooCode</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="manifest" href="/manifest.webmanifest" crossorigin="use-credentials">
<link rel="apple-touch-icon" href="/pkg/icons/apple-touch-icon.png">
<link rel="stylesheet" href="/pkg/boocode.css">
</head>
<body>
<main class="login">
<p class="brand">BooCode</p>
<form class="card" method="post" action="/login">
<h1>Log in</h1>
{error}
<p>Open the link that BooCode printed when it started. Each link works once; <code>boocode link</code> prints a fresh one, and so does Settings, Pair a phone, in a browser that is logged in.</p>
<input type="hidden" name="next" value="{next}">
<label class="field">
<span class="field-label">Link or token</span>
<input name="token" required autofocus autocomplete="off" autocapitalize="none" spellcheck="false">
</label>
<button class="button primary" type="submit">Log in</button>
</form>
</main>
</body>
</html>
"#
        )
    }
}

fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_text() {
        let attack = r#"/"><script>alert(1)</script>"#;
        assert!(format!(r#"value="{attack}""#).contains("<script>"), "control: unescaped, it breaks out");
        let html = Page { next: attack, error: Some(attack), theme: Theme::Dark }.html();
        assert!(!html.contains("<script>"));
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    }

    #[test]
    fn the_page_has_the_theme_that_was_chosen() {
        let html = |theme| Page { next: "/", error: None, theme }.html();
        assert!(html(Theme::Dark).contains(r#"<html lang="en" data-theme="dark">"#));
        assert!(html(Theme::System).contains(r#"<html lang="en">"#));
    }

    #[test]
    fn the_policy_allows_all_that_the_page_has() {
        let html = Page { next: "/", error: Some("no"), theme: Theme::Dark }.html();
        for forbidden in ["<script", "<style", "style=", "onclick", "http://", "https://"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
    }
}

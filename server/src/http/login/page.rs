use axum::{
    http::StatusCode,
    response::{Html, IntoResponse as _, Response},
};

use crate::http::guard::local_path;

pub struct Page<'a> {
    pub next: &'a str,
    pub error: Option<&'a str>,
}

impl Page<'_> {
    pub fn into_response(self, status: StatusCode) -> Response {
        super::kept_private((status, Html(self.html())).into_response())
    }

    fn html(&self) -> String {
        let next = escape(local_path(self.next));
        let error = self
            .error
            .map(|error| format!(r#"<p class="notice error" role="alert">{}</p>"#, escape(error)))
            .unwrap_or_default();
        format!(
            r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in · BooCode</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/pkg/boocode.css">
</head>
<body>
<main class="login">
<form class="card" method="post" action="/login">
<h1>BooCode</h1>
{error}
<p>Open the link that BooCode printed when it started. Each link works once; <code>boocode link</code> prints a fresh one.</p>
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
        let html = Page { next: attack, error: Some(attack) }.html();
        assert!(!html.contains("<script>"));
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    }

    #[test]
    fn the_policy_allows_all_that_the_page_has() {
        let html = Page { next: "/", error: Some("no") }.html();
        for forbidden in ["<script", "<style", "style=", "onclick", "http://", "https://"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
    }
}

use leptos::prelude::*;

use super::*;

fn html(text: &str) -> String {
    let text = text.to_owned();
    Owner::new().with(|| view! { <Markdown text=Signal::stored(text)/> }.to_html())
}

#[track_caller]
fn check(text: &str, part: &str) {
    // Leptos parts neighbouring pieces of text by comments.
    let html = html(text).replace("<!>", "").replace("<!---->", "").replace("<!--hk-->", "");
    assert!(html.contains(part), "{part} is not in {html}");
}

#[test]
fn nodes_become_elements() {
    check("a **b** `c`", "<p>a <strong>b</strong> <code>c</code></p>");
    check("# One", "<h3 class=\"heading-1\">One</h3>");
    check("###### Six", "<h6 class=\"heading-6\">Six</h6>");
    check("- a\n- b", "<ul class=\"tight\"><li>a</li><li>b</li></ul>");
    check("4. a", "<ol start=\"4\" class=\"tight\"><li>a</li></ol>");
    check("- a\n\n- b", "<ul class=\"loose\"><li><p>a</p></li>");
    check("> a", "<blockquote><p>a</p></blockquote>");
    check("a  \nb", "<p>a<br>b</p>");
    check(
        "- [x] a",
        "<li class=\"task\"><input type=\"checkbox\" disabled checked aria-label=\"Done\"><div>a</div>",
    );
    check("|a|\n|-:|\n|b|", "<td class=\"align-right\">b</td>");
    check("```rust\n\n let a;\n```", "<code>\n let a;\n</code>");
    check("```rust\na\n```", "<span class=\"code-lang\">rust</span>");
    check("```rust\na\n```", "aria-label=\"Copy code\"");
}

#[test]
fn links_give_nothing_away() {
    check(
        "[a](https://x.example/?b=\"c\")",
        "<p>a</p>", // a quote is no part of an address
    );
    check(
        "[a](https://x.example/?b&c)",
        "href=\"https://x.example/?b&amp;c\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">a</a>",
    );
}

#[test]
fn hostile_text_stays_text() {
    let hostile = "<script>alert(1)</script>\n\nx <img src=x onerror=alert(1)> [a](javascript:alert(1)) \
                   ![b](https://x.example/p.png)\n\n```<b>\n<script>alert(1)</script>\n```\n\n`<script>`";
    let html = html(hostile);
    for forbidden in ["<script", "<img", "javascript:", "style=", "<b>"] {
        assert!(!html.contains(forbidden), "{forbidden} in {html}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
    // The control: put into a page as it came, the same text does hold them.
    let unguarded = Owner::new().with(|| view! { <div inner_html=hostile></div> }.to_html());
    assert!(unguarded.contains("<script>alert(1)</script>") && unguarded.contains("<img src=x"));
}

//! A page as text: what a person would read of it.

/// What is in these is for machines.
const UNREAD: [&str; 5] = ["script", "style", "noscript", "svg", "template"];
/// These begin a line.
const BLOCKS: [&str; 18] = [
    "p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "section", "article", "header",
    "footer", "table", "ul",
];

pub fn text(html: &str) -> String {
    let mut text = String::with_capacity(html.len() / 2);
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        text.push_str(&decoded(&rest[..start]));
        let inside = &rest[start + 1..];
        let Some(end) = inside.find('>') else { return tidied(&text) };
        let name = tag(&inside[..end]);
        rest = &inside[end + 1..];
        if UNREAD.contains(&name.as_str()) && !inside.starts_with('/') {
            rest = after(rest, &name);
        } else if inside.starts_with("!--") {
            rest = inside.split_once("-->").map_or("", |(_, after)| after);
        }
        if BLOCKS.contains(&name.trim_start_matches('/')) {
            text.push('\n');
        }
    }
    text.push_str(&decoded(rest));
    tidied(&text)
}

fn tag(inside: &str) -> String {
    let end = inside.find(|c: char| c.is_whitespace()).unwrap_or(inside.len());
    inside[..end].trim_end_matches('/').to_ascii_lowercase()
}

/// What follows the end of this element. Nothing of what comes behind it is looked at, or a page of many would take
/// the square of its length.
fn after<'a>(rest: &'a str, name: &str) -> &'a str {
    let is_end = |at: &usize| {
        let tag = rest.as_bytes().get(at + 2..at + 2 + name.len());
        tag.is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes()))
    };
    let end = rest.match_indices("</").map(|(at, _)| at).find(is_end);
    end.and_then(|at| rest[at..].split_once('>')).map_or("", |(_, after)| after)
}

fn decoded(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

/// No empty lines beyond one, no space at the ends.
fn tidied(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if !(line.is_empty() && lines.last().is_none_or(String::is_empty)) {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_would_read() {
        let check = |html: &str, expected: &str| assert_eq!(text(html), expected, "{html}");
        check("<h1>Title</h1><p>One &amp; <b>two</b></p>", "Title\n\nOne & two");
        check("a<script>var x = '<p>';</script>b<STYLE>p{}</STYLE>c", "abc");
        check("<!-- <p>no</p> -->yes", "yes");
        check("<p>a</p>\n\n\n<p>b", "a\n\nb");
        check("1 &lt; 2 &amp;lt;", "1 < 2 &lt;");
        check("cut <b", "cut");
        check("<script>never closed", "");
        check("plain", "plain");
        check("a<svg></svgx>b", "ab");
    }

    /// The test itself would take minutes.
    #[test]
    fn a_hostile_page_takes_the_time_of_its_length() {
        let page = "<svg></SVG>x".repeat(2 * 1024 * 1024 / 12);
        assert!(text(&page).bytes().all(|byte| byte == b'x'));
    }
}

//! Bare web addresses in text become links, as people know it from GitHub.

use super::{Href, Inline, href::HREF_BYTES_MAX};

/// Replaces addresses in the text nodes of one level. Nested nodes went through here when they were closed.
pub(super) fn link_addresses(content: Vec<Inline>) -> Vec<Inline> {
    if !content.iter().any(|node| matches!(node, Inline::Text(text) if text.contains("://"))) {
        return content;
    }
    let mut linked = Vec::with_capacity(content.len() + 2);
    for node in content {
        match node {
            Inline::Text(text) => split(&text, &mut linked),
            other => linked.push(other),
        }
    }
    linked
}

fn split(text: &str, out: &mut Vec<Inline>) {
    let mut plain_from = 0;
    let mut look_from = 0;
    while let Some(found) = text[look_from..].find("://").map(|at| look_from + at) {
        look_from = found + "://".len();
        let Some(start) = scheme_start(text, found).filter(|start| *start >= plain_from) else {
            continue;
        };
        let end = start + address_len(&text[start..]);
        let Some(href) = text.get(start..end).and_then(Href::parse) else {
            continue;
        };
        if plain_from < start {
            out.push(Inline::Text(text[plain_from..start].to_owned()));
        }
        out.push(Inline::Link { content: vec![Inline::Text(href.as_str().to_owned())], href });
        plain_from = end;
        look_from = end;
    }
    if plain_from < text.len() {
        out.push(Inline::Text(text[plain_from..].to_owned()));
    }
}

/// Where `http` or `https` begins that ends at the colon, provided it is a word of its own.
fn scheme_start(text: &str, colon: usize) -> Option<usize> {
    let before = &text[..colon];
    let start = ["https", "http"].iter().find_map(|scheme| {
        let start = before.len().checked_sub(scheme.len())?;
        before.get(start..)?.eq_ignore_ascii_case(scheme).then_some(start)
    })?;
    (!before[..start].ends_with(char::is_alphanumeric)).then_some(start)
}

/// An address ends at a space; punctuation that ends the sentence and a parenthesis around it are not part of it.
fn address_len(text: &str) -> usize {
    // Never looks farther than an address may reach, or a text made of schemes would be read over and over.
    let near = &text[..text.floor_char_boundary(HREF_BYTES_MAX + 1)];
    let mut address = near.split([' ', '\t', '\n', '<', '>', '"', '`']).next().unwrap_or_default();
    while let Some(last) = address.chars().next_back() {
        let trailing = match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' | ']' | '}' => true,
            ')' => address.matches(')').count() > address.matches('(').count(),
            _ => false,
        };
        if !trailing {
            break;
        }
        address = &address[..address.len() - last.len_utf8()];
    }
    address.len()
}

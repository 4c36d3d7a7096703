//! Moving among the parts of a widget that is one stop of the Tab key.

use leptos::{
    ev::KeyboardEvent,
    prelude::document,
    wasm_bindgen::JsCast,
    web_sys::{Element, HtmlElement},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Row,
    Column,
}

/// Whether the key belongs to a word that is being composed, as in Chinese or Japanese. To Safari the Enter that ends
/// it comes after the end, and only this code tells.
pub fn is_composing(key: &KeyboardEvent) -> bool {
    const COMPOSING: u32 = 229;
    key.is_composing() || key.key_code() == COMPOSING
}

/// Whether another key is held with it, which makes it mean something else: Shift with Enter is a new line.
pub fn is_held_with(key: &KeyboardEvent) -> bool {
    key.ctrl_key() || key.alt_key() || key.meta_key() || key.shift_key()
}

/// Moves the focus among the elements of a class as arrow keys, Home and End ask for. Returns the one that has it
/// now.
pub fn rove(event: &KeyboardEvent, within: &Element, class: &str, axis: Axis) -> Option<HtmlElement> {
    let parts = parts(within, class);
    let focused = document().active_element();
    let at = parts.iter().position(|part| focused.as_ref() == Some(part.as_ref()));
    let to = parts.get(step(&event.key(), axis, at, parts.len())?)?;
    event.prevent_default();
    to.focus().ok()?;
    Some(to.clone())
}

/// The elements of a class, in the order of the document.
pub fn parts(within: &Element, class: &str) -> Vec<HtmlElement> {
    let found = within.get_elements_by_class_name(class);
    (0..found.length()).filter_map(|n| found.item(n)?.dyn_into().ok()).collect()
}

/// Where a key leads in a list of `len`; none for keys that lead nowhere. Past the end it begins again.
pub fn step(key: &str, axis: Axis, at: Option<usize>, len: usize) -> Option<usize> {
    let last = len.checked_sub(1)?;
    let (back, forth) = match axis {
        Axis::Row => ("ArrowLeft", "ArrowRight"),
        Axis::Column => ("ArrowUp", "ArrowDown"),
    };
    match (key, at) {
        ("Home", _) => Some(0),
        ("End", _) => Some(last),
        (key, None) if key == forth => Some(0),
        (key, None) if key == back => Some(last),
        (key, Some(at)) if key == forth => Some(if at >= last { 0 } else { at + 1 }),
        (key, Some(at)) if key == back => Some(if at == 0 { last } else { (at - 1).min(last) }),
        _ => None,
    }
}

/// The next part, after the one at `from` and round the end, whose words begin with what was typed.
pub fn typed_ahead(words: &[String], typed: &str, from: usize) -> Option<usize> {
    let typed = typed.to_ascii_lowercase();
    let order = (0..words.len()).map(|n| (from + n) % words.len());
    order.into_iter().find(|&n| words[n].trim_start().to_ascii_lowercase().starts_with(&typed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_along_their_axis_and_round_the_end() {
        let check = |key, axis, at, expected| assert_eq!(step(key, axis, at, 3), expected, "{key} {at:?}");
        check("ArrowDown", Axis::Column, Some(0), Some(1));
        check("ArrowDown", Axis::Column, Some(2), Some(0));
        check("ArrowUp", Axis::Column, Some(0), Some(2));
        check("ArrowDown", Axis::Column, None, Some(0));
        check("ArrowUp", Axis::Column, None, Some(2));
        check("ArrowRight", Axis::Row, Some(1), Some(2));
        check("ArrowLeft", Axis::Row, Some(9), Some(2));
        check("ArrowRight", Axis::Column, Some(1), None);
        check("Home", Axis::Row, Some(2), Some(0));
        check("End", Axis::Column, None, Some(2));
        check("a", Axis::Column, Some(1), None);
        assert_eq!(step("ArrowDown", Axis::Column, None, 0), None);
    }

    #[test]
    fn typing_finds_the_next_that_begins_so() {
        let words = ["Chat", "Coder", "Settings", "Close"].map(String::from);
        let check = |typed, from, expected| assert_eq!(typed_ahead(&words, typed, from), expected, "{typed}");
        check("c", 0, Some(0));
        check("c", 1, Some(1));
        check("CL", 1, Some(3));
        check("c", 2, Some(3));
        check("ch", 3, Some(0));
        check("x", 0, None);
        assert_eq!(typed_ahead(&[], "a", 0), None);
    }
}

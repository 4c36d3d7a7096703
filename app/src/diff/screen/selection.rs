//! What is copied of a selection: the code alone.

use leptos::prelude::{document, window};
use wasm_bindgen::JsCast as _;
use web_sys::{Element, Range};

/// The selected text of rows, one side where there are two, or nothing where no code is selected.
pub fn copied(rows: &Element) -> Option<String> {
    let selection = window().get_selection().ok()??;
    if selection.is_collapsed() || selection.range_count() == 0 {
        return None;
    }
    let range = selection.get_range_at(0).ok()?;
    let anchor = selection.anchor_node()?;
    let anchor = anchor.dyn_ref::<Element>().cloned().or_else(|| anchor.parent_element())?;
    if !rows.contains(Some(&anchor)) {
        return None;
    }
    // The last cell is the right side, and the only one of a unified view.
    let is_left =
        anchor.closest("code.t").ok().flatten().is_some_and(|cell| cell.next_element_sibling().is_some());
    let mut lines: Vec<String> = Vec::new();
    let list = rows.children();
    for row in (0..list.length()).filter_map(|n| list.item(n)) {
        if !row.class_list().contains("ln") || !range.intersects_node(&row).unwrap_or_default() {
            continue;
        }
        let cells = row.query_selector_all("code.t").ok()?;
        let cell = cells.item(if is_left { 0 } else { cells.length().saturating_sub(1) })?;
        let cell = cell.dyn_into::<Element>().ok()?;
        let text = within(&range, &cell)?;
        match lines.last_mut() {
            Some(last) if row.has_attribute("data-on") => last.push_str(&text),
            _ => lines.push(text),
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The part of a cell that a range covers.
fn within(range: &Range, cell: &Element) -> Option<String> {
    let part = document().create_range().ok()?;
    part.select_node_contents(cell).ok()?;
    if range.compare_boundary_points(Range::START_TO_START, &part).ok()? > 0 {
        part.set_start(&range.start_container().ok()?, range.start_offset().ok()?).ok()?;
    }
    if range.compare_boundary_points(Range::END_TO_END, &part).ok()? < 0 {
        part.set_end(&range.end_container().ok()?, range.end_offset().ok()?).ok()?;
    }
    Some(part.to_string().into())
}

//! Keys, presses and the pointer on the rows: one listener for all of them.

use domain::diff::{Expanded, Kind, Seek, Side};
use leptos::{prelude::*, task::spawn_local, wasm_bindgen::JsCast as _, web_sys};
use wasm_bindgen::closure::Closure;
use web_sys::{ClipboardEvent, Element, Event, HtmlElement, KeyboardEvent};

use super::{screen, state::Diff};

/// How many lines a press shows more.
const MORE_LINES: u32 = 10;
/// As good as all.
const ALL_LINES: u32 = 1_000_000;

/// For as long as the elements are there.
pub fn listen(diff: Diff, root: &Element) {
    let find = |class: &str| root.query_selector(class).ok().flatten()?.dyn_into::<HtmlElement>().ok();
    let (Some(scroll), Some(grid), Some(rows)) =
        (find(".diff-scroll"), find(".diff-size"), find(".diff-rows"))
    else {
        return;
    };
    on(&scroll, "scroll", move |_| {
        diff.with_screen(screen::Screen::scrolled);
    });
    on(&scroll, "click", move |event| clicked(diff, &event));
    on(&grid, "keydown", move |event| {
        if let Some(key) = event.dyn_ref::<KeyboardEvent>() {
            pressed(diff, key);
        }
    });
    let copying = rows.clone();
    on(&rows, "copy", move |event| copy(&copying, &event));
    if let Some(plus) = find(".diff-plus") {
        on(&rows, "pointerover", move |event| {
            if let Some(row) = row_element(&event).filter(|row| row.class_list().contains("ln")) {
                point(&plus, &row, target(&event));
            }
        });
    }
    // A selection stays on the side where it began.
    let sided = rows.clone();
    on(&rows, "pointerdown", move |event| {
        let cell = target(&event).and_then(|target| target.closest("code.t").ok().flatten());
        let is_left = cell.is_some_and(|cell| cell.next_element_sibling().is_some());
        sided.set_attribute("data-side", if is_left { "left" } else { "right" }).ok();
    });
}

fn on(element: &HtmlElement, name: &str, run: impl FnMut(Event) + 'static) {
    let call = Closure::<dyn FnMut(Event)>::new(run);
    element.add_event_listener_with_callback(name, call.as_ref().unchecked_ref()).ok();
    let kept = send_wrapper::SendWrapper::new(call);
    on_cleanup(move || drop(kept));
}

fn target(event: &Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

fn row_element(event: &Event) -> Option<Element> {
    target(event)?.closest(".diff-row").ok().flatten()
}

fn row_of(element: &Element) -> Option<u32> {
    element.id().rsplit_once('-')?.1.parse().ok()
}

/// Puts the button for a comment beside a row: where both sides are in it, on the one that is pointed at.
fn point(plus: &HtmlElement, row: &Element, at: Option<Element>) {
    let Some(number) = row_of(row) else { return };
    let Some(parent) = plus.offset_parent().or_else(|| plus.parent_element()) else { return };
    let (own, around) = (row.get_bounding_client_rect(), parent.get_bounding_client_rect());
    let top = own.top() - around.top() + f64::from(parent.scroll_top());
    plus.style().set_property("top", &format!("{}px", top as i64)).ok();
    let cells = row.children();
    let is_in = |cell: u32| cells.item(cell).is_some_and(|cell| cell.contains(at.as_deref()));
    let is_split = cells.length() == 4;
    let is_left = is_split && (is_in(0) || is_in(1));
    let text = cells.item(if is_left { 1 } else { 3 }).filter(|_| is_split);
    match text.map(|text| text.get_bounding_client_rect().left() - around.left()) {
        Some(left) => plus.style().set_property("inset-inline-start", &format!("{}px", left as i64)).ok(),
        None => plus.style().remove_property("inset-inline-start").ok().map(drop),
    };
    plus.set_attribute("data-side", if is_left { "left" } else { "right" }).ok();
    plus.set_attribute("data-row", &number.to_string()).ok();
    plus.remove_attribute("hidden").ok();
}

fn clicked(diff: Diff, event: &Event) {
    let Some(target) = target(event) else { return };
    if let Ok(Some(plus)) = target.closest(".diff-plus") {
        if let Some(row) = plus.get_attribute("data-row").and_then(|row| row.parse().ok()) {
            let is_left = plus.get_attribute("data-side").as_deref() == Some("left");
            diff.comment_on(row, if is_left { Side::Old } else { Side::New });
        }
        return;
    }
    let Some(element) = row_element(event) else { return };
    let act = target.closest("[data-act]").ok().flatten().and_then(|act| act.get_attribute("data-act"));
    let stuck = element.get_attribute("data-file").and_then(|file| file.parse::<usize>().ok());
    let row = match stuck {
        Some(file) => diff.start_of(file),
        None => row_of(&element),
    };
    let Some(row) = row else { return };
    match act.as_deref() {
        Some(act @ ("path" | "patch")) => copy_of_file(diff, row, act),
        Some(act) => expand(diff, row, act),
        None if stuck.is_some() => diff.go(row),
        // Where it is, so that a selection can go on.
        None => {
            diff.current.set(row);
            diff.with_screen(|screen| screen.mark(row));
        }
    }
}

fn copy_of_file(diff: Diff, row: u32, act: &str) {
    let Some(file) = diff.with_screen(|screen| screen.file_of(row)) else { return };
    if act == "patch" {
        diff.copy_patch(file as u32);
    } else if let Some(path) = diff.with_screen(|screen| screen.path_of(file)).flatten() {
        spawn_local(async move { diff.copy(path, "Path copied").await });
    }
}

fn expand(diff: Diff, row: u32, act: &str) {
    let gap = diff.with_screen(|screen| {
        screen.with_row(row, |file, text| (text.kind == Kind::Fold).then_some((file as u32, text.old)))
    });
    let Some((file, gap)) = gap.flatten().flatten() else { return };
    let (top, bottom) = match act {
        "down" => (MORE_LINES, 0),
        "up" => (0, MORE_LINES),
        _ => (ALL_LINES, 0),
    };
    diff.expand(Expanded { file, gap, top, bottom });
}

fn pressed(diff: Diff, key: &KeyboardEvent) {
    if (key.ctrl_key() || key.meta_key()) && key.key() == "f" {
        key.prevent_default();
        diff.is_finding.set(true);
    }
    if key.ctrl_key() || key.meta_key() || key.alt_key() {
        return;
    }
    let current = diff.current.get_untracked();
    let last = diff.with_screen(screen::Screen::row_count).unwrap_or_default().saturating_sub(1);
    let page = diff.with_screen(screen::Screen::page).unwrap_or_default();
    match key.key().as_str() {
        "j" | "ArrowDown" => diff.go((current + 1).min(last)),
        "k" | "ArrowUp" => diff.go(current.saturating_sub(1)),
        "PageDown" => diff.go((current + page).min(last)),
        "PageUp" => diff.go(current.saturating_sub(page)),
        "Home" => diff.go(0),
        "End" => diff.go(last),
        "n" => diff.seek(Seek::NextChange),
        "p" => diff.seek(Seek::PreviousChange),
        "]" => diff.turn_file(true),
        "[" => diff.turn_file(false),
        "/" => diff.is_finding.set(true),
        "c" => diff.comment_on(current, Side::New),
        "y" => copy_of_file(diff, current, "path"),
        "Y" => copy_of_file(diff, current, "patch"),
        "Enter" => expand(diff, current, "all"),
        _ => return,
    }
    key.prevent_default();
}

fn copy(rows: &HtmlElement, event: &Event) {
    let Some(event) = event.dyn_ref::<ClipboardEvent>() else { return };
    if let Some((text, data)) = screen::copied(rows).zip(event.clipboard_data())
        && data.set_data("text/plain", &text).is_ok()
    {
        event.prevent_default();
    }
}

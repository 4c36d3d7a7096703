//! Where something that floats goes: beside what it belongs to, inside the window.

use leptos::{
    prelude::document,
    web_sys::{Element, HtmlElement},
};

use crate::device;

/// Between it and what it belongs to.
const GAP_PX: f64 = 6.0;
/// Between it and the window's edge.
const MARGIN_PX: f64 = 8.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Align {
    Start,
    Centre,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edges {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    pub width: f64,
    pub height: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub left: f64,
    pub top: f64,
    pub height_max: f64,
}

/// Below, unless only above there is room for all of it, or at least more.
pub fn beside(anchor: Edges, size: Size, window: Size, align: Align) -> Place {
    let below = window.height - anchor.bottom - GAP_PX - MARGIN_PX;
    let above = anchor.top - GAP_PX - MARGIN_PX;
    let is_below = size.height <= below || below >= above;
    let height_max = if is_below { below } else { above }.max(0.0);
    let top =
        if is_below { anchor.bottom + GAP_PX } else { anchor.top - GAP_PX - size.height.min(height_max) };
    let wanted = match align {
        Align::Centre => (anchor.left + anchor.right - size.width) / 2.0,
        Align::Start if anchor.left + size.width <= window.width - MARGIN_PX => anchor.left,
        Align::Start => anchor.right - size.width,
    };
    let left = wanted.min(window.width - size.width - MARGIN_PX).max(MARGIN_PX);
    Place { left, top, height_max }
}

/// Sizes go through the CSSOM: the page's policy forbids `style` attributes.
pub fn put(floating: &HtmlElement, anchor: &Element, align: Align) {
    let style = floating.style();
    // What it was given for another place must not be measured.
    style.remove_property("max-height").ok();
    let size =
        Size { width: f64::from(floating.offset_width()), height: f64::from(floating.offset_height()) };
    let (Some(anchor), Some(root)) = (device::edges(anchor), document().document_element()) else { return };
    let window = Size { width: f64::from(root.client_width()), height: f64::from(root.client_height()) };
    let place = beside(anchor, size, window, align);
    for (name, value) in [("left", place.left), ("top", place.top), ("max-height", place.height_max)] {
        // Whole pixels: half ones blur text, and printing floats costs the page more bytes than it tells.
        style.set_property(name, &format!("{}px", value as i32)).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Size = Size { width: 400.0, height: 800.0 };

    fn check(left: f64, top: f64, size: (f64, f64), align: Align, expected: (f64, f64, f64)) {
        let anchor = Edges { left, top, right: left + 40.0, bottom: top + 40.0 };
        let (left, top, height_max) = expected;
        let place = beside(anchor, Size { width: size.0, height: size.1 }, WINDOW, align);
        assert_eq!(place, Place { left, top, height_max });
    }

    #[test]
    fn it_opens_where_there_is_room() {
        check(20.0, 100.0, (200.0, 300.0), Align::Start, (20.0, 146.0, 646.0));
        check(20.0, 700.0, (200.0, 300.0), Align::Start, (20.0, 394.0, 686.0));
        // No room for all of it: the greater part, and it scrolls.
        check(20.0, 300.0, (200.0, 900.0), Align::Start, (20.0, 346.0, 446.0));
        check(20.0, 500.0, (200.0, 900.0), Align::Start, (20.0, 8.0, 486.0));
    }

    #[test]
    fn it_stays_inside_the_window() {
        check(350.0, 100.0, (200.0, 10.0), Align::Start, (190.0, 146.0, 646.0));
        check(0.0, 100.0, (200.0, 10.0), Align::Start, (8.0, 146.0, 646.0));
        check(10.0, 100.0, (200.0, 10.0), Align::Centre, (8.0, 146.0, 646.0));
        check(180.0, 100.0, (100.0, 10.0), Align::Centre, (150.0, 146.0, 646.0));
        // Wider than the window: the start is what is read first.
        check(180.0, 100.0, (500.0, 10.0), Align::Start, (8.0, 146.0, 646.0));
    }
}

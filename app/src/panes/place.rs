//! Where things lie in the frame of the panes.
//!
//! The server may not write `style=`, so it names whole percents that the stylesheet knows; the browser then
//! sets the exact place.

use domain::layout::Rect;
use leptos::{html::ElementType, prelude::*};

const WHOLE: u64 = 1_000_000;

/// Left, top, width and height in whole percents. Edges are rounded, so that neighbours still touch.
pub fn percents(rect: Rect) -> [u32; 4] {
    let percent = |part: u32| ((u64::from(part) * 100 + WHOLE / 2) / WHOLE) as u32;
    let (left, top) = (percent(rect.left), percent(rect.top));
    let (right, bottom) = (percent(rect.left + rect.width), percent(rect.top + rect.height));
    [left, top, right - left, bottom - top]
}

/// Keeps an element at its exact place.
#[cfg(feature = "hydrate")]
pub fn keep<E>(element: NodeRef<E>, rect: Signal<Option<Rect>>)
where
    E: ElementType + 'static,
    E::Output: wasm_bindgen::JsCast + Clone + 'static,
{
    use wasm_bindgen::JsCast as _;

    use crate::erased::effect;
    effect(move || {
        let (Some(element), Some(rect)) = (element.get(), rect.get()) else { return };
        let style = element.unchecked_into::<web_sys::HtmlElement>().style();
        for (name, part) in
            [("left", rect.left), ("top", rect.top), ("width", rect.width), ("height", rect.height)]
        {
            // By whole numbers: printing floats would cost the page more bytes than it tells.
            style.set_property(name, &format!("{}.{:04}%", part / 10_000, part % 10_000)).ok();
        }
    });
}

#[cfg(not(feature = "hydrate"))]
pub fn keep<E: ElementType + 'static>(_element: NodeRef<E>, _rect: Signal<Option<Rect>>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_touch_in_whole_percents() {
        let check = |left, width, expected: (u32, u32)| {
            let [left, top, width, height] = percents(Rect { left, top: 0, width, height: 1_000_000 });
            assert_eq!(((left, width), (top, height)), (expected, (0, 100)));
        };
        check(0, 333_333, (0, 33));
        check(333_333, 333_333, (33, 34));
        check(666_666, 333_334, (67, 33));
    }
}

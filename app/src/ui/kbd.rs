//! Keys, as people know them from their keyboards.

use leptos::prelude::*;

use crate::{
    device,
    erased::{Erase, Erased, effect},
};

/// A shortcut, written `Mod+Shift+K`. What is on those keys depends on the machine in front of the reader, which the
/// server does not know: the stylesheet writes it, see [`know_keyboard`].
#[component]
pub fn Kbd(#[prop(into)] keys: String) -> impl IntoView {
    let parts: Vec<_> = keys.split('+').map(key).collect();
    view! { <kbd class="kbd">{parts}</kbd> }.erase()
}

/// To be called once a page: turns Ctrl into ⌘, and Alt into ⌃⌥, where the keyboard has those.
pub fn know_keyboard() {
    effect(|| {
        if let (true, Some(root)) = (device::is_mac(), document().document_element()) {
            root.set_attribute("data-mac", "").ok();
        }
    });
}

fn key(name: &str) -> Erased {
    let special = match name {
        "Mod" => "key mod",
        "Shift" => "key shift",
        "Alt" => "key alt",
        _ => return view! { <span class="key">{shown(name).to_owned()}</span> }.erase(),
    };
    view! { <span class=special></span> }.erase()
}

fn shown(name: &str) -> &str {
    match name {
        "ArrowUp" => "↑",
        "ArrowDown" => "↓",
        "ArrowLeft" => "←",
        "ArrowRight" => "→",
        "Enter" => "↵",
        "Escape" => "Esc",
        name => name,
    }
}

/// The same for `aria-keyshortcuts`, which names both machines' keys.
pub fn aria_keys(keys: &str) -> String {
    let others = keys.replace("Mod+", "Control+");
    let mac = keys.replace("Alt+", "Control+Alt+").replace("Mod+", "Meta+");
    if others == mac { others } else { format!("{others} {mac}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortcut_names_the_keys_of_both_machines() {
        assert_eq!(aria_keys("Mod+Shift+K"), "Control+Shift+K Meta+Shift+K");
        assert_eq!(aria_keys("Alt+Shift+ArrowLeft"), "Alt+Shift+ArrowLeft Control+Alt+Shift+ArrowLeft");
        assert_eq!(aria_keys("F1"), "F1");
    }
}

//! What is pressed.

use leptos::prelude::*;

use super::{section, specimen};
use crate::{
    erased::{Erase, Erased},
    icon::Icon,
    ui::{Button, ButtonKind, IconButton, Kbd},
};

const KINDS: [(ButtonKind, &str); 4] = [
    (ButtonKind::Primary, "Start battle"),
    (ButtonKind::Neutral, "Add contestant"),
    (ButtonKind::Ghost, "Cancel"),
    (ButtonKind::Danger, "Delete"),
];

#[component]
pub fn Actions() -> impl IntoView {
    let pressed = RwSignal::new(true);
    let buttons = KINDS.map(|(kind, words)| view! { <Button kind>{words}</Button> });
    let small = KINDS.map(|(kind, words)| view! { <Button kind small=true>{words}</Button> });
    let off = KINDS.map(|(kind, words)| view! { <Button kind disabled=true>{words}</Button> });
    let with_icons = view! {
        <Button kind=ButtonKind::Primary icon=Icon::Swords>"New Arena"</Button>
        <Button icon=Icon::FolderPlus>"Add a project"</Button>
        <Button icon=Icon::Retry busy=true>"Testing…"</Button>
        <Button kind=ButtonKind::Ghost icon=Icon::External href="#foundations">"A link"</Button>
    };
    let icons = view! {
        <IconButton icon=Icon::Columns name="Split right" shortcut="Mod+\\" />
        <IconButton icon=Icon::Maximise name="Maximise" />
        <IconButton
            icon=Icon::Bell
            name="Notifications"
            pressed=Signal::from(pressed)
            on_click=Callback::new(move |()| pressed.update(|pressed| *pressed = !*pressed))
        />
        <IconButton icon=Icon::Close name="Close" small=true />
        <IconButton icon=Icon::Undo name="Nothing to undo" disabled=true />
        <IconButton icon=Icon::Send name="Send" kind=ButtonKind::Primary />
        <IconButton icon=Icon::Stop name="Stop" kind=ButtonKind::Danger />
    };
    let keys = ["Mod+K", "Mod+Shift+ArrowRight", "Alt+1", "Escape", "F2"].map(|keys| view! { <Kbd keys /> });
    let content = view! {
        {specimen("Button", lines(vec![buttons.erase(), small.erase(), off.erase(), with_icons.erase()]))}
        {specimen("Icon button", lines(vec![icons.erase()]))}
        {specimen("Keys", lines(vec![keys.erase()]))}
    };
    section("actions", "Actions", content.erase())
}

fn lines(lines: Vec<Erased>) -> Erased {
    lines.into_iter().map(|line| view! { <div class="line">{line}</div> }).collect::<Vec<_>>().erase()
}

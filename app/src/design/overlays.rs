//! What opens over the page.

use leptos::prelude::*;

use super::{section, specimen};
use crate::{
    erased::{Erase, Erased},
    icon::Icon,
    ui::{
        Button, ButtonKind, Choice, Combobox, Dialog, Menu, MenuGroup, MenuItem, ToastAction, ToastKind,
        Toasts,
    },
};

#[component]
pub fn Overlays() -> impl IntoView {
    let content = view! {
        {specimen("Menu", menus())}
        {specimen("Dialog", dialogs())}
        {specimen("Toast", toasts())}
        {specimen("Tooltip", tooltip())}
    };
    section("overlays", "Overlays", content.erase())
}

fn tooltip() -> Erased {
    view! { <p><span data-tip="Anything can have one">"Point here"</span>", or at an icon button."</p> }
        .erase()
}

fn menus() -> Erased {
    let chosen = RwSignal::new("nothing yet");
    let choose = move |what: &'static str| Callback::new(move |()| chosen.set(what));
    let sorted = RwSignal::new("newest");
    let by = move |order: &'static str, label: &str| {
        MenuItem::new(label, Callback::new(move |()| sorted.set(order))).checked(sorted.get() == order)
    };
    let groups = Signal::derive(move || {
        vec![
            MenuGroup::titled(
                "New",
                vec![
                    MenuItem::new("Chat", choose("Chat"))
                        .icon(Icon::Chat)
                        .shortcut("Mod+Shift+N")
                        .describe("Ask a model about the project"),
                    MenuItem::new("Coder", choose("Coder")).icon(Icon::Code),
                    MenuItem::new("Terminal", choose("Terminal")).icon(Icon::Terminal),
                    MenuItem::new("Arena", choose("Arena"))
                        .icon(Icon::Swords)
                        .disabled("No second model is reachable"),
                ],
            ),
            MenuGroup::titled("Sort by", vec![by("newest", "Newest first"), by("name", "Name")]),
            MenuGroup::new(vec![
                MenuItem::link("Foundations", "#foundations").icon(Icon::Help),
                MenuItem::new("Close pane", choose("Close pane")).icon(Icon::Trash).danger(),
            ]),
        ]
    });
    view! {
        <div class="line">
            <Menu id="pane-menu" name="Pane" icon=Icon::Plus groups />
            <Menu id="more-menu" name="More" icon=Icon::More label="More" groups />
            <output>"Chosen: " {chosen}</output>
        </div>
    }
    .erase()
}

fn dialogs() -> Erased {
    let (asks, fills) = (RwSignal::new(false), RwSignal::new(false));
    let lane = RwSignal::new("local".to_owned());
    let close = move |open: RwSignal<bool>| Callback::new(move |()| open.set(false));
    view! {
        <div class="line">
            <Button on_click=Callback::new(move |()| asks.set(true))>"Remove server…"</Button>
            <Button on_click=Callback::new(move |()| fills.set(true))>"Add server…"</Button>
        </div>
        <Dialog id="remove-dialog" title="Remove “attic”?" open=asks>
            <p>"Chats that used its models stay. What waits for it now is reported as not possible."</p>
            <div class="dialog-actions">
                <Button kind=ButtonKind::Ghost on_click=close(asks)>"Keep it"</Button>
                <Button kind=ButtonKind::Danger on_click=close(asks)>"Remove"</Button>
            </div>
        </Dialog>
        <Dialog id="add-dialog" title="Add a model server" open=fills wide=true>
            <div class="field">
                <label class="field-label" for="server-name">"Name"</label>
                <input id="server-name" type="text" placeholder="desk" />
            </div>
            <div class="field">
                <label class="field-label" for="server-url">"Address"</label>
                <input id="server-url" type="text" placeholder="http://127.0.0.1:8080" />
            </div>
            <div class="field">
                <Combobox
                    id="lane-box"
                    label="Lane"
                    labelled=true
                    choices=vec![
                        Choice::new("local", "Local").describe("One model at a time"),
                        Choice::new("cloud", "Cloud").describe("Several side by side"),
                    ]
                    value=lane
                />
            </div>
            <div class="dialog-actions">
                <Button kind=ButtonKind::Ghost on_click=close(fills)>"Cancel"</Button>
                <Button kind=ButtonKind::Primary on_click=close(fills)>"Add server"</Button>
            </div>
        </Dialog>
    }
    .erase()
}

fn toasts() -> Erased {
    let toasts = expect_context::<Toasts>();
    let count = StoredValue::new(0);
    let push = move |kind, text: &'static str| {
        Callback::new(move |()| {
            let n = count
                .try_update_value(|count| {
                    *count += 1;
                    *count
                })
                .unwrap_or_default();
            toasts.push(kind, format!("{text} {n}"), None);
        })
    };
    let undo = Callback::new(move |()| {
        let run = Callback::new(move |()| {
            toasts.push(ToastKind::Done, "Pane reopened", None);
        });
        toasts.push(ToastKind::Info, "Pane closed", Some(ToastAction { label: "Undo".to_owned(), run }));
    });
    view! {
        <div class="line">
            <Button on_click=push(ToastKind::Info, "A second browser joined")>"Info"</Button>
            <Button on_click=push(ToastKind::Done, "Answer finished")>"Done"</Button>
            <Button on_click=push(ToastKind::Needed, "An agent asks before it goes on")>"Needed"</Button>
            <Button on_click=push(ToastKind::Failed, "The folder could not be read")>"Failed"</Button>
            <Button on_click=undo>"With an action"</Button>
        </div>
    }
    .erase()
}

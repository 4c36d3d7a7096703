//! One pane: its tabs, its tools, and what is in front.

use domain::{
    id::ChatId,
    layout::{Content, Edge, Pane, PaneId, Tab, Target},
    page::{KEPT_MAX, Wanted},
};
use leptos::{
    ev::WheelEvent,
    html::{Li, Nav, Section},
    prelude::*,
};

use super::{
    Panes,
    drag::{self, Dragged},
    enter, kinds, place,
};
use crate::{
    actions::{ACTIONS, Action, Hands, PaletteButton},
    archive::ArchivedLine,
    device,
    erased::{Erase, For, effect},
    feed::Feed,
    icon::Icon,
    ui::{IconButton, Menu, MenuGroup, MenuItem},
    workspace::{DrawerToggle, HeadConnection, ShowSidebar},
};

/// How many tabs of a pane stay alive behind the one in front, so that going back to them is quick.
const ALIVE_MAX: usize = KEPT_MAX;

#[component]
pub fn PaneView(id: PaneId) -> impl IntoView {
    let (panes, feed) = (expect_context::<Panes>(), expect_context::<Feed>());
    let pane = Memo::new(move |_| panes.layout.read().pane(id).cloned());
    let shown = Memo::new(move |_| pane.read().as_ref().and_then(Pane::shows));
    let is_focused = Memo::new(move |_| panes.focused.get() == Some(id));
    let rect = Memo::new(move |_| panes.drawn().rects().into_iter().find(|(other, _)| *other == id));
    let rect = Signal::derive(move || rect.get().map(|(_, rect)| rect));
    let percent = move |place: usize| rect.get().map(|rect| place::percents(rect)[place].to_string());
    let element = NodeRef::<Section>::new();
    place::keep(element, rect);
    let name = move || shown.get().map(|content| kinds::title(feed, content)).unwrap_or_default();
    view! {
        <section
            class="pane"
            id=enter::id(id)
            tabindex="-1"
            aria-label=name
            node_ref=element
            data-focused=move || is_focused.get().then_some("")
            aria-hidden=move || (panes.is_maximised.get() && !is_focused.get()).then_some("true")
            data-left=move || percent(0)
            data-top=move || percent(1)
            data-width=move || percent(2)
            data-height=move || percent(3)
            on:pointerdown=move |_| panes.focus(id)
            on:focusin=move |_| panes.focus(id)
            on:dragover=move |event| drag::over(panes, id, &event)
            on:drop=move |event| drag::drop_on(panes, &event)
        >
            <header class="pane-head">
                <DrawerToggle />
                <ShowSidebar />
                <Tabs id pane />
                <HeadConnection />
                <PaletteButton />
                <Tools id />
            </header>
            <Bodies pane shown />
            <drag::DropZone pane=id />
        </section>
    }
    .erase()
}

/// What is in front, and what was a moment ago.
#[component]
fn Bodies(pane: Memo<Option<Pane>>, shown: Memo<Option<Content>>) -> impl IntoView {
    // The order of the list is the order of the page, which must not change when another comes to the front.
    let alive = Memo::new(move |before: Option<&Vec<(Content, u32)>>| {
        let mut alive = before.cloned().unwrap_or_default();
        let pane = pane.read();
        alive.retain(|(content, _)| {
            pane.as_ref().is_some_and(|pane| pane.tabs.iter().any(|tab| tab.content == *content))
        });
        let now = alive.iter().map(|(_, at)| *at).max().unwrap_or_default() + 1;
        if let Some(shown) = shown.get() {
            match alive.iter_mut().find(|(content, _)| *content == shown) {
                Some((_, at)) => *at = now,
                None => alive.push((shown, now)),
            }
        }
        if alive.len() > ALIVE_MAX
            && let Some(oldest) = alive.iter().map(|(_, at)| *at).min()
        {
            alive.retain(|(_, at)| *at != oldest);
        }
        alive
    });
    view! {
        <For
            each=move || alive.get()
            key=|(content, _)| *content
            children=move |(content, _)| {
                view! {
                    <div class="pane-body" hidden=move || shown.get() != Some(content)>
                        <ArchivedLine chat=chat_of(content) />
                        {kinds::view(content)}
                    </div>
                }
            }
        />
    }
}

fn chat_of(content: Content) -> Option<ChatId> {
    match content {
        Content::Chat(chat) => Some(chat),
        _ => None,
    }
}

#[component]
fn Tabs(id: PaneId, pane: Memo<Option<Pane>>) -> impl IntoView {
    let panes = expect_context::<Panes>();
    let tabs = Memo::new(move |_| pane.read().as_ref().map(|pane| pane.tabs.clone()).unwrap_or_default());
    let strip = NodeRef::<Nav>::new();
    // A mouse has no other way along a row.
    let turn = move |wheel: WheelEvent| {
        let Some(strip) = strip.get_untracked().filter(|_| wheel.delta_x() == 0.0) else { return };
        strip.set_scroll_left(strip.scroll_left() + wheel.delta_y() as i32);
    };
    view! {
        // By the room beside the tabs the pane is dragged as a whole.
        <nav
            class="pane-tabs"
            aria-label="Tabs"
            draggable="true"
            node_ref=strip
            on:wheel=turn
            on:dragstart=move |event| drag::start(panes, Dragged::Pane(id), &event)
            on:dragend=move |_| drag::end(panes)
        >
            <ul>
                <For
                    each=move || tabs.get()
                    // What is shown before the server knows of it may get another's number.
                    key=|tab| (tab.number, tab.content)
                    children=move |tab| view! { <TabView id pane tab /> }
                />
            </ul>
        </nav>
    }
    .erase()
}

#[component]
fn TabView(id: PaneId, pane: Memo<Option<Pane>>, tab: Tab) -> impl IntoView {
    let (panes, feed) = (expect_context::<Panes>(), expect_context::<Feed>());
    let Tab { number, content } = tab;
    let is_active = Memo::new(move |_| pane.read().as_ref().is_some_and(|pane| pane.active == number));
    let title = Memo::new(move |_| kinds::title(feed, content));
    let href = move || {
        panes.session.get().map(|session| Wanted::to_content(session, content).path()).unwrap_or_default()
    };
    let element = NodeRef::<Li>::new();
    effect(move || {
        if let (true, Some(tab)) = (is_active.get(), element.get()) {
            device::reveal(&tab);
        }
    });
    view! {
        <li
            class="pane-tab"
            node_ref=element
            data-active=move || is_active.get().then_some("")
            data-drop=move || drag::side(panes, id, number)
        >
            <a
                href=href
                aria-current=move || is_active.get().then_some("true")
                data-tip=move || title.get()
                draggable="true"
                on:dragstart=move |event| drag::start(panes, Dragged::Tab(number), &event)
                on:dragend=move |_| drag::end(panes)
                on:auxclick=move |click| {
                    if click.button() == 1 {
                        click.prevent_default();
                        panes.close_tab(number);
                    }
                }
            >
                {move || kinds::icon(feed, content).view()}
                <span class="pane-tab-number">{number.0 + 1} " "</span>
                <span class="pane-tab-title">{move || title.get()}</span>
            </a>
            <button
                type="button"
                class="tab-close"
                aria-label=move || format!("Close {}", title.read())
                on:click=move |click| {
                    click.stop_propagation();
                    panes.close_tab(number);
                }
            >
                {Icon::Close.view()}
            </button>
        </li>
    }
    .erase()
}

/// Every tab of a pane by its name: of many, some are out of sight.
fn tab_items(panes: Panes, feed: Feed, id: PaneId) -> Vec<MenuItem> {
    let Some(session) = panes.session.get() else { return Vec::new() };
    let pane = panes.layout.with(|layout| layout.pane(id).cloned());
    let item = |pane: &Pane, tab: &Tab| {
        let path = Wanted::to_content(session, tab.content).path();
        MenuItem::link(kinds::title(feed, tab.content), path)
            .icon(kinds::icon(feed, tab.content))
            .checked(tab.number == pane.active)
    };
    pane.map(|pane| pane.tabs.iter().map(|tab| item(&pane, tab)).collect()).unwrap_or_default()
}

/// What of the actions a pane's last menu offers.
const MORE: [&str; 9] = [
    "Rename this chat",
    "Archive this chat",
    "Move this tab into a pane on the right",
    "Move this tab into a pane below",
    "Move this pane to the left",
    "Move this pane to the right",
    "Reopen what was closed last",
    "Maximise or restore this pane",
    "Close this pane",
];

#[component]
fn Tools(id: PaneId) -> impl IntoView {
    let (panes, feed) = (expect_context::<Panes>(), expect_context::<Feed>());
    let new = kinds::menu(panes, |entry| entry.open, move || Target::Tab { pane: Some(id) });
    let right = kinds::menu(panes, |entry| entry.name, move || Target::Split { pane: id, edge: Edge::Right });
    let down = kinds::menu(panes, |entry| entry.name, move || Target::Split { pane: id, edge: Edge::Bottom });
    let split = vec![MenuGroup::titled("Split right", right), MenuGroup::titled("Split down", down)];
    let splits = split.clone();
    // A narrow head has room for one of the two.
    let add = move || {
        let splits = if device::is_narrow() { splits.clone() } else { Vec::new() };
        [MenuGroup::new(new.clone())].into_iter().chain(splits).collect::<Vec<_>>()
    };
    let hands = expect_context::<Hands>();
    let action = move |action: &'static Action| {
        let run = Callback::new(move |()| {
            panes.focus(id);
            (action.run)(hands);
        });
        let item = MenuItem::new(action.title, run).icon(action.icon);
        match action.keys {
            Some(keys) => item.shortcut(keys),
            None => item,
        }
    };
    let more = move || {
        let actions = MORE.iter().filter_map(|title| ACTIONS.iter().find(|action| action.title == *title));
        let actions = actions.filter(|action| (action.fits)(hands)).map(action).collect();
        let tabs = tab_items(panes, feed, id);
        // One is seen where it is.
        let tabs = (tabs.len() > 1).then(|| MenuGroup::titled("Tabs", tabs));
        [MenuGroup::new(actions)].into_iter().chain(tabs).collect::<Vec<_>>()
    };
    let is_maximised = move || panes.is_maximised.get();
    let size_icon = move || if is_maximised() { Icon::Minimise } else { Icon::Maximise };
    let size_name = move || if is_maximised() { "Show all panes" } else { "Maximise this pane" };
    view! {
        <div class="pane-tools">
            <Menu id=format!("add-{}", id.0) name="New in this pane" icon=Icon::Plus groups=Signal::derive(add) />
            <span class="pane-tools-wide">
            <Menu id=format!("split-{}", id.0) name="Split this pane" icon=Icon::Columns groups=Signal::stored(split) />
            {move || {
                view! {
                    <IconButton
                        icon=size_icon()
                        name=Signal::derive(move || size_name().to_owned())
                        shortcut="Alt+M".to_owned()
                        on_click=Callback::new(move |()| {
                            panes.focus(id);
                            panes.turn_size();
                        })
                    />
                }
                .erase()
            }}
            <IconButton
                icon=Icon::Close
                name=Signal::stored("Close this pane".to_owned())
                on_click=Callback::new(move |()| panes.close_pane(id))
            /></span>
            <Menu id=format!("more-{}", id.0) name="More" icon=Icon::More groups=Signal::derive(more) />
        </div>
    }
    .erase()
}

//! A file as it was when a run began, at the lines that its report cites.

use domain::{
    artifact::{Artifact, Drawn},
    diff::RowText,
    flow::cited::Place,
    page::Wanted,
    run::FileAt,
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    super::{api, first},
    As, Head,
};
use crate::{
    device,
    erased::{Erase, Erased, For, Show, effect},
    error::AppError,
    icon::Icon,
    markdown::CopyButton,
    notice::Failure,
    ui::{Segment, Segmented, Skeleton},
};

/// How many lines come with each wish for more.
const MORE: u32 = 200;
/// What follows the cited line is worth seeing too.
const BELOW: u32 = 12;

#[component]
pub fn Cited(artifact: Artifact, number: u32) -> impl IntoView {
    let (first, block) = first::opened(artifact);
    let (opened, failure) = (RwSignal::new(first), RwSignal::new(None::<AppError>));
    effect(move || {
        if opened.with_untracked(Option::is_some) {
            return;
        }
        spawn_local(async move {
            match api::open_cited(artifact.run, number).await {
                Ok(fresh) => drop(opened.try_set(Some(fresh))),
                Err(error) => drop(failure.try_set(Some(error))),
            }
        });
    });
    let is_here = Memo::new(move |_| opened.with(Option::is_some));
    let content = move || match (is_here.get(), failure.with(Option::is_some)) {
        (true, _) => untrack(|| opened.get())
            .map(|api::Opened { place, file }| view! { <Opened artifact number place file /> })
            .erase(),
        (false, true) => ().erase(),
        (false, false) => view! { <Skeleton lines=6 label="Loading the file" /> }.erase(),
    };
    view! {
        <section class="artifact" aria-label="Evidence">
            <Failure error=failure />
            {content}
            {block}
        </section>
    }
    .erase()
}

#[component]
fn Opened(artifact: Artifact, number: u32, place: Place, file: FileAt) -> impl IntoView {
    let (path, drawn) = (file.path.clone(), Drawn::of_path(&file.path));
    let (first, last) = (place.line.unwrap_or(1), place.until.or(place.line).unwrap_or(1));
    let (place, copied) = (place.to_string(), place.to_string());
    let is_drawn = RwSignal::new(false);
    let ways = drawn.map(|_| {
        let segments = vec![
            Segment { value: "text", label: "Text", icon: Some(Icon::Code) },
            Segment { value: "drawn", label: "Drawn", icon: Some(Icon::Eye) },
        ];
        let chosen = Signal::derive(move || if is_drawn.get() { "drawn" } else { "text" }.to_owned());
        let choose = move |way: String| is_drawn.set(way == "drawn");
        let id = format!("artifact-{}-{number}", artifact.run);
        view! { <Segmented id label="How it is shown" segments value=chosen on_choose=choose /> }.erase()
    });
    let frame = format!("{}/drawn", Wanted::Artifact(artifact).path());
    view! {
        <Head run=artifact.run icon=Icon::File title=place as_it=As::ItWas>
            {ways}
            <CopyButton name="Copy the place" text=move || copied.clone() />
        </Head>
        <Show when=move || !is_drawn.get()>
            <Lines artifact number first last file=file.clone() />
        </Show>
        <Show when=move || is_drawn.get()>
            // It comes from a stranger's file: it may neither run nor load anything, nor see this page.
            <iframe class="artifact-frame" sandbox="" src=frame.clone() title=path.clone()></iframe>
        </Show>
    }
    .erase()
}

#[component]
fn Lines(artifact: Artifact, number: u32, first: u32, last: u32, file: FileAt) -> impl IntoView {
    let FileAt { path, lines: count, first: given, rows } = file;
    let shown = RwSignal::new(read(&rows));
    let failure = RwSignal::new(None::<AppError>);
    let path = StoredValue::new(path);
    let top = Memo::new(move |_| shown.with(|shown| shown.first().map_or(given, |row| row.0)));
    let bottom = Memo::new(move |_| shown.with(|shown| shown.last().map_or(0, |row| row.0)));
    let more = move |start: u32, wanted: u32| {
        let path = path.get_value();
        spawn_local(async move {
            match api::read_file_at(artifact.run, path, start, wanted).await {
                Ok(fresh) => drop(shown.try_update(|shown| {
                    shown.extend(read(&fresh.rows));
                    shown.sort_by_key(|row| row.0);
                    shown.dedup_by_key(|row| row.0);
                })),
                Err(error) => drop(failure.try_set(Some(error))),
            }
        });
    };
    let above = move |_| {
        let start = top.get_untracked().saturating_sub(MORE + 1);
        more(start, top.get_untracked().saturating_sub(start + 1));
    };
    let below = move |_| more(bottom.get_untracked(), MORE);
    let id = move |line: u32| format!("cited-{}-{number}-{line}", artifact.run);
    effect(move || {
        for line in [(last + BELOW).min(bottom.get_untracked()), first] {
            if let Some(row) = document().get_element_by_id(&id(line)) {
                device::reveal(&row);
            }
        }
    });
    let row = move |(number, text): (u32, String)| {
        let is_cited = (first..=last.max(first)).contains(&number);
        view! {
            <div class="file-line" id=id(number) data-n=number.to_string() data-cited=is_cited.then_some("")>
                <span class="t">{spans(&text)}</span>
            </div>
        }
        .erase()
    };
    view! {
        <Failure error=failure />
        <div class="artifact-lines" tabindex="0" role="region" aria-label="Lines of the file">
            <Show when=move || { top.get() > 1 }>
                <button class="button small ghost" type="button" on:click=above>{Icon::Up.view()} "More above"</button>
            </Show>
            <div class="file-lines">
                <For each=move || shown.get() key=|row| row.0 children=row />
            </div>
            <Show when=move || { bottom.get() < count }>
                <button class="button small ghost" type="button" on:click=below>
                    {Icon::Down.view()}
                    "More below"
                </button>
            </Show>
        </div>
    }
    .erase()
}

/// Each with its number.
fn read(rows: &str) -> Vec<(u32, String)> {
    rows.lines().filter_map(|row| Some((RowText::read(row)?.new, row.to_owned()))).collect()
}

fn spans(row: &str) -> Vec<Erased> {
    let Some(row) = RowText::read(row) else { return Vec::new() };
    let span = |letter: u8, text: &str| {
        let class = char::from(letter).to_string();
        view! { <span class=class>{text.to_owned()}</span> }.erase()
    };
    row.left().map(|piece| span(piece.letter, piece.text)).collect()
}

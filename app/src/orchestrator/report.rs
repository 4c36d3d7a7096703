//! A report on the page: its head, then its sections. What code flagged stands where it belongs.

mod entries;
mod evidence;
mod head;

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use domain::{
    artifact::{Artifact, What},
    flow::{
        Report,
        cited::{self, ClaimId},
        report::{Block, Missing, Section, Table, Text},
    },
    id::RunId,
};
use leptos::prelude::*;

use crate::{
    erased::{Erase, Erased},
    markdown::Markdown,
};
use entries::{attempt, entry};
use evidence::{citations, flags};
use head::head;

/// Where a report is shown.
#[derive(Clone, Copy)]
pub enum Place {
    /// With its run.
    Pane(RunId),
    /// By itself, beside other work.
    Beside(RunId),
    /// In a file that was taken along: nothing leads out of it.
    #[cfg_attr(not(feature = "ssr"), allow(dead_code))]
    File,
}

impl Place {
    fn run(self) -> Option<RunId> {
        match self {
            Self::Pane(run) | Self::Beside(run) => Some(run),
            Self::File => None,
        }
    }
}

/// What the parts of a report lead to.
struct Links {
    /// Where what is cited can be opened.
    run: Option<RunId>,
    numbers: BTreeMap<cited::Place, u32>,
    /// Before the names of places on the page, because two reports may be open in it, and one twice.
    prefix: String,
    /// Findings that have their name on the page.
    named: RefCell<BTreeSet<ClaimId>>,
}

impl Links {
    fn artifact(&self, place: &cited::Place) -> Option<Artifact> {
        Some(Artifact { run: self.run?, what: What::Cited(*self.numbers.get(place)?) })
    }

    /// What leads to a finding on the page.
    fn to(&self, id: &str) -> Option<String> {
        ClaimId::read(id).map(|id| self.name(&id))
    }

    /// The name on the page of a finding. One that is there twice has it where it comes first, because that is where
    /// it counts.
    fn anchor(&self, id: &str) -> Option<String> {
        let id = ClaimId::read(id)?;
        let name = self.name(&id);
        self.named.borrow_mut().insert(id).then_some(name)
    }

    fn name(&self, id: &ClaimId) -> String {
        format!("{}-{id}", self.prefix)
    }
}

pub fn report_view(report: &Report, place: Place) -> Erased {
    let numbers = report.places().into_iter().cloned().zip(1..).collect();
    let prefix = match place {
        Place::Pane(run) => format!("r-{run}"),
        Place::Beside(run) => format!("b-{run}"),
        Place::File => "r".to_owned(),
    };
    let links = Links { run: place.run(), numbers, prefix, named: RefCell::default() };
    let name = |at: usize| format!("{}-section-{at}", links.prefix);
    let contents = report.sections.iter().enumerate().map(|(at, section)| {
        view! { <li><a href=format!("#{}", name(at))>{section.title.clone()}</a></li> }
    });
    let contents = contents.collect_view();
    let sections = report.sections.iter().enumerate().map(|(at, part)| section(&links, name(at), part));
    let sections = sections.collect_view();
    view! {
        <article class="report" aria-label="Report">
            {head(&report.head)}
            <nav class="report-contents" aria-label="Sections of the report"><ol>{contents}</ol></nav>
            {sections}
        </article>
    }
    .erase()
}

fn section(links: &Links, name: String, section: &Section) -> Erased {
    let blocks: Vec<_> = section.blocks.iter().map(|part| block(links, part)).collect();
    view! {
        <section class="report-section" aria-labelledby=name.clone()>
            <h2 id=name.clone()>{section.title.clone()}</h2>
            {blocks}
        </section>
    }
    .erase()
}

fn block(links: &Links, block: &Block) -> Erased {
    match block {
        Block::Heading(title) => view! { <h3>{title.clone()}</h3> }.erase(),
        Block::Text(written) => text(links, written),
        Block::Overturned(written) => view! {
            <details class="report-overturned">
                <summary>"What was concluded, and refuted"</summary>
                {text(links, written)}
            </details>
        }
        .erase(),
        Block::Table(rows) => table(rows),
        Block::Entry(found) => entry(links, found),
        Block::Attempt(tried) => attempt(links, tried),
        Block::Missing(Missing { what, why }) => {
            view! { <p class="report-missing">{format!("Missing: {what} ({why}).")}</p> }.erase()
        }
        // What failed in it is not hidden.
        Block::Verbatim { label, text, citations: named, flags: failed } => view! {
            <details class="report-verbatim" open=!failed.is_empty()>
                <summary>{label.clone()}</summary>
                <pre tabindex="0" role="region" aria-label=label.clone()>{text.clone()}</pre>
                {citations(links, named)}
                {flags(failed)}
            </details>
        }
        .erase(),
    }
}

fn text(links: &Links, text: &Text) -> Erased {
    view! {
        <div class="report-text">
            <Markdown text=Signal::stored(text.markdown.clone()) />
            {citations(links, &text.citations)}
            {flags(&text.flags)}
        </div>
    }
    .erase()
}

fn table(table: &Table) -> Erased {
    let head = table.head.iter().map(|name| view! { <th scope="col">{name.clone()}</th> }).collect_view();
    let row = |cells: &Vec<String>| {
        let cells = cells.iter().map(|cell| view! { <td>{cell_view(cell)}</td> }).collect_view();
        view! { <tr>{cells}</tr> }
    };
    let rows = table.rows.iter().map(row).collect_view();
    view! {
        <div class="table-scroll markdown" tabindex="0" role="region" aria-label="Table">
            <table>
                <thead><tr>{head}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .erase()
}

/// Addresses of pages are links, and all else is text.
fn cell_view(cell: &str) -> Erased {
    let text = cell.to_owned();
    if is_page(cell) {
        return outward(text.clone(), text);
    }
    text.erase()
}

fn is_page(address: &str) -> bool {
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    is_web && !address.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn outward(href: String, words: String) -> Erased {
    view! { <a href=href rel="noopener noreferrer nofollow" target="_blank">{words}</a> }.erase()
}

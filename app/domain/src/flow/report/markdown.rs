//! The report as text, to copy and to save.

use super::{Attempt, Block, Citation, Entry, Head, Missing, Report, Table, Text};
use crate::{fence, flow::evidence::Flag};

pub(super) fn write(report: &Report) -> String {
    let flow = report.flow.flow();
    let mut pieces = vec![format!("# {} ({} band)", flow.title, report.band)];
    head(&report.head, &mut pieces);
    for section in &report.sections {
        pieces.push(format!("## {}", line(&section.title)));
        section.blocks.iter().for_each(|part| block(part, &mut pieces));
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces.join("\n\n") + "\n"
}

fn head(head: &Head, pieces: &mut Vec<String>) {
    pieces.push("## Summary".to_owned());
    pieces.push(head.summary.trim().to_owned());
    let confidence = head.confidence.map_or("none was given", |confidence| confidence.words());
    let reason = line(&head.reason);
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    pieces.push(format!("**Confidence: {confidence}**{because}"));
    pieces.push(match head.failed_checks {
        0 => "Every check of the evidence passed.".to_owned(),
        1 => "**1 check of the evidence failed**; it is marked where it belongs.".to_owned(),
        many => format!("**{many} checks of the evidence failed**; they are marked where they belong."),
    });
    pieces.push(flags(&head.flags));
    pieces.extend(head.notes.iter().map(|note| format!("> {}", line(note))));
    if !head.missing.is_empty() {
        let gone: Vec<_> = head
            .missing
            .iter()
            .map(|Missing { what, why }| format!("- {}: {}", line(what), line(why)))
            .collect();
        pieces.push(format!("Missing:\n\n{}", gone.join("\n")));
    }
}

fn block(block: &Block, pieces: &mut Vec<String>) {
    match block {
        Block::Heading(title) => pieces.push(format!("### {}", line(title))),
        Block::Text(text) => pieces.extend([text.markdown.clone(), flags(&text.flags)]),
        Block::Overturned(text) => {
            pieces.push("What was concluded, and refuted:".to_owned());
            let quoted: Vec<_> = text.markdown.lines().map(|line| format!("> {line}")).collect();
            pieces.extend([quoted.join("\n"), flags(&text.flags)]);
        }
        Block::Table(table) => pieces.push(rows(table)),
        Block::Entry(entry) => self::entry(entry, pieces),
        Block::Attempt(attempt) => self::attempt(attempt, pieces),
        Block::Missing(Missing { what, why }) => {
            pieces.push(format!("*Missing: {} ({}).*", line(what), line(why)))
        }
        Block::Verbatim { label, text, flags: failed, .. } => {
            pieces.extend([format!("### {}", line(label)), fence::code_block(text), flags(failed)]);
        }
    }
}

fn entry(entry: &Entry, pieces: &mut Vec<String>) {
    let badges: Vec<_> = entry.badges.iter().map(|badge| badge.text.as_str()).collect();
    let id = if entry.id.is_empty() { String::new() } else { format!("{} ", line(&entry.id)) };
    pieces.push(format!("### {id}{}", line(&entry.title)));
    pieces.push(format!("*{}*", line(&badges.join(" · "))));
    pieces.push(entry.text.markdown.clone());
    let mut points: Vec<String> = entry.citations.iter().map(citation).collect();
    points.extend(
        entry.sources.iter().map(|source| {
            format!("- {} <{}> {}", line(&source.title), line(&source.url), line(&source.date))
        }),
    );
    points.extend(
        entry
            .fields
            .iter()
            .map(|field| format!("- **{}**: {}", line(&field.name), field.text.trim().replace('\n', "\n  "))),
    );
    if !entry.cites.is_empty() {
        points.push(format!("- Rests on: {}", line(&entry.cites.join(", "))));
    }
    pieces.push(points.join("\n"));
    pieces.push(flags(&entry.flags));
}

fn attempt(attempt: &Attempt, pieces: &mut Vec<String>) {
    let verdict = attempt.verdict.map_or("no verdict", |verdict| verdict.words());
    pieces.push(format!("### {} {}", line(&attempt.id), verdict));
    let Text { markdown: checked, .. } = &attempt.checked;
    let about = line(&attempt.about.join(", "));
    let told = [
        ("Hypothesis", line(&attempt.hypothesis)),
        ("Checked", checked.replace('\n', "\n  ")),
        ("Impact", line(&attempt.impact)),
        ("About", about),
    ];
    let told = told.into_iter().filter(|(_, text)| !text.is_empty());
    let mut points: Vec<_> = told.map(|(name, text)| format!("- **{name}**: {text}")).collect();
    points.extend(
        attempt.fields.iter().map(|field| format!("- **{}**: {}", line(&field.name), line(&field.text))),
    );
    pieces.push(points.join("\n"));
    pieces.push(flags(&attempt.flags));
}

fn citation(citation: &Citation) -> String {
    let quote = line(&citation.quote);
    let quote = if quote.is_empty() { String::new() } else { format!(": {}", fence::code(&quote)) };
    format!("- {}{quote}", fence::code(&citation.place.to_string()))
}

fn flags(flags: &[Flag]) -> String {
    let lines: Vec<_> = flags.iter().map(|flag| format!("> ⚠ {}", line(&flag.words))).collect();
    lines.join("\n")
}

fn rows(table: &Table) -> String {
    let row = |cells: &[String]| -> String {
        let cells: Vec<_> = cells.iter().map(|cell| line(cell).replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let rule = format!("|{}", "---|".repeat(table.head.len()));
    let rows = table.rows.iter().map(|cells| row(cells));
    [row(&table.head), rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

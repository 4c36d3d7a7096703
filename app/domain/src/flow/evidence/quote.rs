//! Whether a quoted line really stands where it is said to. White space does not count: models and tools change it. Nor
//! do the line's own number or the sign of a diff in front of it, which tools show, and marks of code around it.

use std::ops::RangeInclusive;

use super::ProjectText;

/// Nobody quotes more than this to prove a point.
const LINES_MAX: usize = 40;
/// Whoever cites more names no place.
const RANGE_LINES_MAX: usize = 2_000;
/// How far around the lines is looked, for a helpful word.
const NEAR_LINES: usize = 5;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    There,
    Elsewhere(usize),
    Nowhere,
}

/// The cited lines are among the `count` that there are. A quote of several lines begins in one of them; empty ones may
/// lie between.
pub(super) fn find(
    project: &dyn ProjectText,
    path: &str,
    cited: RangeInclusive<usize>,
    count: usize,
    quote: &str,
) -> Found {
    let quoted: Vec<&str> = quote.lines().filter(|text| !text.trim().is_empty()).take(LINES_MAX).collect();
    if quoted.is_empty() {
        return Found::There;
    }
    let bare: Vec<&str> =
        bare(quote).lines().filter(|text| !text.trim().is_empty()).take(LINES_MAX).collect();
    let ways = if bare == quoted { vec![quoted] } else { vec![quoted, bare] };
    let longest = ways.iter().map(Vec::len).max().unwrap_or_default();
    let stands_at = |at: usize| {
        let read = |number: usize| project.line(path, number).map(|text| plain(&text)).unwrap_or_default();
        let first = read(at);
        let end = (at + 2 * longest).min(count + 1);
        let text: String = (at + 1..end).map(read).fold(first.clone(), |text, line| text + &line);
        let begins =
            |quote: String| !quote.is_empty() && text.find(&quote).is_some_and(|start| start < first.len());
        ways.iter().any(|quoted| {
            begins(quoted.iter().map(|line| plain(line)).collect())
                || begins((at..).zip(quoted).map(|(number, line)| plain(unnumbered(line, number))).collect())
                || begins(quoted.iter().map(|line| plain(unsigned(line))).collect())
        })
    };
    if cited.clone().take(RANGE_LINES_MAX).any(stands_at) {
        return Found::There;
    }
    let before = cited.start().saturating_sub(NEAR_LINES).max(1)..*cited.start();
    let behind = cited.end() + 1..=(cited.end() + NEAR_LINES).min(count);
    before.chain(behind).find(|at| stands_at(*at)).map_or(Found::Nowhere, Found::Elsewhere)
}

/// Without the number that tools put in front.
fn unnumbered(line: &str, number: usize) -> &str {
    let rest = line.trim_start().strip_prefix(number.to_string().as_str());
    let rest = rest.filter(|rest| rest.starts_with([' ', '\t', '|', ':']));
    rest.map_or(line, |rest| rest.trim_start_matches(['|', ':', ' ', '\t']))
}

/// Without the marks of code around it, and the language that a block of code may begin with.
fn bare(quote: &str) -> &str {
    let quote = quote.trim();
    let block = quote.strip_prefix("```").map(|rest| rest.split_once('\n').map_or(rest, |(_, code)| code));
    block.unwrap_or(quote).trim_matches('`')
}

/// Without the sign that a diff puts in front.
fn unsigned(line: &str) -> &str {
    line.trim_start().strip_prefix(['+', '-']).unwrap_or(line)
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
